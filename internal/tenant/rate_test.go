package tenant

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var began = time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)

// take is the amount taken at a time.
type take struct {
	at time.Time
	n  int
}

// worst returns the largest amount that was taken beyond the limit in any period: from one take to another, both
// included.
func worst(all []take, limit float64) (beyond float64) {
	sum, lowest := 0.0, math.Inf(1) // the amount taken before, less the limit's amount until then
	for _, t := range all {
		given := limit * t.at.Sub(began).Seconds()
		lowest = min(lowest, sum-given)
		sum += float64(t.n)
		beyond = max(beyond, sum-given-lowest)
	}
	return beyond
}

// For all sequences of requests, a rate alone never gives more in any time than its limit, one second's savings, and
// the rest of the last batch.
func TestRateAgainstItsDefinition(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.Int64Range(0, 200).Draw(rt, "limit")
		r, now := newRate(limit), began
		var all []take
		largest := 1
		for range rapid.IntRange(1, 200).Draw(rt, "requests") {
			now = now.Add(time.Duration(rapid.IntRange(-5, 400).Draw(rt, "ms")) * time.Millisecond)
			n := rapid.IntRange(1, 10).Draw(rt, "n")
			if r.take(n, now) {
				all, largest = append(all, take{now, n}), max(largest, n)
			}
		}
		if limit == 0 && len(all) > 0 {
			rt.Fatal("a limit of 0 admits a request")
		}
		// The clock may have been set back by a few milliseconds before each request.
		slack := float64(limit)*0.005*200 + 1e-6
		if beyond := worst(all, float64(limit)); beyond > size(float64(limit))+float64(largest-1)+slack {
			rt.Fatalf("limit %d: %v beyond it", limit, beyond)
		}
	})
}

func TestRateScript(t *testing.T) {
	r := newRate(10)
	for _, step := range []struct {
		ms   int // since the beginning
		n    int
		want bool
	}{
		{0, 10, true}, // a second's worth is available
		{0, 1, false},
		{99, 1, false},
		{100, 1, true},
		{150, 1, false},
		{200, 10, true}, // one may pass, so the batch may: nine are owed
		{1000, 1, false},
		{1199, 1, false},
		{1200, 1, true},
		{60_000, 10, true}, // at most a second's worth is saved
		{60_000, 1, false},
	} {
		if got := r.take(step.n, began.Add(time.Duration(step.ms)*time.Millisecond)); got != step.want {
			t.Errorf("at %d ms, %d: %v", step.ms, step.n, got)
		}
	}
	r.set(1000, began.Add(time.Minute))
	if r.take(1, began.Add(time.Minute)) || !r.take(1, began.Add(time.Minute+time.Millisecond)) {
		t.Error("a higher limit counts from when it is set")
	}
	r.set(0, began.Add(time.Hour))
	if r.take(1, began.Add(time.Hour)) {
		t.Error("a limit of 0 admits a request")
	}
}

// nodes have the same rate on several nodes, which report to each other once a second.
type nodes struct {
	rates []*rate
	now   time.Time
}

func newNodes(n int, limit int64) *nodes {
	c := &nodes{now: began}
	for range n {
		c.rates = append(c.rates, newRate(limit))
	}
	return c
}

func (c *nodes) heartbeat() {
	for i, r := range c.rates {
		r.tick(heartbeat, c.now)
		said, used := r.say()
		if !used {
			continue
		}
		for j, other := range c.rates {
			if i != j {
				said.heard = heard{"p", c.now}
				other.hear(fmt.Sprint(i), said, true, c.now)
			}
		}
	}
}

// All nodes together give the limit, to within the amount that each can give until the next heartbeat, however the
// clients are spread and move; and they give all of the limit if there is enough demand.
func TestNodesKeepTheLimitTogether(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.SampledFrom([]int64{1, 3, 10, 100, 1000}).Draw(rt, "limit")
		n := rapid.IntRange(2, 5).Draw(rt, "nodes")
		c := newNodes(n, limit)
		const step = 20 * time.Millisecond
		var all []take
		seconds := rapid.IntRange(5, 30).Draw(rt, "seconds")
		for range seconds {
			weights := make([]int, n) // how many requests each node gets in each step
			for i := range weights {
				weights[i] = rapid.IntRange(0, 3).Draw(rt, "weight")
			}
			weights[rapid.IntRange(0, n-1).Draw(rt, "busy")] += 1 + int(limit)/25 // so that the total demand is the limit
			for range int(heartbeat / step) {
				for i, r := range c.rates {
					for range weights[i] {
						if r.take(1, c.now) {
							all = append(all, take{c.now, 1})
						}
					}
				}
				c.now = c.now.Add(step)
			}
			c.heartbeat()
		}
		// Until it hears from the others, each node may take the savings and the limit.
		if beyond, most := worst(all, float64(limit)), 2*float64(n)*size(float64(limit)); beyond > most {
			rt.Fatalf("limit %d on %d nodes: %.1f beyond it, at most %.1f", limit, n, beyond, most)
		}
		if least := float64(limit)*float64(seconds)*0.9 - 2*size(float64(limit)); float64(len(all)) < least {
			rt.Fatalf("limit %d on %d nodes: %d in %d s, want %.0f", limit, n, len(all), seconds, least)
		}
	})
}

// The shares follow the clients: when the clients of one node move to another, that node gives all of the limit within
// seconds.
func TestSharesFollowTheClients(t *testing.T) {
	c := newNodes(3, 100)
	spell := func(at, seconds int) (given int) {
		for range seconds {
			for range 50 {
				for range 10 {
					if c.rates[at].take(1, c.now) {
						given++
					}
				}
				c.now = c.now.Add(20 * time.Millisecond)
			}
			c.heartbeat()
		}
		return given
	}
	for _, at := range []int{0, 1, 2, 0} {
		spell(at, 4)
		if given := spell(at, 10); given < 950 || given > 1100 {
			t.Errorf("node %d gives %d in 10 s at a limit of 100 a second", at, given)
		}
	}
}

// A node without earlier heartbeats, or at its first one, is not charged for the past.
func TestWhatIsPastIsNotOwed(t *testing.T) {
	at := func(s int) time.Time { return began.Add(time.Duration(s) * time.Second) }
	r := newRate(10)
	r.hear("b", told{Taken: 5000, heard: heard{"p", at(0)}}, false, at(0))
	if !r.take(1, at(0)) {
		t.Error("the use of a node before its first heartbeat counts")
	}
	r.hear("b", told{Taken: 5030, heard: heard{"p", at(1)}}, true, at(1))
	if r.take(1, at(2)) || !r.take(1, at(4)) {
		t.Error("30 of another node are not paid back in 3 seconds")
	}
	r.hear("b", told{Taken: 1_000_000, heard: heard{"p", at(20)}}, true, at(20))
	if r.take(1, at(25)) || !r.take(1, at(27)) {
		t.Error("a node that was cut off costs more than some seconds")
	}
	r = newRate(10)
	r.hear("b", told{Taken: 50, heard: heard{"p", at(0)}}, true, at(0))
	if r.take(1, at(3)) {
		t.Error("the first use of a known node does not count")
	}
	r.hear("b", told{Taken: 30, heard: heard{"q", at(10)}}, true, at(10)) // restarted
	if r.take(1, at(11)) {
		t.Error("the use of a new process does not count")
	}
}
