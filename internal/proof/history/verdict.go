package history

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Violation is a promise that was broken.
type Violation struct {
	Rule  string `json:"rule"`
	Queue string `json:"queue"`
	Name  string `json:"name,omitempty"` // of the message, if it is about one
	Text  string `json:"text"`
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: queue %s, message %q: %s", v.Rule, v.Queue, v.Name, v.Text)
}

// track is the stay of a message in one queue. A message that was redriven has
// another id; one in a dead-letter queue has the same in another queue.
type track struct{ queue, id string }

type groupOf struct{ queue, group string }

// judge applies all rules to a history.
type judge struct {
	*History
	queues     map[string]Queue
	sends      map[string][]*Entry // by message; with all its attempts
	published  map[string][]*Entry // likewise, of messages of topics: what the topic has answered
	removes    map[string][]*Entry // by message
	receives   map[string][]*Entry // by message
	tracks     map[track][]*Entry  // receives, deletes and changes of visibility
	groups     map[groupOf][]*Entry
	wholes     map[string][]*Call // creations, deletions, purges and undos, by queue or other resource
	resources  map[string][]*Call // creations, changes, deletions, their undos and inspections, likewise
	undone     map[*Call]bool     // see isUndone
	violations []Violation
}

// Verdict returns the promises that the service did not keep. The history must end with a drain: messages that it does
// not receive are lost.
func (h *History) Verdict() []Violation {
	sorted := *h
	sorted.Calls = slices.SortedStableFunc(slices.Values(h.Calls), func(a, b *Call) int {
		return cmp.Compare(a.Began, b.Began)
	})
	for i, c := range sorted.Calls {
		sorted.Calls[i] = h.copies(c)
	}
	j := &judge{
		History: &sorted, queues: make(map[string]Queue), published: make(map[string][]*Entry),
		sends: make(map[string][]*Entry), removes: make(map[string][]*Entry), receives: make(map[string][]*Entry),
		tracks: make(map[track][]*Entry), groups: make(map[groupOf][]*Entry), wholes: make(map[string][]*Call),
		resources: make(map[string][]*Call), undone: make(map[*Call]bool),
		violations: slices.Clone(h.Notes),
	}
	for _, q := range h.Queues {
		j.queues[q.Name] = q
	}
	for _, c := range j.Calls {
		j.file(c)
	}
	j.judgeCalls()
	for name := range j.sends {
		j.judgeMessage(name)
	}
	for _, attempts := range j.published {
		j.judgeIdentity(attempts, nil)
	}
	for name, all := range j.receives {
		if !slices.ContainsFunc(j.sends[name], (*Entry).effective) {
			j.broken("phantom", all[0], "it was never sent")
		}
	}
	for _, all := range j.tracks {
		j.judgeTrack(all)
	}
	for g, all := range j.groups {
		if IsFIFO(g.queue) {
			j.judgeGroup(all)
		}
	}
	j.judgeSequences()
	j.judgeBatches()
	for name, calls := range j.resources {
		j.judgeResource(name, calls)
	}
	slices.SortFunc(j.violations, func(a, b Violation) int {
		return cmp.Or(
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Text, b.Text),
		)
	})
	return j.violations
}

// file puts a call where the rules look for it.
func (j *judge) file(c *Call) {
	switch c.Operation {
	case Create, Drop, UndoDelete, Change, Inspect:
		j.resources[c.Queue] = append(j.resources[c.Queue], c)
	}
	switch c.Operation {
	case Create, Drop, UndoDelete, Purge, UndoPurge:
		j.wholes[c.Queue] = append(j.wholes[c.Queue], c)
	case Publish:
		for _, e := range c.Entries {
			j.published[e.Name] = append(j.published[e.Name], e)
		}
		for _, d := range j.deliveries(c) {
			for _, e := range d.Entries {
				j.sends[e.Name] = append(j.sends[e.Name], e)
			}
		}
		return
	}
	for _, e := range c.Entries {
		at := track{e.Queue, e.ID}
		switch c.Operation {
		case Send:
			j.sends[e.Name] = append(j.sends[e.Name], e)
			continue
		case Receive:
			j.receives[e.Name] = append(j.receives[e.Name], e)
			g := groupOf{e.Queue, e.Group}
			j.groups[g] = append(j.groups[g], e)
		case Remove:
			j.removes[e.Name] = append(j.removes[e.Name], e)
		}
		j.tracks[at] = append(j.tracks[at], e)
	}
}

