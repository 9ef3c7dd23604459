package router

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

const (
	// sampleAtMost is how many shards must answer a receive without a wait before it returns nothing: it samples the
	// shards, as SQS does.
	sampleAtMost = 4
	// peekAt is how many shards a long poll asks one after the other before it waits at all of them. In a busy queue
	// the first one has messages, and then no other delivers messages that must be returned.
	peekAt = 2
)

var errDraining = errors.New("long polls are ended")

// Receive delivers messages, or waits for some as shard.Shard does.
//
// Of several shards it samples some in random order, until one has messages. To wait, it calls all shards at the same
// time: the first one with messages wins, and messages that others deliver at that moment are returned. A shard without
// an owner is called when it has one; it is an error only if no shard has an owner.
//
// A repeated receive attempt of a FIFO queue asks all shards whether they know the attempt, before any of them delivers
// new messages.
func (r *Router) Receive(
	ctx context.Context, id queue.ID, q queue.Receive, wait time.Duration,
) ([]shard.Message, error) {
	p, err := r.place(id)
	if err != nil {
		return nil, err
	}
	got, err := r.receiver.receive(ctx, &p, id, q, wait)
	if len(got) > 0 && ctx.Err() != nil {
		back := r.returnMessages(context.WithoutCancel(ctx), id, got, q.Attempt)
		return nil, errors.Join(context.Cause(ctx), back)
	}
	return got, err
}

// receiver receives messages from the shards of queues.
type receiver struct {
	*owners
	// giveBack returns messages that no consumer received.
	giveBack func(ctx context.Context, id queue.ID, messages []shard.Message, attempt string) error
	draining context.Context // ends the long polls
	drain    context.CancelFunc
}

func newReceiver(
	o *owners, giveBack func(context.Context, queue.ID, []shard.Message, string) error,
) *receiver {
	r := &receiver{owners: o, giveBack: giveBack}
	r.draining, r.drain = context.WithCancel(context.Background())
	return r
}

// receive is Router.Receive for a queue with a placement. The consumer may have gone when it returns messages.
func (r *receiver) receive(
	ctx context.Context, p *Placement, id queue.ID, q queue.Receive, wait time.Duration,
) ([]shard.Message, error) {
	end := time.Now().Add(wait)
	waits := wait > 0 && r.draining.Err() == nil
	if len(p.Shards) == 1 {
		n := p.Shards[0]
		if waits {
			return r.wait(ctx, end, func(ctx context.Context) ([]shard.Message, error) {
				return r.poll(ctx, n, id, q, end, func(error) bool { return true })
			})
		}
		got, err := call(ctx, r.owners, n, func(ctx context.Context, s Shard) ([]shard.Message, error) {
			return s.Receive(ctx, id, q, 0)
		})
		return withShard(got, n), err
	}
	order := r.shuffled(p.Shards)
	enough := sampleAtMost
	if p.FIFO && q.Attempt != "" {
		if got, err := r.repeated(ctx, p, id, q); len(got) > 0 || err != nil {
			return got, err
		}
		order, enough = attemptOrder(p.Shards, q.Attempt), len(order)
	}
	if waits {
		enough = min(enough, peekAt)
	}
	got, err := r.sample(ctx, order, enough, id, q)
	switch {
	case len(got) > 0:
		return got, nil
	case !waits && errors.Is(err, shard.ErrNotBegun):
		return retryUntilOwned(ctx, r.owners, p.Shards, func() ([]shard.Message, error) {
			return r.sample(ctx, order, enough, id, q)
		})
	case !waits, err != nil && !errors.Is(err, shard.ErrUnavailable) && !errors.Is(err, queue.ErrOverLimit):
		return nil, err
	}
	return r.wait(ctx, end, func(ctx context.Context) ([]shard.Message, error) {
		return r.pollAll(ctx, p.Shards, id, q, end)
	})
}

// sample calls shards one after the other until one has messages, or enough of them have none. It fails only if no
// shard has answered.
func (r *receiver) sample(
	ctx context.Context, order []int, enough int, id queue.ID, q queue.Receive,
) ([]shard.Message, error) {
	answers := 0
	var refused, failed error
	for _, n := range order {
		if answers == enough || answers > 0 && r.suspect(n) {
			break
		}
		got, err := r.peek(ctx, n, id, q)
		switch {
		case len(got) > 0:
			return got, nil
		case err == nil:
			answers++
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, queue.ErrOverLimit):
			refused = err
		case errors.Is(err, shard.ErrUnavailable):
			failed = cmp.Or(failed, err)
			if !errors.Is(err, shard.ErrNotBegun) {
				failed = err
			}
		default:
			return nil, err
		}
	}
	switch {
	case answers > 0:
		return nil, nil
	case refused != nil:
		return nil, refused
	}
	return nil, failed
}

// peek receives messages that a shard has now. It does not wait long for a shard that does not answer, so the others
// get their turn.
func (r *receiver) peek(ctx context.Context, n int, id queue.ID, q queue.Receive) ([]shard.Message, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, r.Timeout, errSlow)
	defer cancel()
	got, err := callOnce(ctx, r.owners, n, func(ctx context.Context, s Shard) ([]shard.Message, error) {
		return s.Receive(ctx, id, q, 0)
	})
	return withShard(got, n), err
}

// repeated returns the messages of an earlier call with the same attempt, if there was one. It uses a receive of at
// most 0 messages. It skips a shard that is unavailable: the messages which that shard delivered stay invisible until
// their visibility timeout ends, and those behind them in their groups wait.
func (r *receiver) repeated(ctx context.Context, p *Placement, id queue.ID, q queue.Receive) ([]shard.Message, error) {
	q.Max = 0
	answers := each(p.Shards, func(n int) answer {
		got, err := r.peek(ctx, n, id, q)
		return answer{got, err}
	})
	for _, a := range answers {
		if len(a.got) > 0 {
			return a.got, nil
		}
	}
	for _, a := range answers {
		if a.err != nil && !errors.Is(a.err, shard.ErrUnavailable) {
			return nil, a.err
		}
	}
	return nil, nil
}

// attemptOrder returns the shards in an order that depends only on the attempt, so that two simultaneous calls with the
// same attempt meet at a shard.
func attemptOrder(shards []int, attempt string) []int {
	order := slices.Clone(shards)
	first := queue.PartOf(attempt, len(order))
	return append(order[first:], order[:first]...)
}

// withShard adds the number of their shard to the positions of messages.
func withShard(messages []shard.Message, n int) []shard.Message {
	for i := range messages {
		messages[i].Position = encodeShard(messages[i].Position, n)
	}
	return messages
}
