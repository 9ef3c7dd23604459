package history

import "fmt"

// Counted is what a service says that it has counted of a queue.
type Counted struct{ Sent, Deduplicated, Received, EmptyReceives, Deleted, Moved int64 }

// bounds are the least and the most that can have been counted: what was acknowledged,
// and that together with what was left open.
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

// receivedAtMost is how many messages a receive without an answer may have been given.
const receivedAtMost = 10

// CompareCounters returns where what a service has counted cannot be what has happened. A
// receive that gave nothing changes nothing and may be forgotten; all else is exact.
//
// A message that a task has moved counts as sent where it has come to. Which messages a
// task has moved is not known, so that there is no most for a queue's sends, but for those
// of all queues together.
func (h *History) CompareCounters(counted map[string]Counted) (out []Violation) {
	var sent, allSent bounds
	var all Counted
	published := h.published()
	compare := func(queue, what string, got int64, b bounds) {
		if got < b.least || got > b.most {
			out = append(out, Violation{Rule: "counters", Queue: queue, Text: fmt.Sprintf("%d %s were counted, there were %d to %d", got, what, b.least, b.most)})
		}
	}
	for queue, c := range counted {
		var received, empty, deleted bounds
		sent = published[queue]
		for _, call := range h.Calls {
			if call.Queue != queue {
				continue
			}
			switch call.Operation {
			case Send:
				for _, e := range call.Entries {
					sent.add(e.Outcome, 1)
				}
			case Remove:
				for _, e := range call.Entries {
					deleted.add(e.Outcome, 1)
				}
			case Receive:
				received.add(call.Outcome, int64(len(call.Entries)))
				if call.Outcome == Unknown {
					received.most += receivedAtMost
				}
				if len(call.Entries) == 0 && call.Outcome != Refused {
					empty.most++
				}
			}
		}
		allSent.least += sent.least
		allSent.most += sent.most
		all.Sent += c.Sent + c.Deduplicated
		all.Moved += c.Moved
		sent.most = sent.most + c.Sent // see above
		compare(queue, "messages sent or deduplicated", c.Sent+c.Deduplicated, sent)
		compare(queue, "messages received", c.Received, received)
		compare(queue, "empty receives", c.EmptyReceives, empty)
		compare(queue, "messages deleted", c.Deleted, deleted)
	}
	compare("all", "messages sent or deduplicated, and not moved", all.Sent-all.Moved, allSent)
	return out
}

// published returns how many messages came to each queue from topics. What is published to a
// FIFO topic again is known there, and does not come to its queues.
func (h *History) published() map[string]bounds {
	out := make(map[string]bounds)
	outcomes := make(map[string]Outcome) // by message of a FIFO topic, of the most certain attempt
	queues := make(map[string][]string)
	add := func(to []string, o Outcome) {
		for _, q := range to {
			b := out[q]
			b.add(o, 1)
			out[q] = b
		}
	}
	for _, call := range h.Calls {
		if call.Operation != Publish {
			continue
		}
		to := h.topic(call.Queue).Queues
		for _, e := range call.Entries {
			if !IsFIFO(call.Queue) {
				add(to, e.Outcome)
				continue
			}
			if before, known := outcomes[e.Name]; !known || before == Refused || e.Outcome == Acknowledged {
				outcomes[e.Name], queues[e.Name] = e.Outcome, to
			}
		}
	}
	for name, o := range outcomes {
		add(queues[name], o)
	}
	return out
}
