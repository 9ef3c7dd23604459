package cluster

import (
	"slices"
	"testing"
	"time"
)

// A shard that misses its preferred node each time is handed over less and less often, until that node has owned it.
func TestPatience(t *testing.T) {
	var b, c patience // of two nodes
	began := time.Unix(0, 0)
	epoch := uint64(1)
	sees := func(owner string, able bool, now time.Duration) {
		for _, p := range []*patience{&b, &c} {
			p.seen("0001", owner, epoch, "a", able, began.Add(now))
		}
	}
	// handOvers returns when the owners hand over the shard. It goes to one of the others in turn, never to a.
	handOvers := func(from, to time.Duration, others ...string) (at []time.Duration) {
		owner := others[0]
		for now := from; now < to; now += time.Second {
			sees(owner, true, now)
			if map[string]*patience{"b": &b, "c": &c}[owner].over("0001", began.Add(now)) {
				at = append(at, now)
				epoch++
				owner = others[len(at)%len(others)]
			}
		}
		return at
	}
	sees("b", true, 0)
	want := []time.Duration{0, 61 * time.Second, 182 * time.Second, 423 * time.Second, 904 * time.Second,
		1865 * time.Second}
	if got := handOvers(0, time.Hour, "b"); !slices.Equal(got, want) {
		t.Errorf("it is handed over after %v, not after %v", got, want)
	}
	if !b.over("0002", began) {
		t.Error("another shard also waits")
	}

	epoch++
	sees("a", true, time.Hour)
	if got := handOvers(time.Hour, 2*time.Hour, "b", "c"); len(got) > 8 {
		t.Errorf("two nodes hand it over %d times in an hour: %v", len(got), got)
	}

	epoch++
	sees("a", true, 2*time.Hour)
	for range 5 { // it changes hands while a is dead
		epoch++
		sees("c", false, 2*time.Hour)
	}
	if !c.over("0001", began.Add(2*time.Hour)) {
		t.Error("a node that was dead does not get its shard back at once")
	}
	if c.over("0001", began.Add(2*time.Hour+29*time.Second)) || !c.over("0001", began.Add(2*time.Hour+30*time.Second)) {
		t.Error("a hand-over that fails is not repeated after 30 s")
	}

	for _, p := range []*patience{&b, &c} {
		p.seen("0001", "c", epoch, "b", true, began.Add(2*time.Hour+31*time.Second))
	}
	if !c.over("0001", began.Add(2*time.Hour+31*time.Second)) {
		t.Error("another preferred node has to wait for the first one's misses")
	}
}
