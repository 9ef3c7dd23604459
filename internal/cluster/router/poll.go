package router

import (
	"context"
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// almostOver is how much of a poll's time may be left when its shard, whose clock is coarser, answers that the time is
// over.
const almostOver = 50 * time.Millisecond

// wait calls poll, and ends it with an empty answer when the receiver is drained.
func (r *receiver) wait(
	ctx context.Context, end time.Time, poll func(context.Context) ([]shard.Message, error),
) ([]shard.Message, error) {
	within, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.draining, func() { cancel(errDraining) })()
	got, err := poll(within)
	if errors.Is(err, errDraining) {
		return nil, nil
	}
	return got, err
}

// poll waits for messages on shard n until end, even if the shard changes its owner. When the shard has been
// unavailable for Options.Timeout, poll calls giveUp once, which decides whether the poll has failed.
//
// Unlike other calls, a receive without an answer may be repeated: messages that it has taken are visible again after
// their timeout, and the client sees at worst what it sees when its own connection breaks. So poll repeats after every
// error, except errors of the request itself. Each round
//
//   - reads the term before it looks up the owner, as retryUntilOwned does, so it misses no change;
//   - lets the owner wait for the remaining time, so a healthy shard gets one call;
//   - continues at once if the term is over, because there may be a new owner; otherwise it waits for that, or for a
//     pause.
//
// An empty answer before the end is no answer: an owner that hands its shard over ends its polls early.
func (r *receiver) poll(
	ctx context.Context,
	n int,
	id queue.ID,
	q queue.Receive,
	end time.Time,
	giveUp func(error) bool,
) ([]shard.Message, error) {
	var since time.Time // when the shard became unavailable
	var failure error
	pause := firstPause
	for first := true; ; first = false { // it asks the shard once in any case
		term := r.ownerTerm(n)
		left := max(time.Until(end), 0)
		if left == 0 && !first {
			return nil, failure
		}
		got, err := callOnce(ctx, r.owners, n, func(ctx context.Context, s Shard) ([]shard.Message, error) {
			return s.Receive(ctx, id, q, left)
		})
		switch {
		case len(got) > 0:
			return withShard(got, n), nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil, errors.Is(err, queue.ErrOverLimit):
			// If the time is not over, the owner is closing the shard and lets no poll wait: another node will open it.
			if time.Until(end) <= almostOver {
				return nil, nil
			}
			since, failure = time.Time{}, nil
		case !errors.Is(err, shard.ErrUnavailable):
			return nil, err
		default:
			if failure = err; since.IsZero() {
				since = time.Now()
			}
			if giveUp != nil && time.Since(since) >= r.Timeout {
				if giveUp(err) {
					return nil, err
				}
				giveUp = nil
			}
		}
		if term.over.Err() != nil {
			pause = firstPause
			continue
		}
		waitForTerm(ctx, min(pause, left), term)
		pause = min(2*pause, longestPause)
	}
}

// pollAll waits at all shards until one has messages. The first messages win. The other polls then end, and return
// messages that they have received meanwhile: each message is either in the answer or visible again. If no shard has
// messages, the answer is empty when all polls have ended and at least one shard has answered; otherwise it is a
// failure. If all shards have been unavailable for Options.Timeout, pollAll does not wait until end.
func (r *receiver) pollAll(
	ctx context.Context, shards []int, id queue.ID, q queue.Receive, end time.Time,
) ([]shard.Message, error) {
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan answer, len(shards))
	down := make(chan error, len(shards))
	for _, n := range shards {
		go func() {
			got, err := r.poll(ctx, n, id, q, end, func(err error) bool { down <- err; return false })
			answers <- answer{got, err}
		}()
	}
	pending := len(shards)
	defer func() {
		cancel()
		go r.returnAll(answers, pending, id, q.Attempt)
	}()
	var failure error
	heard := false
	for lost := 0; pending > 0; {
		select {
		case a := <-answers:
			pending--
			switch {
			case len(a.got) > 0:
				return a.got, nil
			case a.err == nil:
				heard = true
			case !errors.Is(a.err, shard.ErrUnavailable):
				return nil, a.err
			default:
				failure = a.err
			}
		case err := <-down:
			if lost++; lost == len(shards) {
				return nil, err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if heard {
		return nil, nil
	}
	return nil, failure
}

// answer is the answer of a shard to a receive.
type answer struct {
	got []shard.Message
	err error
}

// returnAll returns the messages of the polls that have not answered yet: their consumer received others, or has gone.
func (r *receiver) returnAll(answers <-chan answer, pending int, id queue.ID, attempt string) {
	for range pending {
		if a := <-answers; len(a.got) > 0 {
			_ = r.giveBack(context.Background(), id, a.got, attempt)
		}
	}
}
