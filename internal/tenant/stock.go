package tenant

import (
	"sync"
	"time"
)

// Amount is the stored data of an account.
type Amount struct {
	Messages int64 `json:"m,omitempty"`
	Bytes    int64 `json:"b,omitempty"`
}

func (a Amount) plus(b Amount) Amount { return Amount{a.Messages + b.Messages, a.Bytes + b.Bytes} }

func (a Amount) minus(b Amount) Amount { return Amount{a.Messages - b.Messages, a.Bytes - b.Bytes} }

// stock is the stored data of an account, as one node knows it: the counts of its shards, the reports of the other
// nodes, and the bytes that this node has admitted since the shards were last counted. So nothing admitted here is
// missed. Bytes that were admitted and deleted meanwhile count until the next count of the shards.
type stock struct {
	mu      sync.Mutex
	counted Amount // by the shards of this node
	others  map[string]toldStock
	entered Amount // stored since then
	pending Amount // admitted, and not yet known to be stored
}

type toldStock struct {
	Amount
	at time.Time
}

func newStock() *stock { return &stock{others: make(map[string]toldStock)} }

// amount returns the stored data, including what is about to be stored.
func (s *stock) amount(now time.Time) Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum(now)
}

func (s *stock) sum(now time.Time) Amount {
	all := s.counted.plus(s.entered).plus(s.pending)
	for _, o := range s.others {
		if now.Sub(o.at) < forgetAfter {
			all = all.plus(o.Amount)
		}
	}
	return all
}

// enter admits a if it is within the limits. Otherwise it returns the kind of the exceeded limit.
func (s *stock) enter(a Amount, l Limits, now time.Time) (Kind, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.sum(now).plus(a)
	if most, ok := l[Messages]; ok && all.Messages > most {
		return Messages, false
	}
	if most, ok := l[Bytes]; ok && all.Bytes > most {
		return Bytes, false
	}
	s.pending = s.pending.plus(a)
	return 0, true
}

// end records whether the admitted data was stored. An unknown outcome counts as stored.
func (s *stock) end(a Amount, stored bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = s.pending.minus(a)
	if stored {
		s.entered = s.entered.plus(a)
	}
}

// begin is called before the shards are counted, and returns a value for count.
func (s *stock) begin() Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entered
}

// count records the counts of the shards, after begin.
func (s *stock) count(counted, before Amount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counted, s.entered = counted, s.entered.minus(before)
}

func (s *stock) hear(node string, a Amount, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others[node] = toldStock{a, now}
}

// say returns this node's report: the counts of its shards.
func (s *stock) say() Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counted
}
