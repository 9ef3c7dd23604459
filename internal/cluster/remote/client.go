package remote

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

const (
	// defaultTimeout is how long an owner may take for a call.
	defaultTimeout = 10 * time.Second
	// grace is how much longer a caller waits for the answer, so that the owner ends a call that takes too long.
	grace = time.Second
)

// Options configures a Caller.
type Options struct {
	Messenger messenger.Messenger
	// Position returns the position of this node's copy of the control shard. The owner executes a call when its own
	// copy has reached it. Nil means 0.
	Position func() uint64
	// Timeout is how long an owner may take for a call, on top of the time that
	// a receive waits for messages; 0 means 10 s.
	Timeout time.Duration
	// Return returns deliveries of a receive whose consumer has gone. The shard may have another owner by then. Nil
	// means the node that delivered them.
	Return func(ctx context.Context, shard int, id queue.ID, deliveries []queue.Delivery, attempt string) error
}

// Caller calls the shards of other nodes.
type Caller struct {
	messenger        messenger.Messenger
	position         func() uint64
	timeout          time.Duration
	returnDeliveries func(
		ctx context.Context, shard int, id queue.ID, deliveries []queue.Delivery, attempt string,
	) error
	id    uint64
	count atomic.Uint64
}

// New returns a Caller.
func New(o Options) *Caller {
	c := &Caller{
		messenger: o.Messenger, position: o.Position, timeout: o.Timeout, returnDeliveries: o.Return, id: rand.Uint64(),
	}
	if c.position == nil {
		c.position = func() uint64 { return 0 }
	}
	if c.timeout == 0 {
		c.timeout = defaultTimeout
	}
	return c
}

// Shard returns shard n as node owns it.
func (c *Caller) Shard(node string, n int) *Client { return &Client{caller: c, node: node, shard: n} }

// Client is a shard that another node owns. Its methods correspond to those of shard.Shard. If the node is unreachable
// or does not own the shard, they return shard.ErrNotBegun.
type Client struct {
	caller *Caller
	node   string
	shard  int
}

// Send accepts messages.
func (c *Client) Send(ctx context.Context, id queue.ID, messages []queue.Outgoing) ([]queue.Sent, error) {
	return invoke(ctx, c, &send, id, messages)
}

// Publish accepts publications. The caller must request counts only if all nodes can count them.
func (c *Client) Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error) {
	m := &publish
	if slices.ContainsFunc(publications, func(p queue.Publication) bool { return p.Count != nil }) {
		m = &publishCounted
	}
	return invoke(ctx, c, m, 0, publications)
}

// Return returns deliveries that did not reach the consumer.
func (c *Client) Return(ctx context.Context, id queue.ID, deliveries []queue.Delivery, attempt string) error {
	_, err := invoke(ctx, c, &returnDeliveries, id, returnArgs{deliveries, attempt})
	return err
}

// Delete removes messages.
func (c *Client) Delete(ctx context.Context, id queue.ID, receipts []queue.Receipt) ([]error, error) {
	return invoke(ctx, c, &deleteMessages, id, receipts)
}

// ChangeVisibility changes visibility timeouts.
func (c *Client) ChangeVisibility(ctx context.Context, id queue.ID, changes []queue.Visibility) ([]error, error) {
	return invoke(ctx, c, &changeVisibility, id, changes)
}

// Purge removes all messages of a queue.
func (c *Client) Purge(ctx context.Context, id queue.ID) error {
	_, err := invoke(ctx, c, &purge, id, none{})
	return err
}

// MayPurge returns the refusal that Purge would give now. A node of an older program refuses nothing before Purge.
func (c *Client) MayPurge(ctx context.Context, id queue.ID) error {
	_, err := invoke(ctx, c, &mayPurge, id, none{})
	if errors.Is(err, errOlder) {
		return nil
	}
	return err
}

// PurgeOutbox removes the messages for a queue that are moving to other shards. A node of an older program leaves them
// to Purge.
func (c *Client) PurgeOutbox(ctx context.Context, id queue.ID) (queue.Position, error) {
	last, err := invoke(ctx, c, &purgeOutbox, id, none{})
	if errors.Is(err, errOlder) {
		return 0, nil
	}
	return last, err
}

// PurgeAfter removes all messages of a queue, and makes it skip messages that were purged on their way. A node of an
// older program accepts those.
func (c *Client) PurgeAfter(ctx context.Context, id queue.ID, marks []queue.Mark) error {
	if len(marks) == 0 {
		return c.Purge(ctx, id)
	}
	_, err := invoke(ctx, c, &purgeAfter, id, marks)
	if errors.Is(err, errOlder) {
		return c.Purge(ctx, id)
	}
	return err
}

// Counts returns how many messages a queue holds in each state.
func (c *Client) Counts(ctx context.Context, id queue.ID) (queue.Counts, error) {
	return invoke(ctx, c, &counts, id, none{})
}

// StartMove starts a message move task.
func (c *Client) StartMove(ctx context.Context, id queue.ID, t queue.MoveTask) error {
	m := &startMove
	switch {
	case t.Selection != nil:
		m = &startSelection
	case len(t.Sources) > 0:
		m = &startMoveBack
	}
	_, err := invoke(ctx, c, m, id, t)
	return err
}

// CancelMove ends a message move task.
func (c *Client) CancelMove(ctx context.Context, id queue.ID, task string) (queue.MoveTask, error) {
	return invoke(ctx, c, &cancelMove, id, task)
}

// Accept accepts messages from the outbox of another shard.
func (c *Client) Accept(ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer) error {
	m := &accept
	if slices.ContainsFunc(messages, func(t queue.Transfer) bool { return t.Copy }) {
		m = &acceptCopies
	}
	_, err := invoke(ctx, c, m, id, acceptArgs{from, messages})
	return err
}

