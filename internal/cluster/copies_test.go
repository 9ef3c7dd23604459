package cluster

import (
	"errors"
	"testing"
)

// A copy of a log that was one record behind at the time of the count is no problem.
func TestCopiesAreCountedTwice(t *testing.T) {
	var c copyCounts
	for i, step := range []struct {
		complete, wanted int
		err              error
		want             logCopies
	}{
		{2, 3, nil, logCopies{2, 3}}, // the first count stands
		{3, 3, nil, logCopies{3, 3}},
		{2, 3, nil, logCopies{3, 3}},
		{3, 3, nil, logCopies{3, 3}},
		{2, 3, nil, logCopies{3, 3}},
		{2, 3, nil, logCopies{2, 3}},
		{1, 3, nil, logCopies{2, 3}},
		{1, 3, nil, logCopies{1, 3}},
		{3, 3, nil, logCopies{3, 3}},
		{0, 0, errors.New("no answer"), logCopies{}}, // unknown
		{2, 3, nil, logCopies{2, 3}},
	} {
		c.set("0001", logCopies{step.complete, step.wanted}, step.err)
		if got := c.of("0001"); got != step.want {
			t.Errorf("step %d: %v, want %v", i, got, step.want)
		}
	}
}

// The control shard is as safe as its log and the leases. While the copies of the leases are unknown, it is not safe.
func TestLeasesCountForControl(t *testing.T) {
	all := logCopies{3, 3}
	for other, want := range map[logCopies]logCopies{{3, 3}: all, {2, 3}: {2, 3}, {}: {}} {
		if got := all.fewer(other); got != want {
			t.Errorf("with leases %v: %v, want %v", other, got, want)
		}
	}
}
