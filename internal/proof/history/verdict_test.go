package history

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// scribe writes a history. Each call takes a millisecond and follows the previous one; messages are numbered in the
// order of their sends.
type scribe struct {
	*History
	at time.Duration
}

func (s *scribe) wait(d time.Duration) { s.at += d }

func (s *scribe) call(op Operation, queue string, o Outcome, reason Refusal) *Call {
	s.at += 2 * time.Millisecond
	c := &Call{
		Worker: "w", Operation: op, Queue: queue, Began: s.at - time.Millisecond, Ended: s.at, Outcome: o,
		Reason: string(reason),
	}
	s.Calls = append(s.Calls, c)
	return c
}

func (s *scribe) about(c *Call, n int, o Outcome) *Entry {
	e := &Entry{Call: c, Name: fmt.Sprintf("%s/%d", c.Queue, n), ID: fmt.Sprint("id", n), Outcome: o, Reason: c.Reason}
	if IsFIFO(c.Queue) {
		e.Group, e.Sequence = "g", fmt.Sprintf("%020d", n)
	}
	c.Entries = append(c.Entries, e)
	return e
}

func (s *scribe) send(queue string, messages ...int) *Call {
	c := s.call(Send, queue, Acknowledged, "")
	for _, n := range messages {
		s.about(c, n, Acknowledged)
	}
	return c
}

// receive delivers messages, each for the count-th time.
func (s *scribe) receive(queue string, count int, messages ...int) *Call {
	c := s.call(Receive, queue, Acknowledged, "")
	c.Timeout = time.Second
	for _, n := range messages {
		e := s.about(c, n, Acknowledged)
		e.Receives, e.Handle = count, fmt.Sprint(n, "/", count)
	}
	return c
}

// use deletes a message, or changes its visibility, with the handle of its
// count-th receive.
func (s *scribe) use(op Operation, queue string, count, message int, o Outcome, reason Refusal) *Call {
	c := s.call(op, queue, Acknowledged, "")
	e := s.about(c, message, o)
	e.Handle, e.Reason = fmt.Sprint(message, "/", count), string(reason)
	return c
}

func (s *scribe) remove(queue string, count, message int) {
	s.use(Remove, queue, count, message, Acknowledged, "")
}

// publish publishes messages to a topic.
func (s *scribe) publish(topic string, messages ...int) *Call {
	c := s.send(topic, messages...)
	c.Operation = Publish
	return c
}

// receiveCopies is receive for copies of messages of a topic, which have the queue's ids and sequence numbers.
func (s *scribe) receiveCopies(topic, queue string, count int, messages ...int) *Call {
	c := s.receive(queue, count, messages...)
	for i, n := range messages {
		copied(c.Entries[i], topic, n)
	}
	return c
}

func (s *scribe) removeCopy(topic, queue string, count, n int) {
	copied(s.use(Remove, queue, count, n, Acknowledged, "").Entries[0], topic, n)
}

func copied(e *Entry, topic string, n int) {
	e.Name = fmt.Sprintf("%s/%d", topic, n)
	e.ID = fmt.Sprint("copy", n)
	if e.Sequence != "" {
		e.Sequence = fmt.Sprintf("%020d", 500+n)
	}
}

// takeCopies receives copies and deletes them.
func (s *scribe) takeCopies(topic, queue string, messages ...int) {
	for _, n := range messages {
		s.receiveCopies(topic, queue, 1, n)
		s.removeCopy(topic, queue, 1, n)
	}
}

var scribeTopics = []Topic{{"news", []string{"std", "work"}}, {"feed.fifo", []string{"fifo.fifo", "wide.fifo", "std"}}}

var scribeQueues = []Queue{
	{Name: "std"}, {Name: "fifo.fifo"}, {Name: "wide.fifo", Scoped: true}, {Name: "work", Dead: "dead", MaxReceives: 2},
	{Name: "dead"},
}

