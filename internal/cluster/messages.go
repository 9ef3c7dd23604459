package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/shard"
)

// Kinds of messages between nodes, besides those of remote and replica.
const (
	kindBeat    = "beat"    // how a node is
	kindNudge   = "nudge"   // a shard was given up, take it
	kindOwner   = "owner"   // a shard has a new owner
	kindForward = "forward" // a request that the owner of the control shard has to execute
)

// announcement says who owns a shard.
type announcement struct {
	Shard  string
	Holder replica.Holder
}

// handle answers the other nodes.
func (n *Node) handle() {
	n.messages.Handle(kindBeat, n.hear)
	n.messages.Handle(kindNudge, n.nudged)
	n.messages.Handle(kindOwner, func(_ context.Context, message []byte) ([]byte, error) {
		var a announcement
		if err := json.Unmarshal(message, &a); err != nil {
			return nil, err
		}
		n.view.learn(a.Shard, a.Holder)
		return nil, nil
	})
	n.messages.Handle(kindForward, n.serveForwarded)
	n.replica.Offer(n.desk)
	n.handleHolds()
	remote.Serve(n.messages, remote.ServerOptions{Lookup: n.owned, Wait: n.Wait})
}

// announce tells all nodes of an owner. Who does not hear of it finds it among the
// leases.
func (n *Node) announce(name string, h replica.Holder) {
	n.log.Info("shard is served here", "shard", name, "epoch", h.Epoch)
	n.view.learn(name, h)
	message, err := json.Marshal(announcement{name, h})
	if err != nil {
		panic(err) // strings and a number
	}
	for node := range n.others() {
		n.tasks.start(func() {
			ctx, cancel := context.WithTimeout(n.ctx, time.Second)
			defer cancel()
			_, _ = n.messages.Request(ctx, node, kindOwner, message)
		})
	}
}

// owned returns a shard if this node owns it, once it knows of all queues that
// this node does.
func (n *Node) owned(number int) (remote.Shard, error) {
	l := n.local(shardName(number))
	if l == nil {
		return nil, fmt.Errorf("%w: shard %d is not kept here", shard.ErrNotBegun, number)
	}
	s := l.serving.Load()
	if s == nil {
		return nil, fmt.Errorf("%w: shard %d is not owned by this node", shard.ErrNotBegun, number)
	}
	if err := l.vigil.condition().Err(); err != nil {
		return nil, fmt.Errorf("%w: shard %d: %w", shard.ErrNotBegun, number, err)
	}
	ctx, cancel := context.WithTimeout(n.ctx, feedPatience)
	defer cancel()
	if err := s.queues.wait(ctx); err != nil {
		return nil, fmt.Errorf("%w: shard %d does not know of all queues yet: %w", shard.ErrNotBegun, number, err)
	}
	return s.shard, nil
}

// feedPatience is for how long a request waits for a shard to learn of queues.
const feedPatience = 2 * time.Second

// owner returns the owner of a shard: the shard itself, or the node that has it.
func (n *Node) owner(number int) (here router.Shard, node string, err error) {
	name := shardName(number)
	if l := n.local(name); l != nil && l.serving.Load() != nil {
		here, err = n.owned(number)
		return here, n.o.Name, err
	}
	h, ok := n.view.owner(name)
	if !ok || h.Node == n.o.Name {
		return nil, "", fmt.Errorf("%w: shard %d has no owner", shard.ErrNotBegun, number)
	}
	if n.view.isSilent(h.Node) {
		return nil, "", fmt.Errorf("%w: node %s, the owner of shard %d, is not heard of", shard.ErrNotBegun, h.Node, number)
	}
	return nil, h.Node, nil
}

// Forward sends a request to the owner of the control shard and returns its
// answer, when this node has learnt of what it has changed. It waits some time for
// there to be an owner.
func (n *Node) Forward(ctx context.Context, request []byte) ([]byte, error) {
	end := time.Now().Add(forwardPatience)
	for {
		changed := n.view.watch(controlShard)
		answer, err := n.forwardOnce(ctx, request)
		if err == nil {
			ctx, cancel := context.WithTimeout(ctx, catchUpTimeout)
			defer cancel()
			// What was changed is changed, whether it is known here or not.
			_ = n.CatchUp(ctx)
			return answer, nil
		}
		left := time.Until(end)
		if !errors.Is(err, errNoControl) || left <= 0 {
			return nil, err
		}
		select {
		case <-changed:
		case <-time.After(min(left, forwardPause)):
		case <-ctx.Done():
			return nil, err
		}
	}
}

const (
	forwardPatience = 2500 * time.Millisecond
	forwardPause    = 100 * time.Millisecond
)

// errNoControl says that it is certain that nothing was done.
var errNoControl = errors.New("no node owns the control shard at present")

func (n *Node) forwardOnce(ctx context.Context, request []byte) ([]byte, error) {
	h, ok := n.view.owner(controlShard)
	if !ok || n.view.isSilent(h.Node) {
		return nil, errNoControl
	}
	answer, err := n.messages.Request(ctx, h.Node, kindForward, request)
	f, _ := errors.AsType[*messenger.Failure](err)
	switch {
	case errors.Is(err, messenger.ErrNotTaken), f != nil && f.Code == codeNotOwner:
		return nil, fmt.Errorf("%w: node %s: %w", errNoControl, h.Node, err)
	case err != nil:
		return nil, fmt.Errorf("node %s, which owns the control shard: %w", h.Node, err)
	}
	return answer, nil
}

// codeNotOwner is that of a node which does not own the control shard.
const codeNotOwner = "NotOwner"

func (n *Node) serveForwarded(ctx context.Context, request []byte) ([]byte, error) {
	if n.control.Elsewhere() {
		return nil, &messenger.Failure{Code: codeNotOwner, Text: "another node owns the control shard"}
	}
	return n.o.Forward(ctx, request)
}
