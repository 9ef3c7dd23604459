package history

import (
	"cmp"
	"slices"
	"time"
)

// judgeGroup looks at the receives of a FIFO group: a message is received when
// all before it are gone or are received with it, and nothing of the group is in
// another consumer's hands.
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

// laneOf returns within what the sequence numbers of a FIFO queue grow.
func (j *judge) laneOf(e *Entry) groupOf {
	if j.queues[e.Queue].Scoped {
		return groupOf{e.Queue, e.Group}
	}
	return groupOf{queue: e.Queue}
}

// judgeSequences makes sure that messages are in the order in which they were
// accepted, as far as the senders can tell.
func (j *judge) judgeSequences() {
	type accepted struct{ first, ack *Entry }
	lanes := make(map[groupOf][]accepted)
	for _, attempts := range j.sends {
		i := slices.IndexFunc(attempts, func(e *Entry) bool { return e.Outcome == Acknowledged })
		if i >= 0 && IsFIFO(attempts[i].Queue) {
			in := j.laneOf(attempts[i])
			lanes[in] = append(lanes[in], accepted{attempts[0], attempts[i]})
		}
	}
	for _, list := range lanes {
		byEnd := slices.Clone(list)
		slices.SortFunc(byEnd, func(a, b accepted) int { return cmp.Compare(a.ack.Ended, b.ack.Ended) })
		slices.SortFunc(list, func(a, b accepted) int { return cmp.Compare(a.first.Began, b.first.Began) })
		var newest *Entry
		for _, a := range list {
			for len(byEnd) > 0 && byEnd[0].ack.Ended < a.first.Began {
				if newest == nil || byEnd[0].ack.Sequence > newest.Sequence {
					newest = byEnd[0].ack
				}
				byEnd = byEnd[1:]
			}
			if newest != nil && a.ack.Sequence <= newest.Sequence {
				j.broken("sequence", a.ack, "%s, but %s, sent before, has %s", a.ack.Sequence, newest.Name, newest.Sequence)
			}
		}
	}
}

// judgeBatches makes sure that the messages of a batch are in its order. Those
// that were sent before keep the place they had.
func (j *judge) judgeBatches() {
	for _, c := range j.Calls {
		last := make(map[groupOf]string)
		for _, e := range c.Entries {
			if c.Operation != Send || e.Outcome != Acknowledged || len(j.sends[e.Name]) > 1 {
				continue
			}
			in := j.laneOf(e)
			if IsFIFO(c.Queue) && e.Sequence <= last[in] {
				j.broken("sequence", e, "%s, but the one before it in the batch has %s", e.Sequence, last[in])
			}
			last[in] = e.Sequence
		}
	}
}
