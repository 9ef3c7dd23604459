package shard

import (
	"context"
	"sync"

	"github.com/sluicemq/sluice/internal/queue"
)

// Totals counts the events of all queues of a process, in all of its shards. The counters do not decrease when a queue
// is removed, nor when a shard moves to another node. The zero value is ready to use.
type Totals struct {
	mu sync.Mutex
	n  [queue.Counters]int64
	// owed holds events that were counted and then undone. Later events are offset against them, so counters never
	// decrease.
	owed [queue.Counters]int64
}

// Get returns the value of each counter.
func (t *Totals) Get() [queue.Counters]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

// add adds the difference between two states of the counters.
func (t *Totals) add(before, after [queue.Counters]int64) {
	if t == nil || before == after {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for m := range after {
		t.owed[m] += after[m] - before[m]
		if t.owed[m] > 0 {
			t.n[m] += t.owed[m]
			t.owed[m] = 0
		}
	}
}

// Standings returns the state of the queues of the shard.
func (s *Shard) Standings(ctx context.Context) ([]queue.Standing, error) {
	all, err := call(ctx, s.inbox, func(e *queue.Engine) ([]queue.Standing, error) { return e.Standings(), nil })
	s.waits.addTo(all)
	return all, err
}

// TopicStandings returns the shard's counters of topics.
func (s *Shard) TopicStandings(ctx context.Context) ([]queue.TopicStanding, error) {
	return call(ctx, s.inbox, func(e *queue.Engine) ([]queue.TopicStanding, error) { return e.TopicStandings(), nil })
}
