package catalog

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

func TestSettings(t *testing.T) {
	for tag, values := range map[string]struct{ good, bad []string }{
		TagShards:   {[]string{"1", "64"}, []string{"", "0", "65", "01", "x"}},
		TagDelivery: {[]string{"paused"}, []string{"", "Paused", "on"}},
		TagReceiveRate: {[]string{"1/s", "50/s", "10/m", "1000000/h"},
			[]string{"", "50", "0/s", "50/d", "-1/s", "1000001/s", "05/s", "1.5/s", "50/s/s", "/s"}},
		TagInFlight: {[]string{"1", "120000"}, []string{"", "0", "120001", "-1", "+1"}},
	} {
		for _, v := range values.good {
			if wrong, known := CheckSetting(tag, v); wrong != "" || !known {
				t.Errorf("%s=%s: %q, %v", tag, v, wrong, known)
			}
		}
		for _, v := range values.bad {
			if wrong, known := CheckSetting(tag, v); wrong == "" || !known {
				t.Errorf("%s=%s is accepted", tag, v)
			}
		}
	}
	if _, known := CheckSetting("sluice:other", "x"); known {
		t.Error("a tag without meaning is known")
	}
}

// The limits of a queue are divided among its shards, and each of them delivers something.
func TestLimitsOnShards(t *testing.T) {
	q := &Queue{
		Tags:   map[string]string{TagReceiveRate: "60/m", TagInFlight: "4", TagDelivery: "paused"},
		Shards: []int{7, 3, 5},
	}
	total := 0
	for _, n := range q.Shards {
		l := q.ConfigOn(n).Limits
		if !l.Paused || l.Rate != (queue.Rate{Messages: 60, Per: 3 * time.Minute}) || l.InFlight < 1 {
			t.Errorf("shard %d: %+v", n, l)
		}
		total += l.InFlight
	}
	if total != 4 {
		t.Errorf("%d in flight", total)
	}
	q.Tags[TagInFlight] = "2"
	if l := q.ConfigOn(5).Limits; l.InFlight != 1 {
		t.Errorf("of 2 in flight the last shard has %d", l.InFlight)
	}
	q.Shards = nil
	if l := q.ConfigOn(1).Limits; l.InFlight != 2 || l.Rate.Per != time.Minute {
		t.Errorf("one shard: %+v", l)
	}
	q.Tags = map[string]string{TagReceiveRate: "fast", TagInFlight: "many", TagDelivery: "later"} // of an older program
	if l := q.ConfigOn(1).Limits; l != (queue.Limits{}) {
		t.Errorf("invalid tags limit: %+v", l)
	}
}
