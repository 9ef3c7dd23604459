package shard

import (
	"testing"

	"github.com/sluicemq/sluice/internal/queue"
)

// Later counts are offset against reverted ones, and a total never falls.
func TestTotalsNeverFall(t *testing.T) {
	var totals Totals
	var before [queue.Counters]int64
	last := int64(0)
	for i, step := range []struct{ change, want int64 }{{3, 3}, {-2, 3}, {1, 3}, {4, 6}, {0, 6}} {
		after := before
		after[queue.MetricReceived] += step.change
		totals.add(before, after)
		before = after
		got := totals.Get()[queue.MetricReceived]
		if got != step.want || got < last {
			t.Errorf("after step %d the total is %d, want %d", i, got, step.want)
		}
		last = got
	}
}
