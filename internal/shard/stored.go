package shard

import (
	"context"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Stored is how much a shard stores of an account.
type Stored struct{ Messages, Bytes int64 }

// Stored returns how much the shard stores of some accounts: the number of messages, and, for accounts whose value is
// true, also their bytes. Messages are counted; bytes are estimated, see scale.
func (s *Shard) Stored(ctx context.Context, accounts map[string]bool) (map[string]Stored, error) {
	list, err := call(ctx, s.inbox, func(e *queue.Engine) ([]queue.Stored, error) {
		return e.Stored(func(account string) bool { _, ok := accounts[account]; return ok }), nil
	})
	if err != nil {
		return nil, err
	}
	return s.scales.weigh(ctx, list, accounts)
}

// scales are the scales of the queues whose bytes are requested.
type scales struct {
	readers *readers
	mu      sync.Mutex
	of      map[queue.ID]*scale
}

// weigh returns how much the shard stores of the accounts that own some queues. It weighs the queues of accounts whose
// value is true.
func (all *scales) weigh(
	ctx context.Context, list []queue.Stored, accounts map[string]bool,
) (map[string]Stored, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.retain(list, accounts)
	until := time.Now().Add(weighTime)
	out := make(map[string]Stored)
	for i := range list {
		q := &list[i]
		account := q.Look.Account()
		sum := out[account]
		sum.Messages += int64(q.Messages)
		if accounts[account] {
			sc := all.of[q.Look.Queue()]
			if err := all.put(ctx, sc, q, until); err != nil {
				return nil, err
			}
			sc.last = sc.bytes(q)
			sum.Bytes += sc.last
		}
		out[account] = sum
	}
	return out, nil
}

// weighed returns the bytes of a queue that weigh has last found, or 0 if weigh was not called for it.
func (all *scales) weighed(id queue.ID) uint64 {
	all.mu.Lock()
	defer all.mu.Unlock()
	if sc := all.of[id]; sc != nil {
		return uint64(sc.last)
	}
	return 0
}

// weighTime limits how long one call of weigh weighs queues.
const weighTime = 300 * time.Millisecond

// put continues to weigh a queue, unless the time is over or nothing was stored or removed since it was last weighed.
func (all *scales) put(ctx context.Context, sc *scale, q *queue.Stored, until time.Time) error {
	if !sc.begin(q) || time.Now().After(until) {
		return nil
	}
	return all.readers.walk(ctx, q.Look.Account(), func(r queue.Reader, proceed func(int) bool) error {
		w, next, err := q.Look.Weigh(r, sc.next, func(bytes int) bool {
			return proceed(bytes) && time.Now().Before(until)
		})
		sc.add(w, next)
		return err
	})
}

// retain makes a scale for each queue that needs one, and drops the others.
func (all *scales) retain(list []queue.Stored, accounts map[string]bool) {
	wanted := make(map[queue.ID]bool)
	for i := range list {
		if id := list[i].Look.Queue(); accounts[list[i].Look.Account()] {
			wanted[id] = true
			if all.of[id] == nil {
				all.of[id] = new(scale)
			}
		}
	}
	for id := range all.of {
		if !wanted[id] {
			delete(all.of, id)
		}
	}
}

// scale estimates how many bytes a queue stores. The engine removes messages without reading them, so it does not know
// their length. A scale reads the queue from end to end, in rounds of bounded steps. Between rounds it estimates from
// the result of the last round, the messages that have arrived since (the engine knows their length), and the number of
// messages. It assumes that removed messages were older ones, of average length.
type scale struct {
	weighed bool         // a round is complete
	found   queue.Weight // by the last round
	since   queue.Weight // arrivals before that round

	under    bool           // a round is in progress
	next     queue.Position // where it continues
	sofar    queue.Weight
	started  queue.Weight // arrivals before it
	messages uint64       // in the queue when it began
	settled  uint64       // in the queue when the last round began

	last int64 // the last result of bytes
}

// begin begins a round, unless one is in progress, and reports whether there is anything to weigh.
func (s *scale) begin(q *queue.Stored) bool {
	if q.Arrived.Messages < s.since.Messages || q.Arrived.Messages < s.started.Messages { // the engine was loaded again
		*s = scale{}
	}
	switch {
	case s.under:
		return true
	case s.weighed && q.Arrived == s.since && q.Messages == s.settled:
		return false
	}
	s.under, s.next, s.sofar, s.started, s.messages = true, 0, queue.Weight{}, q.Arrived, q.Messages
	return true
}

// add adds the messages found up to next; 0 means up to the end.
func (s *scale) add(w queue.Weight, next queue.Position) {
	s.sofar.Messages += w.Messages
	s.sofar.Bytes += w.Bytes
	if s.next = next; next == 0 {
		s.weighed, s.found, s.since, s.settled, s.under = true, s.sofar, s.started, s.messages, false
	}
}

// bytes returns how much the queue stores now.
func (s *scale) bytes(q *queue.Stored) int64 {
	if !s.weighed { // only the beginning was weighed
		return int64(float64(q.Messages) * mean(s.sofar))
	}
	came := queue.Weight{Messages: q.Arrived.Messages - s.since.Messages, Bytes: q.Arrived.Bytes - s.since.Bytes}
	gone := max(0, int64(s.found.Messages+came.Messages)-int64(q.Messages))
	old := min(gone, int64(s.found.Messages))
	return max(0, int64(float64(s.found.Bytes+came.Bytes)-float64(old)*mean(s.found)-float64(gone-old)*mean(came)))
}

func mean(w queue.Weight) float64 {
	if w.Messages == 0 {
		return 0
	}
	return float64(w.Bytes) / float64(w.Messages)
}
