package shard

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Message is a message as a consumer receives it.
type Message struct {
	queue.Message
	queue.Delivery
}

// Deliveries returns the deliveries of messages.
func Deliveries(messages []Message) []queue.Delivery {
	out := make([]queue.Delivery, len(messages))
	for i := range messages {
		out[i] = messages[i].Delivery
	}
	return out
}

// ReceiveCount is ApproximateReceiveCount: the receives in all queues that have held the message.
func (m *Message) ReceiveCount() uint64 { return m.PriorReceives + m.Receives }

// FirstReceived is ApproximateFirstReceiveTimestamp.
func (m *Message) FirstReceived() queue.Instant {
	if m.PriorFirst != 0 {
		return m.PriorFirst
	}
	return m.First
}

// Probe makes a small commit to check whether the shard can be written.
func (s *Shard) Probe(ctx context.Context) error {
	return s.exec(ctx, func(e *queue.Engine) error { e.ForceWrite(); return nil })
}

// Configure adds a queue or updates its attributes. It waits even while the disk is blocked: the catalog already has
// the change, and the shard must agree with it.
func (s *Shard) Configure(ctx context.Context, c queue.Config) error {
	err := s.execEvenIfBlocked(ctx, func(e *queue.Engine) error {
		err := e.Configure(c)
		s.unknown.note(e)
		return err
	})
	if c.Shelved {
		s.forget(c.ID, err)
	}
	return err
}

// forget drops the state outside the engine of a removed queue.
func (s *Shard) forget(id queue.ID, err error) {
	s.waits.forget(id)
	if s.watcher != nil && err == nil {
		s.watcher.Purged(id)
	}
}

// Drop removes a queue and all its data. Like Configure, it waits while the disk is blocked.
func (s *Shard) Drop(ctx context.Context, id queue.ID) error {
	err := s.execEvenIfBlocked(ctx, func(e *queue.Engine) error {
		err := e.Drop(id)
		s.unknown.note(e)
		return err
	})
	s.forget(id, err)
	return err
}

// Send accepts messages; see queue.Engine. After it has returned without an error, the shard no longer uses the memory
// of the messages.
func (s *Shard) Send(ctx context.Context, id queue.ID, messages []queue.Outgoing) ([]queue.Sent, error) {
	return call(ctx, s.inbox, func(e *queue.Engine) ([]queue.Sent, error) { return e.Send(id, messages) })
}

// MaxReceive limits the messages of one receive, in bytes of queue.Message.Size. Ten messages of SQS's largest size are
// shorter. A program with other limits may have stored larger messages; a receive then returns fewer messages than
// requested, but at least one.
const MaxReceive = 11 << 20

