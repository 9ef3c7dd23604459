package cluster

import (
	"testing"
	"time"
)

func TestClockFollowsTheMajority(t *testing.T) {
	ours := time.Date(2014, 1, 1, 0, 0, 0, 0, time.UTC)
	ask := func(c *clocks, node string, ahead time.Duration) {
		c.measured(node, 2*time.Millisecond, c.wall().Add(-time.Millisecond).Add(ahead))
	}
	for _, test := range []struct {
		name   string
		ahead  []time.Duration // of the others' clocks
		shift  time.Duration
		forget bool
	}{
		{name: "alone"},
		{name: "nearly the same", ahead: []time.Duration{50 * time.Millisecond, -80 * time.Millisecond}},
		{name: "ours is ahead", ahead: []time.Duration{-10 * time.Minute, -10 * time.Minute}, shift: -10 * time.Minute},
		{name: "ours is behind", ahead: []time.Duration{time.Hour, time.Hour + time.Second}, shift: time.Hour},
		{name: "another is ahead", ahead: []time.Duration{10 * time.Minute, 0}},
		{name: "two nodes, who knows", ahead: []time.Duration{10 * time.Minute}},
		{name: "others are gone", ahead: []time.Duration{-10 * time.Minute, -10 * time.Minute}, forget: true},
	} {
		c := newClocks(func() time.Time { return ours }, nil)
		for i, a := range test.ahead {
			ask(c, string(rune('a'+i)), a)
		}
		if test.forget {
			c.retain(nil)
		}
		if got := c.correction(); got != test.shift {
			t.Errorf("%s: shifted by %v, want %v", test.name, got, test.shift)
		}
	}
}
