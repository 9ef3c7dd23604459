package tenant

import (
	"sync"
	"time"
)

// Amount is how much is stored of an account.
type Amount struct {
	Messages int64 `json:"m,omitempty"`
	Bytes    int64 `json:"b,omitempty"`
}

func (a Amount) plus(b Amount) Amount { return Amount{a.Messages + b.Messages, a.Bytes + b.Bytes} }

func (a Amount) minus(b Amount) Amount { return Amount{a.Messages - b.Messages, a.Bytes - b.Bytes} }

// stock is how much is stored for an account, as one node knows it: the counts of its shards, the reports of the other
// nodes, and the bytes that this node has admitted since the shards were asked. So nothing is missed that was admitted
// here. Bytes that were admitted and have left meanwhile count until the shards are asked again.
type stock struct {
	mu      sync.Mutex
	counted Amount // by the shards of this node
	others  map[string]toldStock
	entered Amount // stored since then
	pending Amount // let in, and not known to be stored
}

type toldStock struct {
	Amount
	at time.Time
}

func newStock() *stock { return &stock{others: make(map[string]toldStock)} }

// amount returns how much is stored, with what is about to be.
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

// enter lets a in, if it keeps the limits. Otherwise it returns the kind of the limit that it does not.
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

// end says whether what was let in is stored. Where that is not known it is taken to be.
func (s *stock) end(a Amount, stored bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = s.pending.minus(a)
	if stored {
		s.entered = s.entered.plus(a)
	}
}

// begin is called before the shards are asked, and returns what count takes back.
func (s *stock) begin() Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entered
}

// count takes in what the shards have counted, after begin.
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

// say returns what this node tells the others: what its shards have.
func (s *stock) say() Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counted
}