// Receive returns messages. If there are none, it waits for the length of wait or until ctx ends, and then returns
// none. It returns at most MaxReceive bytes, unless the first message alone is longer. If ctx ends after messages were
// received, their deliveries are reverted. If the shard is closed by then, Receive returns them anyway, and the caller
// must return them where the shard is open next.
//
// With too many messages in flight, it returns queue.ErrOverLimit only if wait is 0.
func (s *Shard) Receive(ctx context.Context, id queue.ID, r queue.Receive, wait time.Duration) ([]Message, error) {
	s.readers.enter()
	defer s.readers.leave()
	if s.draining.Load() {
		wait = 0
	}
	p := newPoll(id, r, wait)
	c := s.Writable()
	if err := s.hand(ctx, c, &p.request); err != nil {
		return nil, err
	}
	select {
	case <-p.done:
	case <-s.closed: // all polls are already answered, except one that came too late
		select {
		case <-p.done:
		default:
			return nil, s.ended()
		}
	case <-c.Blocked():
		return nil, s.abandonPoll(p, c)
	case <-ctx.Done():
		p.left.Store(true)
		if p.leave() {
			s.send(newRequest(func(*queue.Engine) error { s.polls.remove(p); return nil }))
			return nil, context.Cause(ctx)
		}
		select {
		case <-p.done:
		case <-c.Blocked():
			return nil, s.abandonPoll(p, c)
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	if ctx.Err() != nil && len(p.out) > 0 {
		back := s.Return(context.WithoutCancel(ctx), id, p.out, r.Attempt)
		if !errors.Is(back, ErrNotBegun) {
			return nil, errors.Join(context.Cause(ctx), back)
		}
	}
	messages, err := s.read(ctx, id, p.out, &r)
	s.waits.received(id, messages)
	if s.watcher != nil && err == nil {
		s.watcher.Received(id, p.at, messages)
	}
	return messages, err
}

// read reads the messages of deliveries. Like all reads of bodies, it runs in the goroutine of the caller, not of the
// owner. It omits messages that were purged or have expired meanwhile. If a message cannot be read, it stays in flight,
// and the deliveries of the others are reverted, so that consumers can receive them without it. Deliveries that would
// make the answer longer than MaxReceive are reverted, too.
func (s *Shard) read(
	ctx context.Context, id queue.ID, deliveries []queue.Delivery, q *queue.Receive,
) ([]Message, error) {
	r := records{from: s.readers, many: len(deliveries) > 1}
	defer r.close()
	from := queue.MessageReader{Keys: queue.NoCipher}
	if q.Decrypt && s.readers.cipher != nil {
		from.Keys = s.readers.cipher
	}
	out := make([]Message, len(deliveries))
	n, size := 0, 0
	var failed error
	for i, d := range deliveries {
		m := &out[n]
		found, err := from.Read(&m.Message, r.get, id, d.Position)
		if err == nil && found {
			if size += m.Size(); size > MaxReceive && n > 0 {
				s.shorten(ctx, id, deliveries, i, q.Attempt)
				break
			}
		}
		switch {
		case err != nil:
			failed = errors.Join(failed, err)
		case !found:
			failed = errors.Join(failed, s.absent(ctx, id, d.Position))
		default:
			m.Delivery = d
			n++
		}
	}
	out = out[:n]
	if failed == nil {
		return out, nil
	}
	s.log.Error("received message cannot be read", "error", failed)
	back := s.Return(context.WithoutCancel(ctx), id, Deliveries(out), q.Attempt)
	return nil, errors.Join(fmt.Errorf("%w: %w", ErrUnavailable, failed), back)
}

// shorten reverts all but the first n deliveries. If that fails, the messages become visible again when their
// visibility timeout ends.
func (s *Shard) shorten(ctx context.Context, id queue.ID, deliveries []queue.Delivery, n int, attempt string) {
	err := s.exec(context.WithoutCancel(ctx), func(e *queue.Engine) error {
		return e.Shorten(id, deliveries, n, attempt)
	})
	if err != nil && !errors.Is(err, queue.ErrNoQueue) {
		s.log.Warn(
			"messages that an answer could not hold were not taken back", "messages", len(deliveries)-n, "error", err,
		)
	}
}

// absent distinguishes a deleted message from a lost one: it asks the owner whether the message should still exist.
// Positions are never reused, so if the engine has the message now, its record must exist.
func (s *Shard) absent(ctx context.Context, id queue.ID, p queue.Position) error {
	held := false
	err := s.exec(context.WithoutCancel(ctx), func(e *queue.Engine) error {
		held = e.Holds(id, p)
		return nil
	})
	if err == nil && held {
		err = fmt.Errorf("message %v of queue %d is missing: %w", p, id, queue.ErrDamaged)
	}
	return err
}

// Return reverts deliveries that did not reach the consumer; see queue.Engine.
func (s *Shard) Return(ctx context.Context, id queue.ID, deliveries []queue.Delivery, attempt string) error {
	err := s.exec(ctx, func(e *queue.Engine) error { return e.Return(id, deliveries, attempt) })
	if s.watcher != nil && err == nil {
		s.watcher.Returned(id, deliveries)
	}
	return err
}

// Delete removes messages; see queue.Engine.
func (s *Shard) Delete(ctx context.Context, id queue.ID, receipts []queue.Receipt) ([]error, error) {
	return s.Settle(ctx, id, receipts, nil)
}

// Settle removes messages whose outcome is known, and counts the outcome in their topic, in one transaction. A nil
// count counts nothing.
func (s *Shard) Settle(
	ctx context.Context, id queue.ID, receipts []queue.Receipt, count *queue.TopicCount,
) ([]error, error) {
	var at queue.Instant
	results, err := call(ctx, s.inbox, func(e *queue.Engine) ([]error, error) {
		at = e.Now()
		if err := e.CountTopic(count); err != nil {
			return nil, err
		}
		return e.Delete(id, receipts)
	})
	if err == nil && s.watcher != nil {
		s.watcher.Deleted(id, at, receipts, results)
	}
	return results, err
}

// ChangeVisibility changes visibility timeouts; see queue.Engine.
func (s *Shard) ChangeVisibility(ctx context.Context, id queue.ID, changes []queue.Visibility) ([]error, error) {
	if s.watcher == nil {
		return call(ctx, s.inbox, func(e *queue.Engine) ([]error, error) { return e.ChangeVisibility(id, changes) })
	}
	var at queue.Instant
	results, err := call(ctx, s.inbox, func(e *queue.Engine) ([]error, error) {
		at = e.Now()
		return e.ChangeVisibility(id, changes)
	})
	if err == nil {
		s.watcher.VisibilityChanged(id, at, changes, results)
	}
	return results, err
}

// Purge removes all messages of a queue; see queue.Engine. If it fails, some of them may be gone.
func (s *Shard) Purge(ctx context.Context, id queue.ID) error { return s.PurgeAfter(ctx, id, nil) }

// PurgeAfter purges a queue after the outboxes of other shards were purged up to the given positions.
func (s *Shard) PurgeAfter(ctx context.Context, id queue.ID, marks []queue.Mark) error {
	_, err := s.purge(ctx, queue.Purging{
		Queue: id, Marks: marks, Here: queue.FromShard{Shard: s.number}, Bytes: s.scales.weighed(id),
	})
	if s.watcher != nil && err == nil {
		s.watcher.Purged(id)
	}
	return err
}

// MayPurge returns the refusal that Purge would return now; see queue.Engine.
func (s *Shard) MayPurge(ctx context.Context, id queue.ID) error {
	return s.exec(ctx, func(e *queue.Engine) error { return e.MayPurge(id) })
}

// PurgeOutbox removes the messages of a queue's outbox, and returns the position of the newest message ever in it.
// Messages that were already forwarded may still arrive.
func (s *Shard) PurgeOutbox(ctx context.Context, id queue.ID) (queue.Position, error) {
	p, err := s.purge(ctx, queue.Purging{Queue: id, OutboxOnly: true})
	return p.Last, err
}

// purge continues a purge until it is complete.
func (s *Shard) purge(ctx context.Context, p queue.Purging) (queue.Purging, error) {
	for !p.Done {
		next, err := call(ctx, s.inbox, func(e *queue.Engine) (queue.Purging, error) { return e.Purge(p) })
		if err != nil {
			return p, err
		}
		p = next
	}
	return p, nil
}

// Counts returns the exact number of messages of a queue in each state.
func (s *Shard) Counts(ctx context.Context, id queue.ID) (queue.Counts, error) {
	return call(ctx, s.inbox, func(e *queue.Engine) (queue.Counts, error) { return e.Counts(id) })
}

// StartMove starts a message move task; see queue.Engine.
func (s *Shard) StartMove(ctx context.Context, id queue.ID, t queue.MoveTask) error {
	return s.exec(ctx, func(e *queue.Engine) error { return e.StartMove(id, t) })
}

// CancelMove ends a message move task; see queue.Engine.
func (s *Shard) CancelMove(ctx context.Context, id queue.ID, task string) (queue.MoveTask, error) {
	return call(ctx, s.inbox, func(e *queue.Engine) (queue.MoveTask, error) { return e.CancelMove(id, task) })
}

// Moves returns a queue's message move tasks, the most recent first.
func (s *Shard) Moves(ctx context.Context, id queue.ID) ([]queue.MoveTask, error) {
	return call(ctx, s.inbox, func(e *queue.Engine) ([]queue.MoveTask, error) { return e.Moves(id) })
}
