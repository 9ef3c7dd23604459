package history

import (
	"fmt"
	"maps"
	"slices"
)

// Counted holds the counts that a service reports for a queue.
type Counted struct{ Sent, Deduplicated, Received, EmptyReceives, Deleted, Moved int64 }

// bounds are the minimum and the maximum of a possible count: the acknowledged calls, without and with those of unknown
// outcome.
type bounds struct{ least, most int64 }

func (b *bounds) add(o Outcome, n int64) {
	switch o {
	case Acknowledged:
		b.least += n
		b.most += n
	case Unknown:
		b.most += n
	}
}

func (b *bounds) join(o bounds) {
	b.least += o.least
	b.most += o.most
}

// receivedAtMost is the maximum number of messages that a receive without an answer may have returned.
const receivedAtMost = 10

// Counters holds the expected counts of queues, from the calls that were added. Its small memory does not depend on
// their number.
type Counters struct{ queues map[string]*expected }

// expected holds the expected counts of a queue.
type expected struct {
	sent, received, empty, deleted bounds
}

func (c *Counters) of(queue string) *expected {
	if c.queues == nil {
		c.queues = make(map[string]*expected)
	}
	x := c.queues[queue]
	if x == nil {
		x = &expected{}
		c.queues[queue] = x
	}
	return x
}

// Queues returns the queues that were called, in order.
func (c *Counters) Queues() []string { return slices.Sorted(maps.Keys(c.queues)) }

// Add adds calls of a history. All publications of a message to a FIFO topic must be among the
// same calls.
func (c *Counters) Add(h *History, calls []*Call) {
	for queue, b := range h.published(calls) {
		c.of(queue).sent.join(b)
	}
	for _, call := range calls {
		switch call.Operation {
		case Send:
			for _, e := range call.Entries {
				c.of(call.Queue).sent.add(e.Outcome, 1)
			}
		case Remove:
			for _, e := range call.Entries {
				c.of(call.Queue).deleted.add(e.Outcome, 1)
			}
		case Receive:
			x := c.of(call.Queue)
			x.received.add(call.Outcome, int64(len(call.Entries)))
			if call.Outcome == Unknown {
				x.received.most += receivedAtMost
			}
			if len(call.Entries) == 0 && call.Outcome != Refused {
				x.empty.most++
			}
		}
	}
}

// Compare returns the counts of a service that contradict the calls. A receive without messages changes nothing and may
// be missing; all else is exact.
//
// A message that a task has moved counts as sent to its new queue. Which messages a task has moved is unknown, so there
// is no maximum for the sends of a single queue, only for those of all queues together.
func (c *Counters) Compare(counted map[string]Counted) (out []Violation) {
	var allSent bounds
	var all Counted
	compare := func(queue, what string, got int64, b bounds) {
		if got < b.least || got > b.most {
			out = append(
				out,
				Violation{
					Rule:  "counters",
					Queue: queue,
					Text:  fmt.Sprintf("%d %s were counted, there were %d to %d", got, what, b.least, b.most),
				},
			)
		}
	}
	for _, queue := range slices.Sorted(maps.Keys(counted)) {
		got, x := counted[queue], *c.of(queue)
		allSent.join(x.sent)
		all.Sent += got.Sent + got.Deduplicated
		all.Moved += got.Moved
		x.sent.most += got.Sent // see above
		compare(queue, "messages sent or deduplicated", got.Sent+got.Deduplicated, x.sent)
		compare(queue, "messages received", got.Received, x.received)
		compare(queue, "empty receives", got.EmptyReceives, x.empty)
		compare(queue, "messages deleted", got.Deleted, x.deleted)
	}
	compare("all", "messages sent or deduplicated, and not moved", all.Sent-all.Moved, allSent)
	return out
}

// CompareCounters is Counters.Compare for all calls of a history.
func (h *History) CompareCounters(counted map[string]Counted) []Violation {
	var c Counters
	c.Add(h, h.Calls)
	return c.Compare(counted)
}

// CountedTopic holds the counts that a service reports for a topic: accepted messages, and copies of them that were
// delivered to queues or refused.
type CountedTopic struct{ Published, Copies int64 }

// CompareTopics is CompareCounters for topics. All counts are exact.
func (h *History) CompareTopics(counted map[string]CountedTopic) (out []Violation) {
	for topic, b := range h.publishedTo(h.Calls) {
		c, queues := counted[topic], int64(len(h.topic(topic).Queues))
		if c.Published < b.least || c.Published > b.most || c.Copies != c.Published*queues {
			out = append(out, Violation{Rule: "counters", Queue: topic, Text: fmt.Sprintf(
				"%d messages and %d copies were counted, there were %d to %d messages, each for %d queues",
				c.Published,
				c.Copies,
				b.least,
				b.most,
				queues,
			)})
		}
	}
	return out
}

// published returns how many messages came to each queue from topics.
func (h *History) published(calls []*Call) map[string]bounds {
	out := make(map[string]bounds)
	for topic, b := range h.publishedTo(calls) {
		for _, q := range h.topic(topic).Queues {
			sum := out[q]
			sum.join(b)
			out[q] = sum
		}
	}
	return out
}

// publishedTo returns how many messages each topic has accepted. A repeated publication to a FIFO topic is recognised,
// and counted once.
func (h *History) publishedTo(calls []*Call) map[string]bounds {
	out := make(map[string]bounds)
	outcomes := make(map[string]Outcome) // by message of a FIFO topic, of the most certain attempt
	topics := make(map[string]string)
	add := func(topic string, o Outcome) {
		b := out[topic]
		b.add(o, 1)
		out[topic] = b
	}
	for _, call := range calls {
		if call.Operation != Publish {
			continue
		}
		for _, e := range call.Entries {
			if !IsFIFO(call.Queue) {
				add(call.Queue, e.Outcome)
				continue
			}
			if before, known := outcomes[e.Name]; !known || before == Refused || e.Outcome == Acknowledged {
				outcomes[e.Name], topics[e.Name] = e.Outcome, call.Queue
			}
		}
	}
	for name, o := range outcomes {
		add(topics[name], o)
	}
	return out
}
