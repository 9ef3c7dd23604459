package history

import (
	"cmp"
	"slices"
	"time"
)

// judgeGroup judges the receives of a FIFO group: a message is received when all before it are gone or are received
// with it. One that has become visible again is received even while later ones are in flight, as in SQS.
func (j *judge) judgeGroup(all []*Entry) {
	slices.SortStableFunc(all, func(a, b *Entry) int { return cmp.Compare(a.Sequence, b.Sequence) })
	// reach is until when anything received so far, in order, mattered to others.
	reach := make([]time.Duration, len(all))
	for i, r := range all {
		reach[i] = r.Began + r.Timeout
		if i > 0 {
			reach[i] = max(reach[i], reach[i-1])
		}
		for k := i - 1; k >= 0 && reach[k] > r.Ended; k-- {
			if !j.inOrder(all[k], r) {
				break
			}
		}
	}
}

// inOrder compares the receive r with x, a receive of an earlier message of the
// group or another one of the same.
func (j *judge) inOrder(x, r *Entry) bool {
	switch {
	case x.ID == r.ID:
		return true
	case x.Call == r.Call:
		if slices.Index(x.Entries, x) > slices.Index(r.Entries, r) {
			j.broken("order", r, "received before %s in the same answer", x.Name)
			return false
		}
		return true
	case slices.ContainsFunc(r.Entries, func(e *Entry) bool { return e.ID == x.ID }):
		return true // x was received again, after it was given back
	case r.before(x.Call) && j.mayHaveBeenAway(x, r):
		return true
	case r.before(x.Call):
		j.broken("order", r, "received although %s was before it and not gone", x.Name)
		return false
	}
	all := j.tracks[track{x.Queue, x.ID}]
	if r.Ended < x.Began+x.Timeout-j.Slack && j.untouched(all, x, x, x.Began, r.Ended) {
		j.broken("order", r, "received while %s of the same group was in flight since %v", x.Name, x.Ended)
		return false
	}
	return true
}

// lane is a scope within which sequence numbers grow.
type lane struct {
	groupOf
	topic string // of messages that were published
	life  int    // of the queue, which may have been made again
}

// laneOf returns the lane of an entry of a call that sends or publishes.
func (j *judge) laneOf(e *Entry) lane {
	in := lane{groupOf: groupOf{queue: e.Queue}, life: j.life(e.Call)}
	_, copied := splitCopy(e.Name)
	if copied != "" {
		in.topic = SentTo(e.Name)
	}
	if copied != "" || j.queues[e.Queue].Scoped {
		in.group = e.Group
	}
	return in
}

// accepted is a message that was accepted, with its sequence number.
type accepted struct {
	first, ack *Entry // the first attempt, and one that was acknowledged
	sequence   string
}

// accepted returns a message by its attempts, or false if its place among others is not
// known: it is not of a FIFO queue or topic, or no attempt was acknowledged. The place of a
// copy is known when it was received, if it cannot have left its queue and come back.
func (j *judge) accepted(attempts []*Entry) (a accepted, ok bool) {
	i := slices.IndexFunc(attempts, func(e *Entry) bool { return e.Outcome == Acknowledged })
	if i < 0 || !IsFIFO(attempts[i].Queue) {
		return a, false
	}
	a = accepted{attempts[0], attempts[i], attempts[i].Sequence}
	if _, queue := splitCopy(a.ack.Name); queue != "" {
		received := j.receives[a.ack.Name]
		if len(received) == 0 || j.queues[queue].Dead != "" {
			return a, false
		}
		a.sequence = received[0].Sequence
	}
	return a, true
}

// judgeSequences checks that messages are in the order in which they were accepted, as far as the senders can tell.
func (j *judge) judgeSequences() {
	lanes := make(map[lane][]accepted)
	for _, messages := range []map[string][]*Entry{j.sends, j.published} {
		for _, attempts := range messages {
			if a, ok := j.accepted(attempts); ok {
				in := j.laneOf(a.ack)
				lanes[in] = append(lanes[in], a)
			}
		}
	}
	for _, list := range lanes {
		byEnd := slices.Clone(list)
		slices.SortFunc(byEnd, func(a, b accepted) int { return cmp.Compare(a.ack.Ended, b.ack.Ended) })
		slices.SortFunc(list, func(a, b accepted) int { return cmp.Compare(a.first.Began, b.first.Began) })
		var newest *accepted
		for _, a := range list {
			for len(byEnd) > 0 && byEnd[0].ack.Ended < a.first.Began {
				if newest == nil || byEnd[0].sequence > newest.sequence {
					newest = &byEnd[0]
				}
				byEnd = byEnd[1:]
			}
			if newest != nil && a.sequence <= newest.sequence {
				j.broken(
					"sequence", a.ack, "%s, but %s, sent before, has %s", a.sequence, newest.ack.Name, newest.sequence,
				)
			}
		}
	}
}

// judgeBatches checks that the messages of a batch are in its order, in all queues that they were published to. Those
// that were sent before keep the place they had.
func (j *judge) judgeBatches() {
	for _, c := range j.Calls {
		switch c.Operation {
		case Send:
			j.judgeBatch(c, j.sends)
		case Publish:
			j.judgeBatch(c, j.published)
			for _, d := range j.deliveries(c) {
				j.judgeBatch(d, j.sends)
			}
		}
	}
}

func (j *judge) judgeBatch(c *Call, attempts map[string][]*Entry) {
	last := make(map[lane]string)
	for _, e := range c.Entries {
		a, ok := j.accepted(attempts[e.Name])
		if !ok || len(attempts[e.Name]) > 1 {
			continue
		}
		in := j.laneOf(e)
		if a.sequence <= last[in] {
			j.broken("sequence", e, "%s, but the one before it in the batch has %s", a.sequence, last[in])
		}
		last[in] = a.sequence
	}
}
