package shard

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/queue"
)

// outboxes are the outboxes of a shard: messages for queues that other shards serve.
type outboxes struct {
	inbox   *inbox
	readers *readers
	ready   readyQueues // non-empty ones
}

// OutboxReady waits until outboxes become non-empty, and returns their queues. It returns a queue again if its outbox
// was empty in between, or if the shard was loaded again.
func (x *outboxes) OutboxReady(ctx context.Context) ([]queue.ID, error) {
	return x.ready.wait(ctx, x.inbox.closed)
}

// ReadOutbox returns the first messages of an outbox, up to a number of messages and of bytes, but at least one. It
// returns none if the queue does not exist.
func (x *outboxes) ReadOutbox(ctx context.Context, id queue.ID, most, bytes int) ([]queue.Transfer, error) {
	type extent struct {
		from queue.Position
		n    uint64
	}
	x.readers.enter()
	defer x.readers.leave()
	held, err := call(ctx, x.inbox, func(e *queue.Engine) (of extent, err error) {
		of.from, of.n, err = e.Outbox(id)
		return of, err
	})
	if errors.Is(err, queue.ErrNoQueue) {
		return nil, nil
	}
	if held.n == 0 || err != nil {
		return nil, err
	}
	return queue.ReadOutbox(x.readers.store, id, held.from, most, bytes)
}

// account returns the account that owns the queue of an outbox; empty if the queue does not exist.
func (x *outboxes) account(ctx context.Context, id queue.ID) (string, error) {
	owner, err := call(ctx, x.inbox, func(e *queue.Engine) (string, error) { return e.OutboxAccount(id) })
	if errors.Is(err, queue.ErrNoQueue) {
		return "", nil
	}
	return owner, err
}

// Forwarded removes the messages of an outbox up to a position, because the shard that serves the queue has accepted
// them. A queue that no longer exists is not an error.
func (x *outboxes) Forwarded(ctx context.Context, id queue.ID, upTo queue.Position) error {
	err := x.inbox.exec(ctx, func(e *queue.Engine) error { return e.Forwarded(id, upTo) })
	if errors.Is(err, queue.ErrNoQueue) {
		return nil
	}
	return err
}

// Accept accepts messages from the outbox of another shard; see queue.Engine. A call whose outcome is unknown can be
// repeated.
func (s *Shard) Accept(ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer) error {
	return s.exec(ctx, func(e *queue.Engine) error { return e.Accept(id, from, messages) })
}
