package history

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// register records a call about a resource.
func (s *scribe) register(op Operation, state string, o Outcome) *Call {
	c := s.call(op, "user/u", o, "")
	c.State = state
	return c
}

func TestResources(t *testing.T) {
	tests := map[string]struct {
		want string // rule
		tell func(*scribe)
	}{
		"made and there": {"", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Inspect, "1", Acknowledged)
		}},
		"made and not there": {"resource", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Inspect, "", Acknowledged)
		}},
		"as it was before a change": {"resource", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Change, "2", Acknowledged)
			s.register(Inspect, "1", Acknowledged)
		}},
		"there after its delete": {"resource", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Drop, "", Acknowledged)
			s.register(Inspect, "1", Acknowledged)
		}},
		"made again": {"", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Drop, "", Acknowledged)
			s.register(Create, "2", Acknowledged)
			s.register(Inspect, "2", Acknowledged)
		}},
		"made again, and as it was before": {"resource", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Drop, "", Acknowledged)
			s.register(Create, "2", Acknowledged)
			s.register(Inspect, "1", Acknowledged)
		}},
		"a change without an answer, which comes or not": {"", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Change, "2", Unknown)
			s.register(Inspect, "1", Acknowledged)
			s.register(Inspect, "2", Acknowledged)
		}},
		"a change that no call has made": {"resource", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Change, "2", Unknown)
			s.register(Inspect, "3", Acknowledged)
		}},
		"a missing policy, after its delete had no answer": {"", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Change, "2", Unknown)
			s.register(Change, "2", Refused).Reason = string(Missing)
		}},
		"a user that is refused, and must be there": {"refusal", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Change, "2", Refused).Reason = string(Missing)
		}},
		"the messages of a queue that was made again": {"", func(s *scribe) {
			s.call(Create, "std", Acknowledged, "")
			s.send("std", 1)
			s.call(Drop, "std", Acknowledged, "")
			s.call(Receive, "std", Refused, NoQueue)
			s.call(Create, "std", Acknowledged, "")
			s.send("std", 2)
			s.receive("std", 1, 2)
			s.remove("std", 1, 2)
		}},
		"lost in a queue that was made again": {"lost", func(s *scribe) {
			s.call(Create, "std", Acknowledged, "")
			s.call(Drop, "std", Acknowledged, "")
			s.call(Create, "std", Acknowledged, "")
			s.send("std", 1)
		}},
		"there before the queue was made again": {"purge", func(s *scribe) {
			s.call(Create, "std", Acknowledged, "")
			s.send("std", 1)
			s.call(Drop, "std", Acknowledged, "")
			s.call(Create, "std", Acknowledged, "")
			s.receive("std", 1, 1)
			s.remove("std", 1, 1)
		}},
		"made again, and not known": {"refusal", func(s *scribe) {
			s.call(Create, "std", Acknowledged, "")
			s.call(Drop, "std", Acknowledged, "")
			s.call(Create, "std", Acknowledged, "")
			s.call(Receive, "std", Refused, NoQueue)
		}},
		"sequence numbers begin again": {"", func(s *scribe) {
			s.call(Create, "fifo.fifo", Acknowledged, "")
			s.send("fifo.fifo", 2)
			s.call(Drop, "fifo.fifo", Acknowledged, "")
			s.call(Create, "fifo.fifo", Acknowledged, "")
			s.send("fifo.fifo", 1)
			s.receive("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 1)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &scribe{History: &History{Queues: scribeQueues}}
			s.Troubles = []*Trouble{{Kind: "kill", Ended: time.Hour}} // calls may go unanswered
			test.tell(s)
			var rules []string
			for _, v := range s.Verdict() {
				rules = append(rules, v.Rule)
			}
			if rules = slices.Compact(rules); fmt.Sprint(rules) != fmt.Sprintf("[%s]", test.want) {
				t.Errorf("found %v, want [%s]", rules, test.want)
			}
		})
	}
}
