package history

import (
	"slices"
	"time"
)

// A purge or deletion of a queue removes its messages, and an undo restores them. One worker at a time purges, deletes
// and undoes. The rules know three cases of a purge or deletion that was acknowledged:
//
//   - isUndone: an undo was acknowledged, or something was seen that only an undo restores. All must be restored.
//   - Only undos without an answer follow. All may be restored.
//   - No undo follows. Nothing may be restored.
//
// A purge or deletion without an answer may come after its undo. So all may be restored, but nothing has to be.

const (
	undoInterval = 10 * time.Minute // from the purge or deletion; it is too late for an undo then
	shelvedMost  = 1000             // further deletions, after which it is too late for the undo of one
	// FullDisk is the kind of trouble in which a service may drop the data that it has kept for an undo.
	FullDisk = "full-disk"
)

// undoOf returns the operation that undoes a purge or deletion, or nothing for any other call.
func undoOf(c *Call) Operation {
	switch c.Operation {
	case Purge:
		return UndoPurge
	case Drop:
		return UndoDelete
	}
	return ""
}

// follows returns the calls that may have undone d: those before the next purge or deletion, whichever d is.
func (j *judge) follows(d *Call) (undos []*Call) {
	until := j.next(d)
	for _, u := range j.wholes[d.Queue] {
		if u.Operation == undoOf(d) && u.Outcome != Refused && d.before(u) && u.Began < until {
			undos = append(undos, u)
		}
	}
	return undos
}

// next returns when the next call began that does the same as d and may have been executed.
func (j *judge) next(d *Call) time.Duration {
	for _, c := range j.wholes[d.Queue] {
		if c.Operation == d.Operation && c.Outcome != Refused && c.Began > d.Began {
			return c.Began
		}
	}
	return always
}

// mayBeUndone reports whether an undo of d may have begun by then.
func (j *judge) mayBeUndone(d *Call, by time.Duration) bool {
	return slices.ContainsFunc(j.follows(d), func(u *Call) bool { return u.Began < by })
}

// isUndone reports whether d was undone for certain, and no messages were lost for lack of space.
func (j *judge) isUndone(d *Call) bool {
	is, known := j.undone[d]
	if !known {
		is = j.mustBeUndone(d)
		j.undone[d] = is
	}
	return is
}

func (j *judge) mustBeUndone(d *Call) bool {
	undos := j.follows(d)
	if d.Outcome != Acknowledged || len(undos) == 0 {
		return false
	}
	if d.Operation == Purge && j.cramped(d, undos[len(undos)-1]) {
		return false
	}
	return slices.ContainsFunc(undos, func(u *Call) bool { return u.Outcome == Acknowledged }) || j.isSeen(d, undos[0])
}

// isSeen reports whether something was seen after d that only its undo restores: the queue, or a message. The shards of
// a queue may undo a purge one by one, and one that has done so says nothing of the others.
func (j *judge) isSeen(d, undo *Call) bool {
	until := j.next(d)
	switch {
	case d.Operation == Purge && (!IsFIFO(d.Queue) || j.queues[d.Queue].Scoped):
		return false
	case d.Operation == Drop && j.whole(d.Queue, Create, d.Began, always):
		return false
	}
	return slices.ContainsFunc(j.Calls, func(c *Call) bool {
		if c.Queue != d.Queue || c.Outcome != Acknowledged || !undo.before(c) || c.Began > until {
			return false
		}
		if d.Operation == Drop {
			return c.Operation == Inspect && c.State != "" ||
				slices.Contains([]Operation{Send, Receive, Remove, Hide, Change, Purge, UndoPurge}, c.Operation)
		}
		return c.Operation == Receive &&
			slices.ContainsFunc(c.Entries, func(e *Entry) bool { return j.wasBefore(e, d) })
	})
}

// wasBefore reports whether the message of e was accepted before d began.
func (j *judge) wasBefore(e *Entry, d *Call) bool {
	return slices.ContainsFunc(j.sends[e.Name], func(s *Entry) bool {
		return s.Queue == d.Queue && s.Outcome == Acknowledged && s.before(d)
	})
}

// cramped reports whether a disk was full between d and its undo.
func (j *judge) cramped(d, undo *Call) bool {
	return slices.ContainsFunc(j.Troubles, func(t *Trouble) bool {
		return t.Kind == FullDisk && t.Began <= undo.Ended && d.Began <= t.over(j.Grace)
	})
}

// mayHaveBeenAway reports whether the message of x may have been purged when r was executed, and restored for x.
func (j *judge) mayHaveBeenAway(x, r *Entry) bool {
	return slices.ContainsFunc(j.wholes[x.Queue], func(p *Call) bool {
		if p.Operation != Purge || p.Outcome == Refused || p.Began > r.Ended || !j.mayBeUndone(p, x.Ended) {
			return false
		}
		back := always
		for _, u := range j.follows(p) {
			if u.Outcome == Acknowledged {
				back = min(back, u.Ended)
			}
		}
		return back > r.Began
	})
}

// mayKeepNothing reports whether an undo may find nothing to restore.
func (j *judge) mayKeepNothing(undo *Call) bool {
	var last *Call
	for _, d := range j.wholes[undo.Queue] { // in the order in which they began
		if undoOf(d) != undo.Operation || d.Outcome == Refused || d.Began > undo.Ended {
			continue
		}
		if d.Outcome == Unknown {
			return true
		}
		last = d
	}
	return last == nil || j.cramped(last, undo) || undo.Ended-last.Began > undoInterval-time.Minute ||
		j.mayBeUndone(last, undo.Ended) ||
		last.Operation == Drop && j.dropsBetween(last, undo) >= shelvedMost ||
		last.Operation == Purge && !j.mustKeep(last, undo)
}

// dropsBetween returns how many resources may have been deleted between d and its undo.
func (j *judge) dropsBetween(d, undo *Call) (n int) {
	for _, c := range j.Calls {
		if c.Operation == Drop && c.Outcome != Refused && c.Ended > d.Began && c.Began < undo.Ended {
			n++
		}
	}
	return n
}

// mustKeep reports whether there was a message for certain that a purge has kept until its undo.
func (j *judge) mustKeep(purge, undo *Call) bool {
	for name, attempts := range j.sends {
		e := attempts[0]
		if e.Queue != purge.Queue || !j.wasBefore(e, purge) || j.queues[e.Queue].Dead != "" {
			continue
		}
		removed := slices.ContainsFunc(j.removes[name], func(x *Entry) bool {
			return x.effective() && x.Began < undo.Ended
		})
		if !removed && !j.mayHaveGone(e, purge) {
			return true
		}
	}
	return false
}
