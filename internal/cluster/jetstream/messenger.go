package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
)

// A Messenger sends messages between nodes: it publishes a request on a subject of its node, and the answer on the
// subject that the request names.
type Messenger struct {
	conn   *Conn
	node   string
	sub    *nats.Subscription
	ctx    context.Context // ends when the messenger is closed
	cancel context.CancelFunc

	mu       sync.Mutex
	handlers map[string]messenger.Handler
	running  map[string]context.CancelFunc // by the reply subject
	bytes    int                           // of the requests that are running
}

var _ messenger.Messenger = (*Messenger)(nil)

const (
	// maxRunning and maxRunningBytes limit the simultaneous requests of a node. Most of them are long polls, which are
	// small and wait.
	maxRunning      = 16384
	maxRunningBytes = 256 << 20
	// longestRequest is the timeout of a request whose caller sets no deadline.
	longestRequest = time.Minute
)

// Headers of requests and answers.
const (
	timeoutHeader = "Sluice-Timeout" // of a request: how many milliseconds the caller waits
	statusHeader  = "Sluice-Status"  // of an answer without success: one of those below
	codeHeader    = "Sluice-Code"    // of a failure
	statusRefused = "refused"        // nothing was executed; the text is the reason
	statusFailed  = "failed"         // the handler returned an error, the text is its text
)

// Messenger returns the messenger of a node. Only one process may have that of one node at a time.
func (c *Conn) Messenger(node string) (*Messenger, error) {
	m := &Messenger{
		conn:     c,
		node:     node,
		handlers: make(map[string]messenger.Handler),
		running:  make(map[string]context.CancelFunc),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	var err error
	// Requests and their cancellations come on one subscription, so in order.
	if m.sub, err = c.nc.Subscribe(c.subject("node", token(node), "*", "*"), m.receive); err != nil {
		return nil, err
	}
	return m, c.nc.Flush()
}

// Close refuses further requests and ends the contexts of those in progress.
func (m *Messenger) Close() {
	_ = m.sub.Unsubscribe()
	m.cancel()
}

// Handle implements messenger.Messenger.
func (m *Messenger) Handle(kind string, f messenger.Handler) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.handlers[kind] != nil {
		panic("messenger: " + kind + " is handled twice")
	}
	m.handlers[kind] = f
}

// Request implements messenger.Messenger.
func (m *Messenger) Request(ctx context.Context, node, kind string, payload []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(payload) > messenger.MaxPayload {
		return nil, fmt.Errorf("a request of %d bytes is too long for a message", len(payload))
	}
	ctx, cancel := context.WithTimeout(ctx, longestRequest)
	defer cancel()
	deadline, _ := ctx.Deadline()
	request := nats.NewMsg(m.conn.subject("node", token(node), "request", token(kind)))
	request.Header.Set(timeoutHeader, strconv.FormatInt(max(time.Until(deadline).Milliseconds(), 1), 10))
	request.Data = payload
	one, err := m.conn.call(request, 1)
	if errors.Is(err, errNoResponders) {
		return nil, fmt.Errorf("%s at node %s: %w: %w", kind, node, messenger.ErrNotTaken, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s at node %s: %w", kind, node, err)
	}
	defer one.close()
	answer, err := one.receive(ctx)
	switch {
	case errors.Is(err, errNoResponders):
		return nil, fmt.Errorf("%s at node %s: %w", kind, node, messenger.ErrNotTaken)
	case err != nil:
		_ = m.conn.nc.PublishMsg(&nats.Msg{
			Subject: m.conn.subject("node", token(node), "cancel", token(kind)), Reply: request.Reply,
		})
		return nil, err
	}
	switch answer.Header.Get(statusHeader) {
	case statusRefused:
		return nil, fmt.Errorf("%s at node %s: %w: %s", kind, node, messenger.ErrNotTaken, answer.Data)
	case statusFailed:
		return nil, &messenger.Failure{Code: answer.Header.Get(codeHeader), Text: string(answer.Data)}
	}
	return answer.Data, nil
}

// receive receives a request or the cancellation of one. It must not block.
func (m *Messenger) receive(msg *nats.Msg) {
	parts := strings.Split(msg.Subject, ".")
	kind, err := untoken(parts[len(parts)-1])
	if err != nil || msg.Reply == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if parts[len(parts)-2] == "cancel" {
		if cancel := m.running[msg.Reply]; cancel != nil {
			cancel()
		}
		return
	}
	f := m.handlers[kind]
	refusal := ""
	switch {
	case f == nil:
		refusal = "it does not handle this"
	case len(m.running) >= maxRunning || m.bytes+len(msg.Data) > maxRunningBytes:
		refusal = "it has too many requests in hand"
	case m.running[msg.Reply] != nil || m.ctx.Err() != nil:
		return
	}
	if refusal != "" {
		m.answer(msg, statusRefused, "", []byte(refusal))
		return
	}
	timeout := longestRequest
	if ms, err := strconv.ParseInt(msg.Header.Get(timeoutHeader), 10, 64); err == nil {
		timeout = min(time.Duration(ms)*time.Millisecond, longestRequest)
	}
	ctx, cancel := context.WithTimeout(m.ctx, timeout)
	m.running[msg.Reply] = cancel
	m.bytes += len(msg.Data)
	go m.handle(ctx, msg, f)
}

func (m *Messenger) handle(ctx context.Context, msg *nats.Msg, f messenger.Handler) {
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.running[msg.Reply]()
		delete(m.running, msg.Reply)
		m.bytes -= len(msg.Data)
	}()
	answer, err := f(ctx, msg.Data)
	if err == nil && len(answer) > messenger.MaxPayload {
		err = fmt.Errorf("an answer of %d bytes is too long for a message", len(answer))
	}
	if err != nil {
		failure := messenger.FailureOf(err)
		m.answer(msg, statusFailed, failure.Code, []byte(failure.Text))
		return
	}
	m.answer(msg, "", "", answer)
}

func (m *Messenger) answer(request *nats.Msg, status, code string, data []byte) {
	answer := nats.NewMsg(request.Reply)
	if status != "" {
		answer.Header.Set(statusHeader, status)
	}
	if code != "" {
		answer.Header.Set(codeHeader, code)
	}
	answer.Data = data
	if err := m.conn.nc.PublishMsg(answer); err != nil {
		m.conn.log.Warn("answer to another node not sent", "error", err)
	}
}