func (j *judge) broken(rule string, e *Entry, format string, args ...any) {
	j.violations = append(j.violations, Violation{rule, e.Queue, e.Name, fmt.Sprintf(format, args...)})
}

// whole reports whether a call of that kind on the whole queue may have been
// executed within the span.
func (j *judge) whole(queue string, op Operation, from, to time.Duration) bool {
	return slices.ContainsFunc(j.wholes[queue], func(c *Call) bool {
		return c.Operation == op && c.Outcome != Refused && c.Ended > from && c.Began < to
	})
}

const always = time.Duration(1<<63 - 1)

// excused reports whether a call may have gone unanswered.
func (j *judge) excused(c *Call) bool {
	return slices.ContainsFunc(j.Troubles, func(t *Trouble) bool {
		return t.Began <= c.Ended && c.Began <= t.over(j.Grace)
	})
}

// judgeCalls judges outcomes: refusals must be permitted ones, and only trouble excuses the service from answering.
func (j *judge) judgeCalls() {
	for _, c := range j.Calls {
		if c.Outcome == Unknown && !j.excused(c) {
			j.violations = append(j.violations, Violation{"answer", c.Queue, "", c.String()})
		}
		switch {
		case c.Outcome == Acknowledged &&
			!slices.Contains([]Operation{Create, Drop, UndoDelete, Inspect}, c.Operation) && j.mustBeGone(c):
			j.violations = append(j.violations, Violation{"deleted queue", c.Queue, "", c.String()})
		case c.Outcome == Refused && !j.mayRefuse(c):
			j.violations = append(j.violations, Violation{"refusal", c.Queue, "", c.String()})
		case c.Outcome == Acknowledged:
			for _, e := range c.Entries {
				if e.Outcome == Refused && !j.mayRefuseEntry(e) {
					j.broken("refusal", e, "%s", e)
				}
			}
		}
	}
}

// mayRefuse reports whether a call may be refused as a whole.
func (j *judge) mayRefuse(c *Call) bool {
	switch Refusal(c.Reason) {
	case NoQueue:
		return j.mayBeGone(c)
	case Missing:
		return j.mayBeGone(c) || j.inDoubt(c)
	case Exists:
		return j.mayExist(c)
	case NotKept:
		return j.mayKeepNothing(c)
	case Stale:
		return c.Operation == Receive && IsFIFO(c.Queue)
	case Purging:
		return j.whole(c.Queue, Purge, 0, c.Began)
	case Moving:
		return c.Operation == Move
	case NoTask:
		return c.Operation == Cancel
	}
	return false
}

// mayExist reports whether a resource that c is to create, or to restore, may exist already.
func (j *judge) mayExist(c *Call) bool {
	if c.Operation == UndoDelete {
		return !j.mustBeGone(c)
	}
	return c.Operation == Create && slices.ContainsFunc(j.wholes[c.Queue], func(k *Call) bool {
		return k != c && k.Operation == Create && k.Outcome == Unknown && k.Began < c.Ended
	})
}

// mayRefuseEntry reports whether a call may be refused for one message.
func (j *judge) mayRefuseEntry(e *Entry) bool {
	switch Refusal(e.Reason) {
	case Expired:
		return IsFIFO(e.Queue) && !j.mustHold(e)
	case Absent:
		return e.Operation == Hide && !j.mustHold(e)
	}
	return false
}
