package cluster

import (
	"slices"
	"testing"
	"time"
)

// A shard that comes back each time is handed over ever more rarely, until another node has owned it.
func TestPatience(t *testing.T) {
	var p patience
	began := time.Unix(0, 0)
	handOvers := func(from, to time.Duration, epoch func(n int) uint64) (at []time.Duration) {
		for now := from; now < to; now += time.Second {
			if p.over("0001", epoch(len(at)), began.Add(now)) {
				at = append(at, now)
			}
		}
		return at
	}
	comesBack := func(n int) uint64 { return uint64(n + 1) }
	want := []time.Duration{0, 30 * time.Second, 90 * time.Second, 210 * time.Second, 450 * time.Second, 930 * time.Second, 1890 * time.Second}
	if got := handOvers(0, time.Hour, comesBack); !slices.Equal(got, want) {
		t.Errorf("it is handed over after %v, not after %v", got, want)
	}
	if !p.over("0002", 1, began) {
		t.Error("another shard waits too")
	}
	isKept := func(n int) uint64 { return uint64(100 + 2*n) }
	if got := handOvers(time.Hour, time.Hour+3*time.Second, isKept); len(got) != 3 {
		t.Errorf("although other nodes have owned it, it is handed over only after %v", got)
	}
	stays := func(int) uint64 { return 200 } // the hand-over itself fails
	if got := handOvers(2*time.Hour, 2*time.Hour+time.Minute, stays); len(got) != 2 {
		t.Errorf("a hand-over that fails is done after %v", got)
	}
}
