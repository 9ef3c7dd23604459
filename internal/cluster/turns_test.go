package cluster

import (
	"testing"
	"time"
)

// Two nodes that hear each other take turns, close together or far apart. They hear each other as often as if one of
// them sent, and neither only answers.
func TestTurns(t *testing.T) {
	const every, rounds = 300 * time.Millisecond, 300
	for _, later := range []time.Duration{0, 1, every / 10, every / 2, every * 9 / 10} {
		one, other := newTurns("a", every), newTurns("b", every)
		now := time.Now()
		sent, longest := map[string]int{}, time.Duration(0)
		last := now
		sends := func(from, to *turns, at time.Time) bool {
			if !from.isDue(to.node, at) {
				return false
			}
			sent[from.node]++
			longest, last = max(longest, at.Sub(last)), at
			return true
		}
		for range rounds {
			now = now.Add(every)
			due := sends(one, other, now)
			if due && later > 0 {
				other.answer("a", now)
			}
			if sends(other, one, now.Add(later)) {
				one.answer("b", now.Add(later))
			}
			if due && later == 0 { // both are on their way
				other.answer("a", now)
			}
		}
		if sent["a"] < rounds/3 || sent["b"] < rounds/3 || sent["a"]+sent["b"] > rounds*3/2 || longest > every*3/2 {
			t.Errorf("turns %v later: %v heartbeats in %d turns, and none for %v", later, sent, rounds, longest)
		}
	}
}

// A node that hears nothing sends each time.
func TestTurnsWithoutAnswers(t *testing.T) {
	one, now := newTurns("b", time.Second), time.Now()
	for range 10 {
		if now = now.Add(time.Second); !one.isDue("a", now) {
			t.Fatal("no heartbeat is due to a node that sends none")
		}
	}
}
