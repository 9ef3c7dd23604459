package consumers

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var begin = time.Date(2026, 11, 22, 12, 0, 30, 0, time.UTC)

func TestLog(t *testing.T) {
	l := New()
	ann, bob := Who{"arn:ann", "10.0.0.1", "a"}, Who{"arn:bob", "10.0.0.2", "b"}
	now := begin
	for i := range uint64(20) {
		l.Received(1, ann, now, Receive{Waits: true, Max: 10, Messages: []uint64{2 * i, 2*i + 1}})
		now = now.Add(time.Second)
		l.Deleted(1, ann, now, []uint64{2 * i})
		l.Received(1, bob, now, Receive{Max: 1})
	}
	l.Received(2, bob, now, Receive{Max: 1, Messages: []uint64{7}})
	list := l.Queue(1, now)
	if len(list) != 2 || list[0].Who != ann && list[1].Who != ann {
		t.Fatalf("there are %+v", list)
	}
	for _, c := range list {
		want := Count{Calls: 20, Received: 40, Deleted: 20}
		if c.Who == bob {
			want = Count{Calls: 20, Empty: 20, ShortCalls: 20, ShortEmpty: 20}
		}
		if c.Count != want || c.Minutes != 1 || !c.Last.Equal(now) {
			t.Errorf("%s: %+v", c.Principal, c)
		}
		d, ok := c.Quantile(0.5)
		if ok != (c.Who == ann) || ok && (d < time.Second || d > 2*time.Second) {
			t.Errorf("%s: median %v, %v", c.Principal, d, ok)
		}
	}
	if got := l.Queue(2, now)[0]; got.SingleFull != 1 || got.Received != 1 {
		t.Errorf("%+v", got)
	}
	// Calls that are too old are not counted, and an inactive consumer is forgotten.
	if c := l.Queue(1, now.Add(5*time.Minute))[0]; c.Calls != 20 || c.Minutes < 5 || c.Minutes > 6 {
		t.Errorf("after five minutes: %+v", c)
	}
	if c := l.Queue(1, now.Add(11*time.Minute))[0]; c.Calls != 0 || c.Minutes != 10 {
		t.Errorf("after eleven minutes: %+v", c)
	}
	if list := l.Queue(1, now.Add(time.Hour)); len(list) != 0 {
		t.Errorf("after an hour: %+v", list)
	}
	l.Drop(1)
	if list := l.Queue(1, now); len(list) != 0 || l.total != 1 || l.timed != 1 {
		t.Errorf("after it was dropped: %+v, %d, %d", list, l.total, l.timed)
	}
	(*Log)(nil).Received(1, ann, now, Receive{})
	(*Log)(nil).Deleted(1, ann, now, []uint64{1})
}

// The log is bounded for any behavior of clients.
func TestBounds(t *testing.T) {
	l := New()
	now := begin
	for i := range maxTotal + 500 {
		who := Who{Principal: fmt.Sprint(i), Agent: strings.Repeat("é", 300)}
		now = now.Add(time.Millisecond)
		messages := make([]uint64, 20)
		for k := range messages {
			messages[k] = uint64(20*i + k)
		}
		l.Received(uint64(i/150), who, now, Receive{Messages: messages})
	}
	entries, timed := 0, 0
	for queue, of := range l.queues {
		if len(of) > maxPerQueue {
			t.Errorf("queue %d has %d consumers", queue, len(of))
		}
		for who, e := range of {
			entries++
			timed += len(e.received)
			if len(who.Agent) > maxText {
				t.Errorf("an agent of %d bytes", len(who.Agent))
			}
		}
	}
	if entries != l.total || timed != l.timed || entries > maxTotal || timed > maxTimed {
		t.Errorf("%d consumers, counted %d; %d messages, counted %d", entries, l.total, timed, l.timed)
	}
	// The newest consumers of a queue are kept.
	if list := l.Queue(2, now); len(list) != maxPerQueue || list[0].Principal != "449" {
		t.Errorf("%d, %s", len(list), list[0].Principal)
	}
	for i := range uint64(2 * maxTimedPerConsumer) {
		l.Received(1<<40, Who{}, now, Receive{Messages: []uint64{i}})
	}
	if n := len(l.queues[1<<40][Who{}].received); n > maxTimedPerConsumer {
		t.Errorf("%d messages of one consumer", n)
	}
}

func TestMerge(t *testing.T) {
	a, b := New(), New()
	one, two := Who{Principal: "one"}, Who{Principal: "two"}
	for i := range uint64(10) {
		for _, l := range []*Log{a, b} {
			l.Received(1, one, begin, Receive{Messages: []uint64{i}})
			l.Deleted(1, one, begin.Add(100*time.Millisecond), []uint64{i})
		}
		b.Received(1, two, begin.Add(time.Second), Receive{})
	}
	all := Merge(a.Queue(1, begin), b.Queue(1, begin.Add(time.Second)))
	if len(all) != 2 || all[0].Who != one || all[0].Calls != 20 || all[1].Calls != 10 {
		t.Fatalf("%+v", all)
	}
	if d, ok := all[0].Quantile(0.99); !ok || d != 128*time.Millisecond {
		t.Errorf("99%% within %v, %v", d, ok)
	}
	if got := a.Queue(1, begin)[0]; got.Calls != 10 {
		t.Errorf("the merge has changed what it was made of: %+v", got)
	}
}
