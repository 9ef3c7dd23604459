package history

import "time"

// Restored returns the history of a service that was restored from a backup. The backup was made at one time within the
// span. It includes the effects of calls that ended before the span, and none of calls that began after it. Other calls
// were executed before the backup or not, so that their outcomes are unknown, unless they were refused. Notes are not
// part of it, because they have no time. Calls may be added to the history that is returned, and h does not change.
func (h *History) Restored(from, to time.Duration) *History {
	out := *h
	out.Calls, out.Notes = nil, nil
	for _, c := range h.Calls {
		switch {
		case c.Ended < from:
			out.Calls = append(out.Calls, c)
		case c.Began <= to && c.Outcome != Refused:
			out.Calls = append(out.Calls, c.unanswered())
		}
	}
	out.Troubles = []*Trouble{{Kind: "restore", Words: "of a backup", Began: from, Ended: to}}
	for _, t := range h.Troubles {
		if t.Began <= to {
			same := *t
			out.Troubles = append(out.Troubles, &same)
		}
	}
	return &out
}

// unanswered returns a copy of a call of which only refusals are known.
func (c *Call) unanswered() *Call {
	d := *c
	d.Outcome, d.Entries = Unknown, nil
	if c.Operation == Receive {
		return &d
	}
	for _, e := range c.Entries {
		same := *e
		same.Call = &d
		if e.effective() {
			same.Outcome = Unknown
		}
		d.Entries = append(d.Entries, &same)
	}
	return &d
}
