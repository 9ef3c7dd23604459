package replica

import (
	"testing"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

func TestTrimPoint(t *testing.T) {
	const small, large = 1 << 10, 1 << 30
	need := func(durable sharedlog.Position, live bool) Need { return Need{durable, live} }
	cases := map[string]struct {
		set   []Need
		bytes int64
		want  sharedlog.Position
	}{
		"no copies":                           {nil, small, 0},
		"one":                                 {[]Need{need(7, true)}, small, 7},
		"all are there":                       {[]Need{need(10, true), need(9, true), need(8, true)}, small, 8},
		"one is behind, and there is room":    {[]Need{need(100, true), need(90, true), need(8, true)}, small, 8},
		"one is behind, and there is no room": {[]Need{need(100, true), need(90, true), need(8, true)}, large, 90},
		"one is gone":                         {[]Need{need(100, true), need(90, true), need(0, false)}, small, 90},
		"two of three are behind":             {[]Need{need(100, true), need(9, true), need(8, true)}, large, 9},
		"nothing is known of two":             {[]Need{need(100, true), need(0, false), need(0, false)}, large, 0},
		"two, of which both are the majority": {[]Need{need(100, true), need(50, false)}, large, 50},
		"four, of which three are a majority": {[]Need{need(4, true), need(3, false), need(2, false), need(1, false)},
			large, 2},
		"five, of which three are a majority": {[]Need{need(5, true), need(4, true), need(3, true), need(2, false),
			need(1, false)}, large, 3},
		"the last record stays":           {[]Need{need(200, true), need(200, true), need(200, true)}, small, 199},
		"it stays where there is no room": {[]Need{need(200, true), need(200, true), need(8, true)}, large, 199},
		"the one that is behind is the fourth": {[]Need{need(5, true), need(4, true), need(3, true), need(1, true)},
			small, 1},
	}
	if got := TrimPoint([]Need{need(0, true)}, sharedlog.Extent{First: 1}, 1); got != 0 {
		t.Errorf("of an empty log: %d", got)
	}
	for name, c := range cases {
		if got := TrimPoint(c.set, sharedlog.Extent{First: 1, Last: 200, Bytes: c.bytes}, 1<<20); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
