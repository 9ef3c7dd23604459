package router

import (
	"context"
	"errors"
	"slices"

	"github.com/sluicemq/sluice/internal/queue"
)

// Purge removes all messages of a queue from all its shards, and from the outboxes of other shards; messages that are
// moving between shards do not arrive later. It fails if one shard is unavailable, and can then be called again: it
// returns queue.ErrPurgeInProgress only when all shards were purged within the last minute. Messages sent between the
// two calls to a shard that the first call has purged stay.
func (r *Router) Purge(ctx context.Context, id queue.ID) error {
	p, err := r.place(id)
	if err != nil {
		return err
	}
	if err := r.mayPurge(ctx, &p, id); err != nil {
		return err
	}
	marks, err := r.purgeOutboxes(ctx, &p, id)
	if err != nil {
		return err
	}
	errs := each(p.all(), func(n int) error {
		return p.orElsewhere(n, r.exec(ctx, n, func(ctx context.Context, s Shard) error {
			return s.PurgeAfter(ctx, id, marks)
		}))
	})
	done := 0
	for i, n := range p.all() {
		if errors.Is(errs[i], queue.ErrPurgeInProgress) {
			errs[i] = nil
		} else if errs[i] == nil && slices.Contains(p.Shards, n) {
			done++
		}
	}
	if err := firstSerious(errs); err != nil {
		return err
	}
	if done == 0 {
		return queue.ErrPurgeInProgress
	}
	return nil
}

// mayPurge returns the refusal that all shards of a queue would give, before the outboxes of other shards are purged: a
// refused purge removes nothing. An undo on one shard is a refusal, too, because its messages would stay.
func (o *owners) mayPurge(ctx context.Context, p *Placement, id queue.ID) error {
	if len(p.all()) == 1 {
		return nil
	}
	errs := each(p.Shards, func(n int) error {
		return o.exec(ctx, n, func(ctx context.Context, s Shard) error { return mayPurgeOn(ctx, s, id) })
	})
	if slices.Contains(errs, errUndoing) {
		return queue.ErrPurgeInProgress
	}
	errs = slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, queue.ErrPurgeInProgress) })
	if len(errs) == 0 {
		return queue.ErrPurgeInProgress
	}
	return firstSerious(errs)
}

// errUndoing reports that a shard brings messages back.
var errUndoing = errors.New("an undo of a purge is in progress")

// mayPurgeOn is mayPurge for one shard. It distinguishes an undo from an earlier purge.
func mayPurgeOn(ctx context.Context, s Shard, id queue.ID) error {
	err := s.MayPurge(ctx, id)
	if !errors.Is(err, queue.ErrPurgeInProgress) {
		return err
	}
	switch kept, failed := s.Kept(ctx, id); {
	case failed != nil:
		return failed
	case kept.Undoing:
		return errUndoing
	}
	return err
}

// purgeOutboxes purges the outboxes of a queue, and returns their positions. A message of theirs may be moving at that
// moment. The shards of the queue, which are purged afterwards, skip every message up to these marks.
func (r *Router) purgeOutboxes(ctx context.Context, p *Placement, id queue.ID) (marks []queue.Mark, err error) {
	if len(p.all()) == 1 {
		return nil, nil // it knows its own outbox; see queue.Purging
	}
	last, err := gather(p.all(), func(n int) (queue.Position, error) {
		return call(ctx, r.owners, n, func(ctx context.Context, s Shard) (queue.Position, error) {
			return s.PurgeOutbox(ctx, id)
		})
	})
	if err != nil {
		return nil, err
	}
	for i, n := range p.all() {
		if last[i] > 0 {
			marks = append(marks, queue.Mark{From: queue.FromShard{Shard: n}, UpTo: last[i]})
		}
	}
	return marks, nil
}

// Counts returns how many messages a queue holds in each state, on all its shards and
// in the outboxes of others.
func (r *Router) Counts(ctx context.Context, id queue.ID) (sum queue.Counts, err error) {
	p, err := r.place(id)
	if err != nil {
		return sum, err
	}
	counts, err := gather(p.all(), func(n int) (queue.Counts, error) {
		c, err := r.countsOf(ctx, n, id)
		return c, p.orElsewhere(n, err)
	})
	if err != nil {
		return sum, err
	}
	for _, c := range counts {
		sum.Visible += c.Visible
		sum.InFlight += c.InFlight
		sum.Delayed += c.Delayed
	}
	return sum, nil
}

func (r *Router) countsOf(ctx context.Context, n int, id queue.ID) (queue.Counts, error) {
	return call(ctx, r.owners, n, func(ctx context.Context, s Shard) (queue.Counts, error) { return s.Counts(ctx, id) })
}

// orElsewhere returns err, unless it only means that shard n, which does not serve the queue, has no outbox for it.
func (p *Placement) orElsewhere(n int, err error) error {
	if errors.Is(err, queue.ErrNoQueue) && !slices.Contains(p.Shards, n) {
		return nil
	}
	return err
}
