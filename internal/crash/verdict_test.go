package crash

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// slack is how far the service's time may be from ours: it counts in
// milliseconds, and a machine's clock is put right now and then.
const slack = 50 * time.Millisecond

// violation is a promise that was broken.
type violation struct {
	rule  string
	queue string
	name  string // of the message, if it is about one
	text  string
}

func (v violation) String() string {
	return fmt.Sprintf("%s: queue %s, message %q: %s", v.rule, v.queue, v.name, v.text)
}

// track is the stay of a message in one queue. A message that was redriven has
// another id; one in a dead-letter queue has the same in another queue.
type track struct{ queue, id string }

type groupOf struct{ queue, group string }

// judge looks at a history from several sides.
type judge struct {
	specs      map[string]spec
	deaths     []time.Duration
	calls      []*call
	sends      map[string][]*entry // by message; with all its attempts
	removes    map[string][]*entry // by message
	receives   map[string][]*entry // by message
	tracks     map[track][]*entry  // receives, deletes and changes of visibility
	groups     map[groupOf][]*entry
	wholes     map[string][]*call // creations, deletions and purges, by queue
	violations []violation
}

// verdict returns the promises that the service did not keep. The history must
// end with a drain: what is not in it then is lost.
func (h *history) verdict(queues []spec) []violation {
	j := &judge{
		specs: make(map[string]spec), deaths: h.deaths, calls: h.calls,
		sends: make(map[string][]*entry), removes: make(map[string][]*entry), receives: make(map[string][]*entry),
		tracks: make(map[track][]*entry), groups: make(map[groupOf][]*entry), wholes: make(map[string][]*call),
		violations: h.notes,
	}
	for _, q := range queues {
		j.specs[q.name] = q
	}
	slices.SortStableFunc(j.calls, func(a, b *call) int { return cmp.Compare(a.began, b.began) })
	for _, c := range j.calls {
		j.file(c)
	}
	j.judgeCalls()
	for name := range j.sends {
		j.judgeMessage(name)
	}
	for name, all := range j.receives {
		if !slices.ContainsFunc(j.sends[name], (*entry).effective) {
			j.broken("phantom", all[0], "nobody sent it")
		}
	}
	for _, all := range j.tracks {
		j.judgeTrack(all)
	}
	for g, all := range j.groups {
		if isFIFO(g.queue) {
			j.judgeGroup(all)
		}
	}
	j.judgeSequences()
	j.judgeBatches()
	slices.SortFunc(j.violations, func(a, b violation) int {
		return cmp.Or(cmp.Compare(a.rule, b.rule), cmp.Compare(a.queue, b.queue), cmp.Compare(a.name, b.name))
	})
	return j.violations
}

// file puts a call where the rules look for it.
func (j *judge) file(c *call) {
	switch c.operation {
	case opCreate, opDrop, opPurge:
		j.wholes[c.queue] = append(j.wholes[c.queue], c)
	}
	for _, e := range c.entries {
		at := track{e.queue, e.id}
		switch c.operation {
		case opSend:
			j.sends[e.name] = append(j.sends[e.name], e)
			continue
		case opReceive:
			j.receives[e.name] = append(j.receives[e.name], e)
			g := groupOf{e.queue, e.group}
			j.groups[g] = append(j.groups[g], e)
		case opRemove:
			j.removes[e.name] = append(j.removes[e.name], e)
		}
		j.tracks[at] = append(j.tracks[at], e)
	}
}

func (j *judge) broken(rule string, e *entry, format string, args ...any) {
	j.violations = append(j.violations, violation{rule, e.queue, e.name, fmt.Sprintf(format, args...)})
}

// whole reports whether a call of that kind on the whole queue may have been
// executed within the span.
func (j *judge) whole(queue string, op operation, from, to time.Duration) bool {
	return slices.ContainsFunc(j.wholes[queue], func(c *call) bool {
		return c.operation == op && c.outcome != refused && c.ended > from && c.began < to
	})
}

const always = time.Duration(1<<63 - 1)

// done reports whether such a call was acknowledged before c.
func (j *judge) done(queue string, op operation, c *call) bool {
	return slices.ContainsFunc(j.wholes[queue], func(w *call) bool {
		return w.operation == op && w.outcome == acknowledged && w.before(c)
	})
}

// judgeCalls looks at outcomes: what was refused must be among what may be, and
// only the service's death excuses it from answering.
func (j *judge) judgeCalls() {
	for _, c := range j.calls {
		if c.outcome == unknown && (c.round >= len(j.deaths) || c.ended < j.deaths[c.round]) {
			j.violations = append(j.violations, violation{"answer", c.queue, "", c.String()})
		}
		switch {
		case c.outcome == acknowledged && c.operation != opDrop && j.done(c.queue, opDrop, c):
			j.violations = append(j.violations, violation{"deleted queue", c.queue, "", c.String()})
		case c.outcome == refused && !j.mayRefuse(c):
			j.violations = append(j.violations, violation{"refusal", c.queue, "", c.String()})
		case c.outcome == acknowledged:
			for _, e := range c.entries {
				if e.outcome == refused && !j.mayRefuseEntry(e) {
					j.broken("refusal", e, "%s", e)
				}
			}
		}
	}
}

// mayRefuse reports whether a call may be refused as a whole.
func (j *judge) mayRefuse(c *call) bool {
	switch refusal(c.reason) {
	case refusedNoQueue:
		return !j.done(c.queue, opCreate, c) || j.whole(c.queue, opDrop, 0, c.ended)
	case refusedStale:
		return c.operation == opReceive && isFIFO(c.queue)
	case refusedPurging:
		return j.whole(c.queue, opPurge, 0, c.began)
	case refusedMoving:
		return c.operation == opMove
	case refusedNoTask:
		return c.operation == opCancel
	}
	return false
}

// mayRefuseEntry reports whether what a call wants of one message may be refused.
func (j *judge) mayRefuseEntry(e *entry) bool {
	switch refusal(e.reason) {
	case refusedExpired:
		return isFIFO(e.queue) && !j.mustHold(e)
	case refusedAbsent:
		return e.operation == opHide && !j.mustHold(e)
	}
	return false
}
