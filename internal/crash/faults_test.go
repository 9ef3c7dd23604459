package crash

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// scribe writes a history by hand. Calls take a millisecond and follow one after
// the other; messages are numbered in the order of their sending.
type scribe struct {
	*history
	at time.Duration
}

func (s *scribe) wait(d time.Duration) { s.at += d }

func (s *scribe) call(op operation, queue string, o outcome, reason refusal) *call {
	s.at += 2 * time.Millisecond
	c := &call{worker: "w", operation: op, queue: queue, began: s.at - time.Millisecond, ended: s.at, outcome: o, reason: string(reason)}
	s.calls = append(s.calls, c)
	return c
}

func (s *scribe) about(c *call, n int, o outcome) *entry {
	e := &entry{call: c, name: fmt.Sprintf("%s/%d", c.queue, n), id: fmt.Sprint("id", n), outcome: o, reason: c.reason}
	if c.queue == "fifo.fifo" {
		e.group, e.sequence = "g", fmt.Sprintf("%020d", n)
	}
	c.entries = append(c.entries, e)
	return e
}

func (s *scribe) send(queue string, messages ...int) *call {
	c := s.call(opSend, queue, acknowledged, "")
	for _, n := range messages {
		s.about(c, n, acknowledged)
	}
	return c
}

// receive hands out messages, each for the count-th time.
func (s *scribe) receive(queue string, count int, messages ...int) *call {
	c := s.call(opReceive, queue, acknowledged, "")
	c.timeout = time.Second
	for _, n := range messages {
		e := s.about(c, n, acknowledged)
		e.receives, e.handle = count, fmt.Sprint(n, "/", count)
	}
	return c
}

// settle deletes a message, or changes its visibility, with the handle of its
// count-th receive.
func (s *scribe) settle(op operation, queue string, count, message int, o outcome, reason refusal) *call {
	c := s.call(op, queue, acknowledged, "")
	e := s.about(c, message, o)
	e.handle, e.reason = fmt.Sprint(message, "/", count), string(reason)
	return c
}

func (s *scribe) remove(queue string, count, message int) {
	s.settle(opRemove, queue, count, message, acknowledged, "")
}

var scribeQueues = []spec{
	{name: "std"}, {name: "fifo.fifo"}, {name: "work", dead: "dead", maxReceives: 2}, {name: "dead"},
}

// A judge who finds everybody innocent is of no use: each promise is broken once.
func TestVerdictFindsFaults(t *testing.T) {
	tests := map[string]struct {
		want string // rule
		tell func(*scribe)
	}{
		"nothing wrong": {"", func(s *scribe) {
			s.send("fifo.fifo", 1, 2, 3)
			s.receive("fifo.fifo", 1, 1, 2)
			s.remove("fifo.fifo", 1, 1)
			s.settle(opHide, "fifo.fifo", 1, 2, acknowledged, "")
			s.receive("fifo.fifo", 2, 2, 3)
			s.remove("fifo.fifo", 2, 2)
			s.wait(time.Second)
			s.settle(opRemove, "fifo.fifo", 2, 3, refused, refusedExpired)
			s.receive("fifo.fifo", 3, 3)
			s.remove("fifo.fifo", 3, 3)
		}},
		"lost": {"lost", func(s *scribe) { s.send("std", 1) }},
		"lost after a refused delete": {"lost", func(s *scribe) {
			s.send("fifo.fifo", 1)
			s.receive("fifo.fifo", 1, 1)
			s.wait(time.Second)
			s.settle(opRemove, "fifo.fifo", 1, 1, refused, refusedExpired)
		}},
		"nobody sent it": {"phantom", func(s *scribe) { s.receive("std", 1, 1) }},
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
			s.receive("dead", 3, 1).entries[0].name = "work/1"
		}},
		"received before its delay was over": {"early", func(s *scribe) {
			s.send("std", 1).entries[0].delay = time.Second
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
			s.settle(opHide, "std", 1, 1, acknowledged, "").timeout = time.Minute
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
			s.receive("std", 2, 1).entries[0].handle = "1/1"
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
		"out of order in an answer": {"order", func(s *scribe) {
			s.send("fifo.fifo", 1, 2)
			s.receive("fifo.fifo", 1, 2, 1)
			s.remove("fifo.fifo", 1, 1)
			s.remove("fifo.fifo", 1, 2)
		}},
		"sent twice, stored twice": {"duplicate", func(s *scribe) {
			s.send("fifo.fifo", 1)
			e := s.send("fifo.fifo", 1).entries[0]
			e.id, e.sequence = "id2", "2"
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
			s.receive("dead", 2, 1).entries[0].name = "work/1"
			s.settle(opRemove, "dead", 2, 1, acknowledged, "").entries[0].name = "work/1"
		}},
		"there after a purge": {"purge", func(s *scribe) {
			s.send("std", 1)
			s.call(opPurge, "std", acknowledged, "")
			s.receive("std", 1, 1)
			s.remove("std", 1, 1)
		}},
		"there after its queue was deleted": {"deleted queue", func(s *scribe) {
			s.call(opDrop, "std", acknowledged, "")
			s.receive("std", 1)
		}},
		"the queue is lost": {"refusal", func(s *scribe) {
			s.call(opCreate, "std", acknowledged, "")
			s.call(opReceive, "std", refused, refusedNoQueue)
		}},
		"a good receipt handle is refused": {"refusal", func(s *scribe) {
			s.send("fifo.fifo", 1)
			s.receive("fifo.fifo", 1, 1)
			s.settle(opRemove, "fifo.fifo", 1, 1, refused, refusedExpired)
			s.wait(time.Second)
			s.receive("fifo.fifo", 2, 1)
			s.remove("fifo.fifo", 2, 1)
		}},
		"no answer from the living": {"answer", func(s *scribe) { s.call(opSend, "std", unknown, "") }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &scribe{history: newHistory(new(leapClock))}
			test.tell(s)
			var rules []string
			for _, v := range s.verdict(scribeQueues) {
				rules = append(rules, v.rule)
			}
			rules = slices.Compact(rules)
			if fmt.Sprint(rules) != fmt.Sprintf("[%s]", test.want) {
				t.Errorf("found %v, want [%s]", rules, test.want)
			}
		})
	}
}
