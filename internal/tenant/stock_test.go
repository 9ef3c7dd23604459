package tenant

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// For all sequences of additions, removals and counts, the limit is never exceeded, and removals make room as soon as
// they are counted.
func TestStockAgainstModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.Int64Range(0, 30).Draw(rt, "limit")
		s, limits := newStock(), Limits{Messages: limit}
		stored := int64(0)
		var pending []int64
		var asked *Amount
		found := int64(0)
		rt.Repeat(map[string]func(*rapid.T){
			"enter": func(rt *rapid.T) {
				n := rapid.Int64Range(1, 10).Draw(rt, "n")
				if _, ok := s.enter(Amount{Messages: n}, limits, began); ok {
					pending = append(pending, n)
				}
			},
			"end": func(rt *rapid.T) {
				if len(pending) == 0 {
					rt.Skip()
				}
				n, done := pending[0], rapid.Bool().Draw(rt, "stored")
				if pending = pending[1:]; done {
					stored += n
				}
				s.end(Amount{Messages: n}, done)
			},
			"leave": func(rt *rapid.T) { stored -= rapid.Int64Range(0, stored).Draw(rt, "n") },
			"ask": func(*rapid.T) {
				before := s.begin()
				asked, found = &before, stored
			},
			"count": func(rt *rapid.T) {
				if asked == nil {
					rt.Skip()
				}
				s.count(Amount{Messages: found}, *asked)
				asked = nil
			},
			"": func(rt *rapid.T) {
				if stored > limit {
					rt.Fatalf("%d are stored, of at most %d", stored, limit)
				}
			},
		})
		for _, n := range pending {
			s.end(Amount{Messages: n}, false)
		}
		s.count(Amount{Messages: stored}, s.begin())
		if got := s.amount(began).Messages; got != stored {
			rt.Fatalf("%d are counted, and %d stored", got, stored)
		}
	})
}

func TestStockOfOtherNodes(t *testing.T) {
	s, limits := newStock(), Limits{Messages: 10, Bytes: 1000}
	s.hear("b", Amount{8, 100}, began)
	s.hear("c", Amount{1, 850}, began)
	if k, ok := s.enter(Amount{2, 1}, limits, began); ok || k != Messages {
		t.Error("messages of other nodes do not count", k, ok)
	}
	if k, ok := s.enter(Amount{1, 60}, limits, began); ok || k != Bytes {
		t.Error("bytes of other nodes do not count", k, ok)
	}
	if _, ok := s.enter(Amount{1, 50}, limits, began); !ok {
		t.Error("a message that fits is refused")
	}
	s.hear("c", Amount{}, began.Add(4*time.Second))
	if got := s.amount(began.Add(forgetAfter)); got != (Amount{1, 50}) {
		t.Errorf("when b is silent the stock is %v", got)
	}
}

func TestCrowd(t *testing.T) {
	c := newCrowd()
	c.hear("b", 2, began)
	if !c.enter(3, began) || c.enter(3, began) {
		t.Error("one more than two of another node are three")
	}
	if c.leave(); !c.enter(3, began) {
		t.Error("a request that is over counts")
	}
	if !c.enter(3, began.Add(forgetAfter)) {
		t.Error("a node that is silent counts")
	}
}
