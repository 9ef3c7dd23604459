package messenger

import (
	"bytes"
	"context"
	"fmt"
	"sync"
)

// Memory connects nodes within one process, for tests. The zero value is not
// usable; see NewMemory.
type Memory struct {
	mu    sync.Mutex
	nodes map[string]*memoryNode
}

// NewMemory returns a network without nodes.
func NewMemory() *Memory { return &Memory{nodes: make(map[string]*memoryNode)} }

type memoryNode struct {
	network  *Memory
	name     string
	handlers map[string]Handler
	cut      chan struct{} // closed while the node is cut off
}

// Node returns the messenger of a node, and creates it at the first call.
func (m *Memory) Node(name string) Messenger {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.node(name)
}

func (m *Memory) node(name string) *memoryNode {
	n := m.nodes[name]
	if n == nil {
		n = &memoryNode{network: m, name: name, handlers: make(map[string]Handler), cut: make(chan struct{})}
		m.nodes[name] = n
	}
	return n
}

// Cut disconnects a node from the others, as if its cable had been pulled, or reconnects it. Its requests in progress
// fail, and their handlers' contexts end; the effects of the handlers remain.
func (m *Memory) Cut(name string, off bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.node(name)
	switch isOff := n.isCut(); {
	case off && !isOff:
		close(n.cut)
	case !off && isOff:
		n.cut = make(chan struct{})
	}
}

func (n *memoryNode) isCut() bool {
	select {
	case <-n.cut:
		return true
	default:
		return false
	}
}

// Handle implements Messenger.
func (n *memoryNode) Handle(kind string, f Handler) {
	n.network.mu.Lock()
	defer n.network.mu.Unlock()
	if n.handlers[kind] != nil {
		panic("messenger: " + kind + " is handled twice")
	}
	n.handlers[kind] = f
}

// Request implements Messenger.
func (n *memoryNode) Request(ctx context.Context, node, kind string, payload []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(payload) > MaxPayload {
		return nil, errTooLong("request", payload)
	}
	m := n.network
	m.mu.Lock()
	to := m.nodes[node]
	if to == nil || to.handlers[kind] == nil || to != n && (n.isCut() || to.isCut()) {
		m.mu.Unlock()
		return nil, fmt.Errorf("%s at node %s: %w", kind, node, ErrNotTaken)
	}
	f, here, there := to.handlers[kind], n.cut, to.cut
	if to == n {
		here, there = nil, nil // a node reaches itself in any case
	}
	m.mu.Unlock()

	ctx, cancel := context.WithCancel(ctx)
	payload = bytes.Clone(payload) // which the caller may reuse after the return
	type outcome struct {
		answer []byte
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		answer, err := f(ctx, payload)
		if err == nil && len(answer) > MaxPayload {
			err = errTooLong("answer", answer)
		}
		done <- outcome{bytes.Clone(answer), err}
	}()
	defer cancel()
	select {
	case o := <-done:
		if o.err != nil {
			return nil, FailureOf(o.err)
		}
		return o.answer, nil
	case <-here:
	case <-there:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("%s at node %s: the connection was lost", kind, node)
}

func errTooLong(what string, b []byte) error {
	return fmt.Errorf("%s of %d bytes is too long for a message", what, len(b))
}
