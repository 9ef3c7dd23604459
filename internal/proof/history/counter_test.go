package history

import (
	"strings"
	"testing"
)

// Acknowledged calls are counted; calls with an unknown outcome may be.
func TestCountersAreComparedWithTheCalls(t *testing.T) {
	send := func(o Outcome) *Call {
		c := &Call{Operation: Send, Queue: "q", Outcome: o}
		c.Entries = []*Entry{{Call: c, Outcome: o}}
		return c
	}
	publish := func(topic, name string, o Outcome) *Call {
		c := &Call{Operation: Publish, Queue: topic, Outcome: o}
		c.Entries = []*Entry{{Call: c, Name: name, Outcome: o}}
		return c
	}
	h := &History{Topics: []Topic{{"news", []string{"s", "t"}}, {"feed.fifo", []string{"t"}}}, Calls: []*Call{
		publish("news", "a", Acknowledged), publish("feed.fifo", "b", Unknown), publish("feed.fifo", "b", Acknowledged),
		publish("feed.fifo", "b", Acknowledged), publish("feed.fifo", "c", Refused), publish("feed.fifo", "d", Unknown),
		send(Acknowledged), send(Acknowledged), send(Unknown), send(Refused),
		{Operation: Receive, Queue: "q", Outcome: Acknowledged},
		{Operation: Receive, Queue: "q", Outcome: Acknowledged, Entries: []*Entry{{Outcome: Acknowledged}}},
		{Operation: Remove, Queue: "q", Outcome: Acknowledged, Entries: []*Entry{{Outcome: Acknowledged}}},
		{Operation: Receive, Queue: "r", Outcome: Unknown},
		{Operation: Remove, Queue: "d", Outcome: Acknowledged, Entries: []*Entry{{Outcome: Acknowledged}}},
		{Operation: Drop, Queue: "d", Outcome: Unknown},
	}}
	fine := func() map[string]Counted {
		return map[string]Counted{
			"q": {Sent: 2, Received: 1, Deleted: 1}, "r": {Received: 10}, "s": {Sent: 1}, "t": {Sent: 2},
			"d": {Deleted: 1},
		}
	}
	for _, c := range []struct {
		name   string
		change func(map[string]Counted)
		want   string // empty: nothing is wrong
	}{
		{"exact", func(map[string]Counted) {}, ""},
		{"an open send", func(m map[string]Counted) { m["q"] = Counted{Sent: 3, Received: 1, Deleted: 1} }, ""},
		{"an empty receive",
			func(m map[string]Counted) { m["q"] = Counted{Sent: 2, EmptyReceives: 1, Received: 1, Deleted: 1} }, ""},
		{"a duplicate",
			func(m map[string]Counted) { m["q"] = Counted{Sent: 1, Deduplicated: 1, Received: 1, Deleted: 1} }, ""},
		{"a move", func(m map[string]Counted) { m["q"] = Counted{Sent: 4, Moved: 2, Received: 1, Deleted: 1} }, ""},
		{"an open publication", func(m map[string]Counted) { m["t"] = Counted{Sent: 3} }, ""},
		{"a publication lost in one queue", func(m map[string]Counted) { m["s"] = Counted{} }, "sent"},
		{"a publication again and again", func(m map[string]Counted) { m["s"] = Counted{Sent: 4} }, "not moved"},
		{"a refused send", func(m map[string]Counted) { m["q"] = Counted{Sent: 5, Received: 1, Deleted: 1} },
			"not moved"},
		{"a lost send", func(m map[string]Counted) { m["q"] = Counted{Sent: 1, Received: 1, Deleted: 1} }, "sent"},
		{"a lost receive", func(m map[string]Counted) { m["q"] = Counted{Sent: 2, Deleted: 1} }, "received"},
		{"less of a deleted queue", func(m map[string]Counted) { m["d"] = Counted{} }, "deleted"},
		{"too much of a deleted queue", func(m map[string]Counted) { m["d"] = Counted{Deleted: 2} }, "deleted"},
		{"a delete twice", func(m map[string]Counted) { m["q"] = Counted{Sent: 2, Received: 1, Deleted: 2} },
			"deleted"},
		{"too many empty receives",
			func(m map[string]Counted) { m["q"] = Counted{Sent: 2, Received: 1, EmptyReceives: 2, Deleted: 1} },
			"empty"},
		{"more than a receive gives", func(m map[string]Counted) { m["r"] = Counted{Received: 11} }, "received"},
	} {
		counted := fine()
		c.change(counted)
		got := h.CompareCounters(counted)
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s: %v", c.name, got)
		case c.want != "" && (len(got) == 0 || !strings.Contains(got[0].Text+got[len(got)-1].Text, c.want)):
			t.Errorf("%s: %v", c.name, got)
		}
	}
	for _, c := range []struct {
		news, feed CountedTopic
		bad        int
	}{
		{CountedTopic{1, 2}, CountedTopic{1, 1}, 0},
		{CountedTopic{1, 2}, CountedTopic{2, 2}, 0},
		{CountedTopic{1, 2}, CountedTopic{3, 3}, 1},
		{CountedTopic{0, 0}, CountedTopic{0, 0}, 2},
		{CountedTopic{1, 1}, CountedTopic{1, 1}, 1},
	} {
		if got := h.CompareTopics(map[string]CountedTopic{"news": c.news, "feed.fifo": c.feed}); len(got) != c.bad {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
