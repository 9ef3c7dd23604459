package idle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/queue"
)

const (
	// lookEvery is the interval of checks of all queues.
	lookEvery = time.Minute
	// dueFor is how long after its due time a queue may be deleted. Later the announcement is out of date: people may
	// not have seen it, because the server was stopped or restored from an old backup.
	dueFor = time.Hour
	// askAtOnce is the number of queues in one call to the shards, each with its dead-letter queue.
	askAtOnce = 250
)

// Options configures a Sweeper.
type Options struct {
	Catalog *catalog.Catalog
	Trail   *trail.Trail
	// After is how long a queue must be unused before it is deleted. 0 means that none is deleted.
	After time.Duration
	// Uses returns what is known about the use of queues, as shard.Shard and router.Router do. It omits queues
	// whose use is not known completely.
	Uses func(ctx context.Context, ids []queue.ID) ([]queue.Use, error)
	// Fed returns the ARNs of the queues that topics need.
	Fed func() map[string]bool
	// Watched returns the ARNs of the queues that alarms watch.
	Watched func() map[string]bool
	// Measure records how many queues will be deleted, as a metric of each account and region with such queues.
	Measure func(ctx context.Context, at time.Time, announced map[Scope]int) error
	// Owner reports whether this node owns the control store.
	Owner func() bool
	// Ready returns an error if a program that does not know sealed queues reads the control store.
	Ready func() error
	// Require records that the data directory needs such a program.
	Require func() error
	Now     func() time.Time
	Log     *slog.Logger
}

// Scope is a region of an account.
type Scope struct{ Account, Region string }

// Sweeper deletes unused queues.
type Sweeper struct {
	o       Options
	deleted atomic.Uint64
	looked  time.Time // when Run has looked last
}

// New returns a Sweeper.
func New(o Options) *Sweeper { return &Sweeper{o: o} }

// Deleted returns how many queues this node has deleted since it was started.
func (s *Sweeper) Deleted() uint64 { return s.deleted.Load() }

// Announced returns how many queues will be deleted.
func (s *Sweeper) Announced() (total int) {
	for _, n := range s.announced() {
		total += n
	}
	return total
}

func (s *Sweeper) announced() map[Scope]int {
	out := make(map[Scope]int)
	for _, q := range s.o.Catalog.All() {
		if q.Idle != nil {
			out[Scope{q.Name.Account, q.Name.Region}]++
		}
	}
	return out
}

// Run checks the queues every minute until ctx ends, on the node that owns the control store.
func (s *Sweeper) Run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.step(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("unused queues are not deleted now; the next step tries again", "error", err)
		}
	}
}

// step checks the queues if it is time to, or at once if one is sealed: no client can use it.
func (s *Sweeper) step(ctx context.Context) error {
	if !s.o.Owner() {
		s.looked = time.Time{}
		return nil
	}
	if s.o.After == 0 && s.o.Catalog.IdleSince().IsZero() {
		return nil // the option is off, and nothing is left of when it was on
	}
	now := s.o.Now()
	if since := now.Sub(s.looked); 0 <= since && since < lookEvery && !s.someSealed() {
		return nil
	}
	s.looked = now
	return s.Look(ctx)
}

func (s *Sweeper) someSealed() bool {
	return slices.ContainsFunc(s.o.Catalog.All(), func(q *catalog.Queue) bool { return q.Idle != nil && q.Idle.Sealed })
}

// Look decides about all queues in their present state. Call it where the control store is owned.
func (s *Sweeper) Look(ctx context.Context) error {
	if s.o.After == 0 {
		return s.stopWatching(ctx)
	}
	now := s.o.Now()
	if s.o.Catalog.IdleSince().IsZero() {
		return s.startWatching(ctx, now)
	}
	kept := s.kept()
	var ask []*catalog.Queue
	var failed error
	for _, q := range s.o.Catalog.All() {
		switch {
		case !kept(q) && !now.Before(s.known(q).Add(s.o.After-Notice(s.o.After))):
			ask = append(ask, q)
		case q.Idle != nil:
			failed = errors.Join(failed, s.revoke(ctx, q))
		}
	}
	slices.SortFunc(ask, func(a, b *catalog.Queue) int { return cmp.Compare(a.ID, b.ID) })
	for some := range slices.Chunk(ask, askAtOnce) {
		failed = errors.Join(failed, s.judge(ctx, some))
	}
	if announced := s.announced(); len(announced) > 0 {
		if err := s.o.Measure(ctx, now, announced); err != nil && ctx.Err() == nil {
			s.o.Log.Warn("the metric of queues that will be deleted is not written", "error", err)
		}
	}
	return failed
}

