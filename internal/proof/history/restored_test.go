package history

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// A restored service must have everything acknowledged before the backup, and may or may not have later changes.
func TestRestored(t *testing.T) {
	for name, test := range map[string]struct {
		want  string // rules
		drain func(*scribe)
	}{
		"all before and nothing else": {"", func(s *scribe) { s.take(3, 1); s.take(4, 2) }},
		"events in between":           {"", func(s *scribe) { s.take(2, 1); s.take(3, 2); s.take(4, 2); s.take(5, 1) }},
		"one before is lost":          {"lost", func(s *scribe) { s.take(2, 1); s.take(4, 2) }},
		"one deleted before is back":  {"undead", func(s *scribe) { s.take(1, 2); s.take(3, 1); s.take(4, 2) }},
		"one sent later is there":     {"phantom", func(s *scribe) { s.take(3, 1); s.take(4, 2); s.take(6, 1) }},
		"one is there twice": {"duplicate", func(s *scribe) {
			s.receive("std", 1, 3).Entries[0].ID = "another"
			s.take(3, 1)
			s.take(4, 2)
		}},
		"a count of before is forgotten": {"count handle", func(s *scribe) { s.take(3, 1); s.take(4, 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scribe{History: &History{Queues: scribeQueues, Topics: scribeTopics, Slack: 50 * time.Millisecond}}
			s.send("std", 1, 2, 3, 4)
			s.take(1, 1)
			s.receive("std", 1, 4)
			s.wait(time.Second)
			from := s.at
			s.take(2, 1)
			s.send("std", 5)
			s.call(Purge, "std", Refused, Purging)
			to := s.at
			s.send("std", 6)
			s.take(3, 1)
			calls := len(s.Calls)
			s.Notes = []Violation{{Rule: "body", Queue: "std"}}

			restored := &scribe{History: s.Restored(from, to), at: s.at}
			restored.wait(time.Minute)
			test.drain(restored)
			var rules []string
			for _, v := range restored.Verdict() {
				rules = append(rules, v.Rule)
			}
			if rules = slices.Compact(rules); fmt.Sprint(rules) != fmt.Sprintf("[%s]", test.want) {
				t.Errorf("found %v, want [%s]", rules, test.want)
			}
			if len(s.Calls) != calls || len(s.Troubles) != 0 ||
				slices.ContainsFunc(s.Calls, func(c *Call) bool { return c.Outcome == Unknown }) {
				t.Error("the original history has changed")
			}
		})
	}
}

// take receives a message for the count-th time, and deletes it.
func (s *scribe) take(message, count int) {
	s.receive("std", count, message)
	s.remove("std", count, message)
}
