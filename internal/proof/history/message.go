package history

import "slices"

// judgeMessage judges the history of a message over all queues it was in.
func (j *judge) judgeMessage(name string) {
	attempts := j.sends[name]
	first := attempts[0]
	i := slices.IndexFunc(attempts, func(e *Entry) bool { return e.Outcome == Acknowledged })
	if i >= 0 {
		accepted := attempts[i]
		removed := slices.ContainsFunc(j.removes[name], (*Entry).effective)
		if !removed && !j.mayHaveGone(first, nil) {
			j.broken("lost", accepted, "it was acknowledged and is nowhere")
		}
		j.judgePurge(accepted)
	}
	j.judgeIdentity(attempts, j.receives[name])
	for _, d := range j.removes[name] {
		if d.Outcome != Acknowledged || !j.mustHold(d) {
			continue // a late delete does not concern the queue that it has been moved to
		}
		for _, r := range j.receives[name] {
			if d.before(r.Call) {
				j.broken("undead", r, "received after its delete was acknowledged")
			}
		}
	}
	if first.Delay > 0 && len(attempts) == 1 {
		for _, r := range j.receives[name] {
			if r.Ended+j.Slack < first.Began+first.Delay {
				j.broken("early", r, "received before its delay was over")
			}
		}
	}
}

// judgePurge looks for messages that were there when a purge or the delete of their queue began.
func (j *judge) judgePurge(accepted *Entry) {
	for _, p := range j.wholes[accepted.Queue] {
		if undoOf(p) == "" || p.Outcome != Acknowledged || !accepted.before(p) {
			continue
		}
		for _, r := range j.receives[accepted.Name] {
			if p.before(r.Call) && !j.mayBeUndone(p, r.Ended) {
				j.broken("purge", r, "it was there before the %s and is there after it", p.Operation)
			}
		}
	}
}

// judgeIdentity checks that all calls about a message mean the same one: sent again, it is still only one message.
func (j *judge) judgeIdentity(attempts, receives []*Entry) {
	queue := attempts[0].Queue
	var known *Entry
	for _, e := range append(attempts[:len(attempts):len(attempts)], receives...) {
		switch {
		case e.Outcome != Acknowledged || e.Queue != queue || e.ID == "":
		case e.Operation == Receive && j.queues[queue].Dead != "":
			// It may have been moved back from the dead-letter queue as another message.
		case known == nil:
			known = e
		case e.ID != known.ID || e.Sequence != known.Sequence:
			j.broken("duplicate", e, "it is %s (%s) here and was %s (%s)", e.ID, e.Sequence, known.ID, known.Sequence)
		}
	}
}
