package torture

import (
	"cmp"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// gap is a time in which clients called a queue and no call succeeded.
type gap struct{ began, ended time.Duration }

func (g gap) length() time.Duration { return g.ended - g.began }

// patienceOfClients is how long a queue may go without a call before it counts as unused: producers hold off when many
// messages are waiting, and that is not a gap.
const patienceOfClients = time.Second

// bouts divides calls into spans in which clients called all the time.
func bouts(calls []*history.Call) [][]*history.Call {
	calls = slices.SortedStableFunc(slices.Values(calls), func(a, b *history.Call) int {
		return cmp.Compare(a.Began, b.Began)
	})
	var out [][]*history.Call
	end := time.Duration(0)
	for _, c := range calls {
		if len(out) == 0 || c.Began > end+patienceOfClients {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
		end = max(end, c.Ended)
	}
	return out
}

// gapsOf returns the gaps of an operation on a queue: from the beginning of the first call after a success, but not
// before that success, to the end of the next success, or of the last call if there is none. The time that a receive
// may wait for messages is not counted.
func gapsOf(calls []*history.Call) []gap {
	var out []gap
	for _, bout := range bouts(calls) {
		slices.SortStableFunc(bout, func(a, b *history.Call) int { return cmp.Compare(a.Ended, b.Ended) })
		last := time.Duration(0) // end of the last success
		wanted := time.Duration(-1)
		for i, c := range bout {
			if began := max(c.Began+c.Wait, last); wanted < 0 || began < wanted {
				wanted = began
			}
			if c.Outcome == history.Unknown && i < len(bout)-1 {
				continue
			}
			if c.Ended > wanted {
				out = append(out, gap{wanted, c.Ended})
			}
			last, wanted = c.Ended, -1
		}
	}
	return out
}

// longest returns the length of the longest gap that touches the span.
func longest(gaps []gap, from, to time.Duration) time.Duration {
	var most time.Duration
	for _, g := range gaps {
		if g.began <= to && g.ended >= from {
			most = max(most, g.length())
		}
	}
	return most
}

// ask is one operation on one queue.
type ask struct {
	operation history.Operation
	queue     string
}

// measure adds to the report how long calls took, and the gaps in the episodes that are over.
func (r *runner) measure(h *history.History, began time.Duration, seen []passed) {
	asks := make(map[ask][]*history.Call)
	standing := make(map[string]bool)
	for _, q := range h.Queues {
		standing[q.Name] = true
	}
	own := *h // without the calls of earlier rounds
	own.Calls = slices.DeleteFunc(slices.Clone(h.Calls), func(c *history.Call) bool { return c.Began < began })
	for key, n := range own.Tally() {
		r.report.Calls[key] += n
	}
	for _, c := range own.Calls {
		if c.Outcome == history.Acknowledged && (c.Operation != history.Receive || len(c.Entries) > 0) {
			r.report.times.add(c.Operation, c.Ended-c.Began)
		}
		if standing[c.Queue] && (c.Operation == history.Send || c.Operation == history.Receive) {
			in := ask{c.Operation, c.Queue}
			asks[in] = append(asks[in], c)
		}
	}
	for in, calls := range asks {
		gaps := gapsOf(calls)
		for _, p := range seen {
			if p.kinds != "" {
				r.report.gap(p.kinds, in.operation, longest(gaps, p.began, p.ended))
			}
		}
	}
}
