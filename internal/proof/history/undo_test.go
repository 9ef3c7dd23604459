package history

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// An undo restores everything, nothing returns without one, and if the answer of the undo is lost, either is valid.
func TestUndo(t *testing.T) {
	unanswered := func(op Operation, queue string) func(*scribe) {
		return func(s *scribe) { s.call(op, queue, Unknown, "") }
	}
	acknowledged := func(op Operation, queue string) func(*scribe) {
		return func(s *scribe) { s.call(op, queue, Acknowledged, "") }
	}
	refused := func(op Operation, queue string) func(*scribe) {
		return func(s *scribe) { s.call(op, queue, Refused, NotKept) }
	}
	none := func(*scribe) {}
	for name, test := range map[string]struct {
		queue string
		take  Operation
		undo  func(*scribe)
		back  []int // of 1 and 2, which existed
		want  string
	}{
		"a purge, and all is back":                    {"std", Purge, acknowledged(UndoPurge, "std"), []int{1, 2}, ""},
		"a purge, and one is lost":                    {"std", Purge, acknowledged(UndoPurge, "std"), []int{1}, "lost"},
		"a purge that is not undone, and one is back": {"std", Purge, none, []int{2}, "purge"},
		"a purge that is not undone":                  {"std", Purge, none, nil, ""},
		"a purge, undone without an answer":           {"std", Purge, unanswered(UndoPurge, "std"), nil, ""},
		"a purge, undone without an answer, on one of two shards": {
			"std", Purge, unanswered(UndoPurge, "std"), []int{1}, "",
		},
		"a purge, half undone without an answer": {
			"fifo.fifo", Purge, unanswered(UndoPurge, "fifo.fifo"), []int{1}, "lost",
		},
		"a purge whose undo is refused": {"std", Purge, refused(UndoPurge, "std"), nil, "refusal"},
		"a purge whose undo is refused, and one is back": {
			"std", Purge, refused(UndoPurge, "std"), []int{1}, "purge refusal",
		},
		"a purge, undone twice": {"std", Purge, func(s *scribe) {
			s.call(UndoPurge, "std", Acknowledged, "")
			s.call(UndoPurge, "std", Refused, NotKept)
		}, []int{1, 2}, ""},
		"a purge, undone while the disk was full": {"std", Purge, func(s *scribe) {
			s.Troubles = append(s.Troubles, &Trouble{Kind: FullDisk, Began: s.at})
			s.call(UndoPurge, "std", Acknowledged, "")
		}, []int{1}, ""},
		"a deletion, and all is back": {"std", Drop, acknowledged(UndoDelete, "std"), []int{1, 2}, ""},
		"a deletion, and one is lost": {"std", Drop, acknowledged(UndoDelete, "std"), []int{1}, "lost"},
		"a deletion, and one is lost of a group": {
			"fifo.fifo", Drop, acknowledged(UndoDelete, "fifo.fifo"), []int{2}, "lost",
		},
		"a deletion, and the group is out of order": {
			"fifo.fifo", Drop, acknowledged(UndoDelete, "fifo.fifo"), []int{2, 1}, "order",
		},
		"a deletion that is not undone, and the queue is there": {"std", Drop, none, []int{1, 2},
			"deleted queue purge"},
		"a deletion, undone without an answer": {"std", Drop, unanswered(UndoDelete, "std"), nil, ""},
		"a deletion, undone without an answer, and all is back": {
			"std", Drop, unanswered(UndoDelete, "std"), []int{1, 2}, "",
		},
		"a deletion, half undone without an answer": {"std", Drop, unanswered(UndoDelete, "std"), []int{1}, "lost"},
		"a deletion whose undo is refused":          {"std", Drop, refused(UndoDelete, "std"), nil, "refusal"},
		"a deletion, undone too late": {"std", Drop, func(s *scribe) {
			s.wait(undoInterval)
			s.call(UndoDelete, "std", Refused, NotKept)
		}, nil, ""},
		"the queue is gone after the undo of its deletion": {"std", Drop, func(s *scribe) {
			s.call(UndoDelete, "std", Acknowledged, "")
			s.call(Send, "std", Refused, NoQueue)
		}, []int{1, 2}, "refusal"},
		"deleted again": {"std", Drop, func(s *scribe) {
			s.call(UndoDelete, "std", Acknowledged, "")
			s.call(Drop, "std", Acknowledged, "")
		}, nil, ""},
		"the first of two deletions is undone": {"std", Drop, func(s *scribe) {
			s.call(UndoDelete, "std", Acknowledged, "")
			s.call(Drop, "std", Acknowledged, "")
		}, []int{1, 2}, "deleted queue purge"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scribe{History: &History{Queues: scribeQueues, Slack: 50 * time.Millisecond}}
			s.Troubles = []*Trouble{{Kind: "kill", Ended: time.Hour}} // calls may go unanswered
			s.call(Create, test.queue, Acknowledged, "")
			s.send(test.queue, 1, 2)
			s.call(test.take, test.queue, Acknowledged, "")
			test.undo(s)
			for _, n := range test.back {
				s.receive(test.queue, 1, n)
				s.remove(test.queue, 1, n)
			}
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

// Other calls during an undo are checked as without it.
func TestBesideUndo(t *testing.T) {
	for name, test := range map[string]struct {
		want string
		tell func(*scribe)
	}{
		"sent after a purge, and received before its undo": {"", func(s *scribe) {
			s.send("fifo.fifo", 1)
			s.call(Purge, "fifo.fifo", Acknowledged, "")
			s.send("fifo.fifo", 2)
			s.receive("fifo.fifo", 1, 2)
			s.remove("fifo.fifo", 1, 2)
			s.call(UndoPurge, "fifo.fifo", Acknowledged, "")
			s.receive("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 1)
		}},
		"sent after a purge, and received too early after its undo": {"order", func(s *scribe) {
			s.send("fifo.fifo", 1)
			s.call(Purge, "fifo.fifo", Acknowledged, "")
			s.send("fifo.fifo", 2)
			s.call(UndoPurge, "fifo.fifo", Acknowledged, "")
			s.receive("fifo.fifo", 1, 2)
			s.remove("fifo.fifo", 1, 2)
			s.receive("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 1)
		}},
		"sent again after an undo": {"duplicate", func(s *scribe) {
			s.send("fifo.fifo", 1)
			s.call(Purge, "fifo.fifo", Acknowledged, "")
			s.call(UndoPurge, "fifo.fifo", Acknowledged, "")
			e := s.send("fifo.fifo", 1).Entries[0]
			e.ID, e.Sequence = "id2", fmt.Sprintf("%020d", 2)
			s.receive("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 1)
		}},
		"deleted by its consumer before an undo": {"undead", func(s *scribe) {
			s.send("std", 1)
			s.receive("std", 1, 1)
			s.call(Purge, "std", Acknowledged, "")
			s.remove("std", 1, 1)
			s.call(UndoPurge, "std", Acknowledged, "")
			s.wait(time.Second)
			s.receive("std", 2, 1)
		}},
		"in flight beside a deletion and its undo": {"hold", func(s *scribe) {
			s.call(Create, "std", Acknowledged, "")
			s.send("std", 1)
			s.receive("std", 1, 1)
			s.call(Drop, "std", Acknowledged, "")
			s.call(UndoDelete, "std", Acknowledged, "")
			s.receive("std", 2, 1)
			s.remove("std", 2, 1)
		}},
		"sequence numbers begin again after an undo": {"sequence", func(s *scribe) {
			s.call(Create, "fifo.fifo", Acknowledged, "")
			s.send("fifo.fifo", 2)
			s.call(Drop, "fifo.fifo", Acknowledged, "")
			s.call(UndoDelete, "fifo.fifo", Acknowledged, "")
			s.send("fifo.fifo", 1)
			s.receive("fifo.fifo", 1, 1, 2)
			s.remove("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 2)
		}},
		"undone a second time, with an older queue of the name": {"", func(s *scribe) {
			s.Troubles = []*Trouble{{Kind: "kill", Ended: time.Hour}}
			s.call(Drop, "std", Acknowledged, "")
			s.call(UndoDelete, "std", Unknown, "")
			s.call(UndoDelete, "std", Refused, Exists)
		}},
		"a queue that is in the way of an undo, and that no call has made": {"refusal", func(s *scribe) {
			s.call(Drop, "std", Acknowledged, "")
			s.call(UndoDelete, "std", Refused, Exists)
		}},
		"attributes and tags are back": {"", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Drop, "", Acknowledged)
			s.register(UndoDelete, "1", Acknowledged)
			s.register(Inspect, "1", Acknowledged)
		}},
		"attributes and tags are not back": {"resource", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Drop, "", Acknowledged)
			s.register(UndoDelete, "1", Acknowledged)
			s.register(Inspect, "2", Acknowledged)
		}},
		"the queue is not back": {"resource", func(s *scribe) {
			s.register(Create, "1", Acknowledged)
			s.register(Drop, "", Acknowledged)
			s.register(UndoDelete, "1", Acknowledged)
			s.register(Inspect, "", Acknowledged)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scribe{History: &History{Queues: scribeQueues, Slack: 50 * time.Millisecond}}
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