// A checker that never finds a violation is useless: here each promise is broken once.
func TestVerdictFindsFaults(t *testing.T) {
	tests := map[string]struct {
		want string // rule
		tell func(*scribe)
	}{
		"nothing wrong": {"", func(s *scribe) {
			s.send("fifo.fifo", 1, 2, 3)
			s.receive("fifo.fifo", 1, 1, 2)
			s.remove("fifo.fifo", 1, 1)
			s.use(Hide, "fifo.fifo", 1, 2, Acknowledged, "")
			s.receive("fifo.fifo", 2, 2, 3)
			s.remove("fifo.fifo", 2, 2)
			s.wait(time.Second)
			s.use(Remove, "fifo.fifo", 2, 3, Refused, Expired)
			s.receive("fifo.fifo", 3, 3)
			s.remove("fifo.fifo", 3, 3)
		}},
		"lost": {"lost", func(s *scribe) { s.send("std", 1) }},
		"lost after a refused delete": {"lost", func(s *scribe) {
			s.send("fifo.fifo", 1)
			s.receive("fifo.fifo", 1, 1)
			s.wait(time.Second)
			s.use(Remove, "fifo.fifo", 1, 1, Refused, Expired)
		}},
		"it was never sent": {"phantom", func(s *scribe) { s.receive("std", 1, 1) }},
		"received after its delete": {"undead", func(s *scribe) {
			s.send("std", 1)
			s.receive("std", 1, 1)
			s.remove("std", 1, 1)
			s.wait(time.Second)
			s.receive("std", 2, 1)
		}},
		"in the dead-letter queue after its delete": {"undead", func(s *scribe) {
			s.send("work", 1)
			s.receive("work", 2, 1)
			s.remove("work", 2, 1)
			s.wait(time.Second)
			s.receive("dead", 3, 1).Entries[0].Name = "work/1"
		}},
		"received before its delay was over": {"early", func(s *scribe) {
			s.send("std", 1).Entries[0].Delay = time.Second
			s.receive("std", 1, 1)
			s.remove("std", 1, 1)
		}},
		"received while in flight": {"hold", func(s *scribe) {
			s.send("std", 1)
			s.receive("std", 1, 1)
			s.receive("std", 2, 1)
			s.remove("std", 2, 1)
		}},
		"received while kept invisible": {"hold", func(s *scribe) {
			s.send("std", 1)
			s.receive("std", 1, 1)
			s.use(Hide, "std", 1, 1, Acknowledged, "").Timeout = time.Minute
			s.wait(time.Second)
			s.receive("std", 2, 1)
			s.remove("std", 2, 1)
		}},
		"count goes down": {"count", func(s *scribe) {
			s.send("std", 1)
			s.receive("std", 2, 1)
			s.wait(time.Second)
			s.receive("std", 1, 1)
			s.remove("std", 1, 1)
		}},
		"a receipt handle comes twice": {"handle", func(s *scribe) {
			s.send("std", 1)
			s.receive("std", 1, 1)
			s.wait(time.Second)
			s.receive("std", 2, 1).Entries[0].Handle = "1/1"
			s.remove("std", 1, 1)
		}},
		"overtaken": {"order", func(s *scribe) {
			s.send("fifo.fifo", 1, 2)
			s.receive("fifo.fifo", 1, 2)
			s.remove("fifo.fifo", 1, 2)
			s.receive("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 1)
		}},
		"two of a group in flight": {"order", func(s *scribe) {
			s.send("fifo.fifo", 1, 2)
			s.receive("fifo.fifo", 1, 1)
			s.receive("fifo.fifo", 1, 2)
			s.remove("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 2)
		}},
		"the first of a group returned early": {"", func(s *scribe) {
			s.send("fifo.fifo", 1, 2)
			s.receive("fifo.fifo", 1, 1, 2)
			s.use(Hide, "fifo.fifo", 1, 1, Acknowledged, "")
			s.receive("fifo.fifo", 2, 1)
			s.remove("fifo.fifo", 1, 2)
			s.remove("fifo.fifo", 2, 1)
		}},
		"the second of a group returned early": {"order", func(s *scribe) {
			s.send("fifo.fifo", 1, 2)
			s.receive("fifo.fifo", 1, 1, 2)
			s.use(Hide, "fifo.fifo", 1, 2, Acknowledged, "")
			s.receive("fifo.fifo", 2, 2)
			s.remove("fifo.fifo", 2, 2)
			s.remove("fifo.fifo", 1, 1)
		}},
		"out of order in an answer": {"order", func(s *scribe) {
			s.send("fifo.fifo", 1, 2)
			s.receive("fifo.fifo", 1, 2, 1)
			s.remove("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 2)
		}},
		"sent twice, stored twice": {"duplicate", func(s *scribe) {
			s.send("fifo.fifo", 1)
			e := s.send("fifo.fifo", 1).Entries[0]
			e.ID, e.Sequence = "id2", "2"
			s.receive("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 1)
		}},
		"stored in another order than sent": {"sequence", func(s *scribe) {
			s.send("fifo.fifo", 2)
			s.send("fifo.fifo", 1)
			s.receive("fifo.fifo", 1, 1, 2)
			s.remove("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 2)
		}},
		"received too often": {"redrive", func(s *scribe) {
			s.send("work", 1)
			s.receive("work", 3, 1)
			s.remove("work", 3, 1)
		}},
		"moved too early": {"redrive", func(s *scribe) {
			s.send("work", 1)
			s.receive("work", 1, 1)
			s.wait(time.Second)
			s.receive("dead", 2, 1).Entries[0].Name = "work/1"
			s.use(Remove, "dead", 2, 1, Acknowledged, "").Entries[0].Name = "work/1"
		}},
		"there after a purge": {"purge", func(s *scribe) {
			s.send("std", 1)
			s.call(Purge, "std", Acknowledged, "")
			s.receive("std", 1, 1)
			s.remove("std", 1, 1)
		}},
		"there after its queue was deleted": {"deleted queue", func(s *scribe) {
			s.call(Drop, "std", Acknowledged, "")
			s.receive("std", 1)
		}},
		"the queue is lost": {"refusal", func(s *scribe) {
			s.call(Create, "std", Acknowledged, "")
			s.call(Receive, "std", Refused, NoQueue)
		}},
		"a good receipt handle is refused": {"refusal", func(s *scribe) {
			s.send("fifo.fifo", 1)
			s.receive("fifo.fifo", 1, 1)
			s.use(Remove, "fifo.fifo", 1, 1, Refused, Expired)
			s.wait(time.Second)
			s.receive("fifo.fifo", 2, 1)
			s.remove("fifo.fifo", 2, 1)
		}},
		"no answer from the living": {"answer", func(s *scribe) { s.call(Send, "std", Unknown, "") }},
		"no answer in trouble": {"", func(s *scribe) {
			s.Troubles = []*Trouble{{Kind: "kill", Began: s.at, Ended: s.at + time.Second}}
			s.call(Send, "std", Unknown, "")
		}},
		"no answer in trouble that lasts": {"", func(s *scribe) {
			s.Troubles = []*Trouble{{Kind: "kill", Began: s.at}}
			s.wait(time.Hour)
			s.call(Send, "std", Unknown, "")
		}},
		"no answer soon after trouble": {"", func(s *scribe) {
			s.Grace = time.Second
			s.Troubles = []*Trouble{{Kind: "kill", Began: s.at, Ended: s.at + time.Millisecond}}
			s.wait(900 * time.Millisecond)
			s.call(Send, "std", Unknown, "")
		}},
		"no answer long after trouble": {"answer", func(s *scribe) {
			s.Grace = time.Second
			s.Troubles = []*Trouble{{Kind: "kill", Began: s.at, Ended: s.at + time.Millisecond}}
			s.wait(2 * time.Second)
			s.call(Send, "std", Unknown, "")
		}},
		"sent without an answer, and executed": {"", func(s *scribe) {
			s.Troubles = []*Trouble{{Kind: "kill", Began: s.at}}
			s.about(s.call(Send, "std", Unknown, ""), 1, Unknown)
			s.receive("std", 1, 1)
			s.remove("std", 1, 1)
		}},
		"refused, and executed": {"phantom", func(s *scribe) {
			s.about(s.call(Send, "std", Refused, Purging), 1, Refused)
			s.call(Purge, "std", Acknowledged, "").Began = 0
			s.receive("std", 1, 1)
			s.remove("std", 1, 1)
		}},
		"deleted without an answer, and back": {"", func(s *scribe) {
			s.Troubles = []*Trouble{{Kind: "kill", Began: s.at}}
			s.send("fifo.fifo", 1)
			s.receive("fifo.fifo", 1, 1)
			s.use(Remove, "fifo.fifo", 1, 1, Unknown, "").Outcome = Unknown
			s.wait(time.Second)
			s.receive("fifo.fifo", 2, 1)
			s.remove("fifo.fifo", 2, 1)
		}},
		"deleted without an answer, and then with one, and back": {"undead", func(s *scribe) {
			s.Troubles = []*Trouble{{Kind: "kill", Began: s.at}}
			s.send("fifo.fifo", 1)
			s.receive("fifo.fifo", 1, 1)
			s.use(Remove, "fifo.fifo", 1, 1, Unknown, "").Outcome = Unknown
			s.remove("fifo.fifo", 1, 1)
			s.wait(time.Second)
			s.receive("fifo.fifo", 2, 1)
		}},
		"in two hands, by a clock that is off": {"", func(s *scribe) {
			s.Slack = time.Second
			s.send("std", 1)
			s.receive("std", 1, 1).Timeout = 2 * time.Second
			s.wait(time.Second)
			s.receive("std", 2, 1)
			s.remove("std", 2, 1)
		}},
		"in two hands, by more than a clock": {"hold", func(s *scribe) {
			s.Slack = time.Second
			s.send("std", 1)
			s.receive("std", 1, 1).Timeout = 3 * time.Second
			s.wait(time.Second)
			s.receive("std", 2, 1)
			s.remove("std", 2, 1)
		}},
		"received by two at once": {"hold", func(s *scribe) {
			s.send("fifo.fifo", 1)
			first := s.receive("fifo.fifo", 1, 1)
			second := s.receive("fifo.fifo", 2, 1)
			first.Began, first.Ended = second.Began, second.Ended
			s.remove("fifo.fifo", 2, 1)
		}},
		"groups of their own": {"", func(s *scribe) {
			s.send("wide.fifo", 2).Entries[0].Group = "other"
			s.send("wide.fifo", 1)
			s.receive("wide.fifo", 1, 1)
			s.receive("wide.fifo", 1, 2).Entries[0].Group = "other"
			s.remove("wide.fifo", 1, 1)
			s.remove("wide.fifo", 1, 2)
		}},
		"one group, in another order than sent": {"sequence", func(s *scribe) {
			s.send("wide.fifo", 2)
			s.send("wide.fifo", 1)
			s.receive("wide.fifo", 1, 1, 2)
			s.remove("wide.fifo", 1, 1)
			s.remove("wide.fifo", 1, 2)
		}},
		"out of order in a batch": {"sequence", func(s *scribe) {
			s.send("fifo.fifo", 2, 1)
			s.receive("fifo.fifo", 1, 1, 2)
			s.remove("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 2)
		}},
		"published and received": {"", func(s *scribe) {
			s.publish("news", 1)
			s.publish("feed.fifo", 2, 3)
			s.takeCopies("news", "std", 1)
			s.receiveCopies("news", "dead", 3, 1) // by way of work
			s.removeCopy("news", "dead", 3, 1)
			for _, queue := range scribeTopics[1].Queues {
				s.takeCopies("feed.fifo", queue, 2, 3)
			}
		}},
		"published and lost in one of the queues": {"lost", func(s *scribe) {
			s.publish("news", 1)
			s.takeCopies("news", "std", 1)
		}},
		"published to one queue, and in another": {"phantom", func(s *scribe) {
			s.publish("news", 1)
			s.takeCopies("news", "std", 1)
			s.takeCopies("news", "work", 1)
			s.takeCopies("news", "fifo.fifo", 1)
		}},
		"a copy that comes twice": {"duplicate undead", func(s *scribe) {
			s.publish("news", 1)
			s.takeCopies("news", "std", 1)
			s.takeCopies("news", "work", 1)
			s.receiveCopies("news", "std", 1, 1).Entries[0].ID = "another"
			s.use(Remove, "std", 1, 1, Acknowledged, "").Entries[0].Name = "news/1"
			s.Calls[len(s.Calls)-1].Entries[0].ID = "another"
		}},
		"published twice": {"duplicate", func(s *scribe) {
			s.publish("feed.fifo", 2)
			s.publish("feed.fifo", 2).Entries[0].Sequence = fmt.Sprintf("%020d", 3)
			for _, queue := range scribeTopics[1].Queues {
				s.takeCopies("feed.fifo", queue, 2)
			}
		}},
		"published out of order": {"sequence", func(s *scribe) {
			s.publish("feed.fifo", 2)
			s.publish("feed.fifo", 1)
			for _, queue := range scribeTopics[1].Queues[:2] {
				s.receiveCopies("feed.fifo", queue, 1, 2).Entries[0].Sequence = fmt.Sprintf("%020d", 1)
				s.removeCopy("feed.fifo", queue, 1, 2)
			}
			for _, queue := range scribeTopics[1].Queues {
				s.takeCopies("feed.fifo", queue, 1)
			}
			s.takeCopies("feed.fifo", "std", 2)
		}},
		"out of order in a queue": {"order sequence", func(s *scribe) {
			s.publish("feed.fifo", 1)
			s.publish("feed.fifo", 2)
			for _, queue := range scribeTopics[1].Queues {
				s.takeCopies("feed.fifo", queue, 1)
			}
			s.receiveCopies("feed.fifo", "fifo.fifo", 1, 2).Entries[0].Sequence = fmt.Sprintf("%020d", 100)
			s.removeCopy("feed.fifo", "fifo.fifo", 1, 2)
			s.takeCopies("feed.fifo", "wide.fifo", 2)
			s.takeCopies("feed.fifo", "std", 2)
		}},
		"out of order in a queue, of a batch": {"order sequence", func(s *scribe) {
			s.publish("feed.fifo", 1, 2)
			for _, queue := range scribeTopics[1].Queues {
				s.takeCopies("feed.fifo", queue, 1)
			}
			s.receiveCopies("feed.fifo", "fifo.fifo", 1, 2).Entries[0].Sequence = fmt.Sprintf("%020d", 100)
			s.removeCopy("feed.fifo", "fifo.fifo", 1, 2)
			s.takeCopies("feed.fifo", "wide.fifo", 2)
			s.takeCopies("feed.fifo", "std", 2)
		}},
		"two receives disagree": {"identity", func(s *scribe) {
			s.send("work", 1)
			s.receive("work", 1, 1)
			s.wait(time.Second)
			s.receive("work", 2, 1).Entries[0].Sequence = "7"
			s.remove("work", 2, 1)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &scribe{History: &History{Queues: scribeQueues, Topics: scribeTopics, Slack: 50 * time.Millisecond}}
			test.tell(s)
			var rules []string
			for _, v := range s.Verdict() {
				rules = append(rules, v.Rule)
			}
			rules = slices.Compact(rules)
			if fmt.Sprint(rules) != fmt.Sprintf("[%s]", test.want) {
				t.Errorf("found %v, want [%s]", rules, test.want)
			}
		})
	}
}

// A file holds everything that the verdict needs.
func TestFile(t *testing.T) {
	s := &scribe{
		History: &History{Queues: scribeQueues, Topics: scribeTopics, Slack: 50 * time.Millisecond, Grace: time.Minute},
	}
	s.Troubles = []*Trouble{{Kind: "kill", Words: "a", Began: 1, Ended: 2}, {Kind: "pause", Began: 3}}
	s.Notes = []Violation{{Rule: "body", Queue: "std", Name: "std/1", Text: "damaged"}}
	s.send("fifo.fifo", 1, 2)
	s.receive("fifo.fifo", 1, 2)
	s.use(Remove, "fifo.fifo", 1, 2, Refused, Expired)
	s.call(Send, "std", Unknown, "")

	var file bytes.Buffer
	w := NewWriter(&file, s.History)
	w.Trouble(&Trouble{Kind: "kill", Words: "a", Began: 1})
	for _, c := range s.Calls {
		w.Call(c)
	}
	for _, x := range s.Troubles {
		w.Trouble(x)
	}
	for _, v := range s.Notes {
		w.Note(v)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, s.History) {
		t.Errorf("read %+v, want %+v", again, s.History)
	}
	if want, got := fmt.Sprint(s.Verdict()), fmt.Sprint(again.Verdict()); got != want || len(s.Verdict()) < 3 {
		t.Errorf("the verdict is %s, was %s", got, want)
	}
	if want, got := s.Tell("fifo.fifo/2"), again.Tell("fifo.fifo/2"); got != want || strings.Count(got, "\n") != 5 {
		t.Errorf("the story is\n%swas\n%s", got, want)
	}
}
