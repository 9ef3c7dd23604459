package torture

import (
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

func TestGaps(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	ok := func(began, ended int) *history.Call {
		return &history.Call{Began: ms(began), Ended: ms(ended), Outcome: history.Acknowledged}
	}
	lost := func(began, ended int) *history.Call { return &history.Call{Began: ms(began), Ended: ms(ended)} }
	poll := func(began, ended, wait int) *history.Call {
		c := ok(began, ended)
		c.Wait = ms(wait)
		return c
	}
	for name, test := range map[string]struct {
		calls []*history.Call
		want  []gap
	}{
		"one after the other": {[]*history.Call{ok(0, 5), ok(10, 12)}, []gap{{0, ms(5)}, {ms(10), ms(12)}}},
		"two at once": {[]*history.Call{ok(0, 100), ok(10, 20)},
			[]gap{{ms(10), ms(20)}, {ms(20), ms(100)}}},
		"some without an answer": {[]*history.Call{lost(0, 10), lost(20, 30), ok(40, 50)}, []gap{{0, ms(50)}}},
		"the last has no answer": {[]*history.Call{ok(0, 1), lost(10, 20), lost(30, 40)},
			[]gap{{0, ms(1)}, {ms(10), ms(40)}}},
		"no calls for a while": {[]*history.Call{lost(0, 10), ok(5000, 5001)},
			[]gap{{0, ms(10)}, {ms(5000), ms(5001)}}},
		"one hangs, others do not": {[]*history.Call{lost(0, 3000), ok(10, 20), ok(500, 510)},
			[]gap{{ms(10), ms(20)}, {ms(500), ms(510)}, {ms(510), ms(3000)}}},
		"a poll that waits":    {[]*history.Call{poll(0, 1003, 1000)}, []gap{{ms(1000), ms(1003)}}},
		"a poll that need not": {[]*history.Call{poll(0, 3, 1000)}, nil},
	} {
		if got := gapsOf(test.calls); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	gaps := []gap{{ms(0), ms(50)}, {ms(60), ms(70)}, {ms(100), ms(200)}}
	for span, want := range map[gap]time.Duration{
		{ms(55), ms(80)}: ms(10), {ms(55), ms(100)}: ms(100), {ms(51), ms(52)}: 0, {ms(10), ms(99)}: ms(50),
	} {
		if got := longest(gaps, span.began, span.ended); got != want {
			t.Errorf("longest within %v: %v, want %v", span, got, want)
		}
	}
}

// A message that was sent without an answer may arrive late, and does not count as one that no client has sent.
func TestCarriedOver(t *testing.T) {
	call := func(op history.Operation, o history.Outcome, names ...string) *history.Call {
		c := &history.Call{Operation: op, Queue: "plain", Outcome: o}
		for _, name := range names {
			c.Entries = append(c.Entries, &history.Entry{Call: c, Name: name, Outcome: o})
		}
		return c
	}
	last := &history.History{Queues: []history.Queue{{Name: "plain"}}, Calls: []*history.Call{
		call(history.Create, history.Acknowledged),
		{Operation: history.Create, Queue: "scratch", Outcome: history.Acknowledged},
		call(history.Send, history.Acknowledged, "plain/1"),
		call(history.Send, history.Unknown, "plain/2", "plain/3"),
		call(history.Send, history.Refused, "plain/4"),
		call(history.Remove, history.Acknowledged, "plain/2"),
	}}
	next := &history.History{Queues: last.Queues, Calls: carriedOver(last)}
	if len(next.Calls) != 2 || len(next.Calls[1].Entries) != 1 {
		t.Fatalf("carried over: %v", next.Calls)
	}
	verdict := func(name string) (rules []string) {
		h := *next
		h.Calls = append(slices.Clone(next.Calls), call(history.Receive, history.Acknowledged, name))
		h.Calls[2].Began, h.Calls[2].Ended = time.Second, time.Second
		for _, v := range h.Verdict() {
			rules = append(rules, v.Rule)
		}
		return rules
	}
	if got := verdict("plain/3"); slices.Contains(got, "phantom") {
		t.Errorf("a late message counts as %v", got)
	}
	for _, name := range []string{"plain/1", "plain/2", "plain/4"} {
		if got := verdict(name); !slices.Contains(got, "phantom") {
			t.Errorf("%s is back, and counts as %v", name, got)
		}
	}
}
