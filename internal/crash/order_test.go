package crash

import (
	"cmp"
	"slices"
	"time"
)

// judgeGroup looks at the receives of a FIFO group: a message is received when
// all before it are gone or are received with it, and nothing of the group is in
// somebody else's hands.
func (j *judge) judgeGroup(all []*entry) {
	slices.SortStableFunc(all, func(a, b *entry) int { return cmp.Compare(a.sequence, b.sequence) })
	// reach is until when anything received so far, in order, mattered to others.
	reach := make([]time.Duration, len(all))
	for i, r := range all {
		reach[i] = r.began + r.timeout
		if i > 0 {
			reach[i] = max(reach[i], reach[i-1])
		}
		for k := i - 1; k >= 0 && reach[k] > r.ended; k-- {
			if !j.inOrder(all[k], r) {
				break
			}
		}
	}
}

// inOrder compares the receive r with x, a receive of an earlier message of the
// group or another one of the same.
func (j *judge) inOrder(x, r *entry) bool {
	switch {
	case x.id == r.id:
		return true
	case x.call == r.call:
		if slices.Index(x.entries, x) > slices.Index(r.entries, r) {
			j.broken("order", r, "received before %s in the same answer", x.name)
			return false
		}
		return true
	case slices.ContainsFunc(r.entries, func(e *entry) bool { return e.id == x.id }):
		return true // x was received again, after it was given back
	case r.before(x.call):
		j.broken("order", r, "received although %s was before it and not gone", x.name)
		return false
	}
	all := j.tracks[track{x.queue, x.id}]
	if r.ended < x.began+x.timeout-slack && j.untouched(all, x, x, x.began, r.ended) {
		j.broken("order", r, "received while %s of the same group was in flight since %v", x.name, x.ended)
		return false
	}
	return true
}

// judgeSequences makes sure that messages are in the order in which they were
// accepted, as far as the senders can tell.
func (j *judge) judgeSequences() {
	type accepted struct{ first, ack *entry }
	queues := make(map[string][]accepted)
	for _, attempts := range j.sends {
		i := slices.IndexFunc(attempts, func(e *entry) bool { return e.outcome == acknowledged })
		if i >= 0 && isFIFO(attempts[i].queue) {
			queues[attempts[i].queue] = append(queues[attempts[i].queue], accepted{attempts[0], attempts[i]})
		}
	}
	for _, list := range queues {
		byEnd := slices.Clone(list)
		slices.SortFunc(byEnd, func(a, b accepted) int { return cmp.Compare(a.ack.ended, b.ack.ended) })
		slices.SortFunc(list, func(a, b accepted) int { return cmp.Compare(a.first.began, b.first.began) })
		var newest *entry
		for _, a := range list {
			for len(byEnd) > 0 && byEnd[0].ack.ended < a.first.began {
				if newest == nil || byEnd[0].ack.sequence > newest.sequence {
					newest = byEnd[0].ack
				}
				byEnd = byEnd[1:]
			}
			if newest != nil && a.ack.sequence <= newest.sequence {
				j.broken("sequence", a.ack, "%s, but %s, sent before, has %s", a.ack.sequence, newest.name, newest.sequence)
			}
		}
	}
}

// judgeBatches makes sure that the messages of a batch are in its order. Those
// that were sent before keep the place they had.
func (j *judge) judgeBatches() {
	for _, c := range j.calls {
		last := ""
		for _, e := range c.entries {
			if c.operation != opSend || e.outcome != acknowledged || len(j.sends[e.name]) > 1 {
				continue
			}
			if isFIFO(c.queue) && e.sequence <= last {
				j.broken("sequence", e, "%s, but the one before it in the batch has %s", e.sequence, last)
			}
			last = e.sequence
		}
	}
}