// startWatching starts to watch which queues are used.
func (s *Sweeper) startWatching(ctx context.Context, now time.Time) error {
	if err := s.o.Ready(); err != nil {
		return err
	}
	if err := s.o.Require(); err != nil {
		return err
	}
	return s.o.Catalog.Change(ctx, func(tx *catalog.Tx) error { tx.WatchIdle(now); return nil })
}

// stopWatching clears the findings, because the option is not set any more.
func (s *Sweeper) stopWatching(ctx context.Context) error {
	if s.o.Catalog.IdleSince().IsZero() {
		return nil
	}
	for _, q := range s.o.Catalog.All() {
		if q.Idle != nil {
			if err := s.revoke(ctx, q); err != nil {
				return err
			}
		}
	}
	return s.o.Catalog.Change(ctx, func(tx *catalog.Tx) error { tx.WatchIdle(time.Time{}); return nil })
}

// known returns the last use of a queue, as far as the control store records it.
func (s *Sweeper) known(q *catalog.Queue) time.Time {
	return latest(s.o.Catalog.IdleSince(), q.Created, q.Modified)
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }

// judge decides about queues, after their shards have reported.
func (s *Sweeper) judge(ctx context.Context, queues []*catalog.Queue) error {
	var ids []queue.ID
	for _, q := range queues {
		ids = append(ids, q.ID)
		if dead := s.deadLettersOf(q); dead != nil {
			ids = append(ids, dead.ID)
		}
	}
	slices.Sort(ids)
	list, err := s.o.Uses(ctx, slices.Compact(ids))
	if err != nil {
		return fmt.Errorf("ask when queues were used: %w", err)
	}
	uses := make(map[queue.ID]queue.Use, len(list))
	for _, u := range list {
		uses[u.ID] = u
	}
	var failed error
	for _, q := range queues {
		u, told := uses[q.ID]
		if dead := s.deadLettersOf(q); told && dead != nil {
			var there queue.Use
			there, told = uses[dead.ID]
			u.Messages += there.Messages // which can be redriven to their source
		}
		switch {
		case told:
			failed = errors.Join(failed, s.decide(ctx, q, u))
		case q.Idle != nil && q.Idle.Sealed: // it must not stay so while a shard cannot be asked
			failed = errors.Join(failed, s.open(ctx, q))
		}
	}
	return failed
}

// decide decides about a queue.
func (s *Sweeper) decide(ctx context.Context, q *catalog.Queue, u queue.Use) error {
	now := s.o.Now()
	used := latest(s.known(q), u.Last.Time())
	switch {
	case u.Messages > 0, now.Before(used.Add(s.o.After - Notice(s.o.After))):
		if q.Idle == nil {
			return nil
		}
		return s.revoke(ctx, q)
	case q.Idle == nil, now.After(q.Idle.Due.Add(dueFor)):
		return s.announce(ctx, q, used, now)
	case now.Before(q.Idle.Due), now.Before(used.Add(s.o.After)):
		if q.Idle.Sealed {
			return s.open(ctx, q)
		}
		return nil
	case q.Idle.Sealed && u.Sealed:
		return s.delete(ctx, q, now)
	case q.Idle.Sealed: // a shard does not know that yet
		return s.open(ctx, q)
	}
	sealed, err := s.seal(ctx, q)
	if err != nil || sealed == nil {
		return err
	}
	return s.judge(ctx, []*catalog.Queue{sealed})
}