// Receive delivers messages, or waits for some. It returns as soon as ctx ends; messages that the owner may have
// delivered by then are returned when they arrive.
func (c *Client) Receive(
	ctx context.Context, id queue.ID, r queue.Receive, wait time.Duration,
) ([]shard.Message, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	p := &pending{client: c, queue: id, attempt: r.Attempt, done: make(chan struct{})}
	p.call = callID{c.caller.id, c.caller.count.Add(1)}
	go func() {
		defer close(p.done)
		h := header{queue: id, call: p.call}
		// Not under ctx: an answer that comes when ctx has just ended would be lost.
		p.out, p.err = request(context.WithoutCancel(ctx), c, &receive, &h, receiveArgs{r, wait}, c.caller.timeout+wait)
	}()
	select {
	case <-p.done:
		if ctx.Err() == nil || p.err != nil {
			return p.out, p.err
		}
	case <-ctx.Done():
	}
	go p.abandon()
	return nil, context.Cause(ctx)
}

// pending is a receive in progress.
type pending struct {
	client  *Client
	queue   queue.ID
	attempt string
	call    callID

	done chan struct{} // closed when there is an answer
	out  []shard.Message
	err  error
}

// abandon returns the messages of a receive whose consumer has gone. It cancels the receive at the owner. If the owner
// has delivered messages already, it returns them when they arrive. If they cannot be returned, they become visible
// when their visibility timeout ends.
func (p *pending) abandon() {
	c := p.client
	ctx, cancel := context.WithTimeout(context.Background(), c.caller.timeout)
	w := newWriter()
	w.Byte(version)
	putCall(w, p.call)
	// The answer to the receive shows its outcome.
	_, _ = c.caller.messenger.Request(ctx, c.node, kindCancel, w.Writer)
	w.release()
	cancel()

	<-p.done
	if p.err != nil || len(p.out) == 0 {
		return
	}
	deliveries := make([]queue.Delivery, len(p.out))
	for i := range p.out {
		deliveries[i] = p.out[i].Delivery
	}
	if c.caller.returnDeliveries != nil {
		_ = c.caller.returnDeliveries(context.Background(), c.shard, p.queue, deliveries, p.attempt)
	} else {
		_ = c.Return(context.Background(), p.queue, deliveries, p.attempt)
	}
}

// invoke makes a call that ends with ctx or after the caller's timeout.
func invoke[A, R any](ctx context.Context, c *Client, m *method[A, R], id queue.ID, args A) (R, error) {
	return request(ctx, c, m, &header{queue: id}, args, c.caller.timeout)
}

// request sends a call and returns the answer. The owner has budget for the call.
func request[A, R any](
	ctx context.Context, c *Client, m *method[A, R], h *header, args A, budget time.Duration,
) (R, error) {
	var nothing R
	h.code = m.code
	answer, err := c.send(ctx, h, budget, func(w *writer) { m.putArgs(w, &args) })
	if err != nil {
		return nothing, err
	}
	result, err := readAnswer(answer, c.node, m.getResult)
	if err != nil {
		return nothing, explain(err, c.node, m.code)
	}
	return result, nil
}

// send sends a call and returns the answer in its encoded form. It knows no types, because the compiler would make one
// function for each call.
func (c *Client) send(ctx context.Context, h *header, budget time.Duration, putArgs func(*writer)) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	within, cancel := context.WithTimeout(ctx, budget+grace)
	defer cancel()
	h.shard, h.budget, h.position = c.shard, budget, c.caller.position()
	w := newWriter()
	putHeader(w, h)
	putArgs(w)
	answer, err := c.caller.messenger.Request(within, c.node, kindCall, w.Writer)
	w.release()
	switch {
	case errors.Is(err, messenger.ErrNotTaken):
		return nil, fmt.Errorf("%w: %w", shard.ErrNotBegun, err)
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("%w: no answer from node %s: %w", shard.ErrUnavailable, c.node, err)
	}
	return answer, nil
}

// errOlder reports that a node does not know a call.
var errOlder = fmt.Errorf("%w: a node runs an older version of the program, which cannot do this", shard.ErrNotBegun)

// explain returns the error of a call for its caller. If a node does not know the call, the error tells the operator
// why.
func explain(err error, node string, code byte) error {
	if errors.Is(err, shard.ErrNotBegun) && strings.HasSuffix(err.Error(), errUnknownCall(code).Error()) {
		return &failure{errOlder, fmt.Sprintf("node %s: upgrade all nodes", node)}
	}
	return err
}

// readAnswer reads the answer of an owner.
func readAnswer[R any](answer []byte, node string, get func(*reader) R) (result R, err error) {
	err = openAnswer(answer, node, func(r *reader) { result = get(r) })
	return result, err
}

// openAnswer reads the answer of an owner. It calls get to read a result.
func openAnswer(answer []byte, node string, get func(*reader)) error {
	r := newReader(answer)
	r.node = node
	switch v := r.Byte(); {
	case v == noVersion && !r.Failed():
		return &failure{
			shard.ErrNotBegun, fmt.Sprintf("node %s knows calls of version %d, not %d", node, r.Byte(), version),
		}
	case v != version:
		return &failure{shard.ErrUnavailable, fmt.Sprintf("node %s answers with version %d", node, v)}
	}
	err := getError(r)
	if err == nil {
		get(r)
	}
	if bad := r.done(); bad != nil {
		return &failure{shard.ErrUnavailable, fmt.Sprintf("answer of node %s: %v", node, bad)}
	}
	return err
}
