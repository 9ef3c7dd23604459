package crash

import (
	"slices"
)

// judgeMessage looks at what became of a message over all queues it was in.
func (j *judge) judgeMessage(name string) {
	attempts := j.sends[name]
	first := attempts[0]
	i := slices.IndexFunc(attempts, func(e *entry) bool { return e.outcome == acknowledged })
	if i >= 0 {
		accepted := attempts[i]
		removed := slices.ContainsFunc(j.removes[name], (*entry).effective)
		purged := j.whole(first.queue, opPurge, first.began, always) || j.whole(first.queue, opDrop, 0, always)
		if !removed && !purged {
			j.broken("lost", accepted, "it was acknowledged and is nowhere")
		}
		j.judgePurge(accepted)
	}
	j.judgeIdentity(attempts, j.receives[name])
	for _, d := range j.removes[name] {
		if d.outcome != acknowledged || !j.mustHold(d) {
			continue // a late delete says nothing of a queue it has been moved to
		}
		for _, r := range j.receives[name] {
			if d.before(r.call) {
				j.broken("undead", r, "received after its delete was acknowledged")
			}
		}
	}
	if first.delay > 0 && len(attempts) == 1 {
		for _, r := range j.receives[name] {
			if r.ended+slack < first.began+first.delay {
				j.broken("early", r, "received before its delay was over")
			}
		}
	}
}

// judgePurge looks for messages that were there when a purge began.
func (j *judge) judgePurge(accepted *entry) {
	for _, p := range j.wholes[accepted.queue] {
		if p.operation != opPurge || p.outcome != acknowledged || !accepted.before(p) {
			continue
		}
		for _, r := range j.receives[accepted.name] {
			if p.before(r.call) {
				j.broken("purge", r, "it was there before the purge and is there after it")
			}
		}
	}
}

// judgeIdentity makes sure that all who speak of a message mean the same one:
// sent again, it is still only one message.
func (j *judge) judgeIdentity(attempts, receives []*entry) {
	queue := attempts[0].queue
	var known *entry
	for _, e := range append(attempts[:len(attempts):len(attempts)], receives...) {
		switch {
		case e.outcome != acknowledged || e.queue != queue:
		case e.operation == opReceive && j.specs[queue].dead != "":
			// It may have come back from the dead-letter queue as another.
		case known == nil:
			known = e
		case e.id != known.id || e.sequence != known.sequence:
			j.broken("duplicate", e, "it is %s (%s) here and was %s (%s)", e.id, e.sequence, known.id, known.sequence)
		}
	}
}
