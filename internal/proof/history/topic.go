package history

import (
	"slices"
	"strings"
)

// A publication to a topic makes one message in each of its queues, with the same text. To the rules these are messages
// of their own: the copy of a message m for the queue q is called m@q, wherever it has been moved to from there.

const copyMark = "@"

// splitCopy returns the name of the message that name is a copy of, or is, and its queue.
func splitCopy(name string) (message, queue string) {
	message, queue, _ = strings.Cut(name, copyMark)
	return message, queue
}

// topic returns the topic of that name, or nil.
func (h *History) topic(name string) *Topic {
	i := slices.IndexFunc(h.Topics, func(t Topic) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &h.Topics[i]
}

// origin returns the queue that a message of a topic was published to and that is now in
// queue, which may be the dead-letter queue of that.
func (h *History) origin(queue string) string {
	for _, q := range h.Queues {
		if q.Dead == queue {
			return q.Name
		}
	}
	return queue
}

// copies returns c with the names of copies in the place of those of messages of topics.
func (h *History) copies(c *Call) *Call {
	published := func(e *Entry) bool { return h.topic(SentTo(e.Name)) != nil }
	if c.Operation == Publish || !slices.ContainsFunc(c.Entries, published) {
		return c
	}
	return renamed(c, c.Queue, func(e *Entry) {
		if published(e) {
			e.Name += copyMark + h.origin(c.Queue)
		}
	})
}

// deliveries returns what a call to Publish means for each queue of the topic: the copies that it makes there. The
// queue gives them ids and sequence numbers, which the publisher does not learn.
func (h *History) deliveries(c *Call) (out []*Call) {
	for _, q := range h.topic(c.Queue).Queues {
		out = append(out, renamed(c, q, func(e *Entry) {
			e.Name += copyMark + q
			e.ID, e.Sequence = "", ""
		}))
	}
	return out
}

// renamed returns a copy of c for a queue, with changed entries.
func renamed(c *Call, queue string, change func(*Entry)) *Call {
	d := *c
	d.Queue, d.Entries = queue, nil
	for _, e := range c.Entries {
		same := *e
		same.Call = &d
		change(&same)
		d.Entries = append(d.Entries, &same)
	}
	return &d
}
