package torture

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// Report is the result of a run. Durations are in nanoseconds.
type Report struct {
	Seed       uint64
	Nodes      int
	Rounds     int
	Seconds    float64 // of trouble and calm, without the emptying of queues
	Faults     map[string]int
	Exits      int            // servers that ended by themselves, and were started again
	Returns    int            // absences of a node that a checkpoint of the control shard has ended
	Calls      map[string]int // by operation and outcome; each message of a batch counts
	Times      []Times
	Gaps       []Gaps
	Violations []history.Violation `json:",omitempty"`
	Histories  []string            `json:",omitempty"` // files of the rounds that have them

	times times
	gaps  map[gapKey][]time.Duration
}

// Times is how long the answered calls of an operation took.
type Times struct {
	Operation history.Operation
	Count     int
	P50       time.Duration
	P99       time.Duration
	Max       time.Duration
}

// Gaps is how long an operation of a queue had no success in the episodes with these faults. It has the longest gap of
// each queue in each episode.
type Gaps struct {
	Faults    string
	Operation history.Operation
	Episodes  int // times the number of queues
	P50       time.Duration
	Max       time.Duration
}

type gapKey struct {
	faults    string
	operation history.Operation
}

type times map[history.Operation][]time.Duration

func (t *times) add(op history.Operation, d time.Duration) {
	if *t == nil {
		*t = make(times)
	}
	(*t)[op] = append((*t)[op], d)
}

func (r *Report) gap(faults string, op history.Operation, d time.Duration) {
	if r.gaps == nil {
		r.gaps = make(map[gapKey][]time.Duration)
	}
	r.gaps[gapKey{faults, op}] = append(r.gaps[gapKey{faults, op}], d)
}

// quantile returns the duration that a part q of the sorted durations does not exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// sum summarizes what was measured.
func (r *Report) sum() {
	for _, op := range slices.Sorted(maps.Keys(r.times)) {
		all := slices.Sorted(slices.Values(r.times[op]))
		r.Times = append(r.Times, Times{op, len(all), quantile(all, .5), quantile(all, .99), all[len(all)-1]})
	}
	for key, all := range r.gaps {
		slices.Sort(all)
		r.Gaps = append(r.Gaps, Gaps{key.faults, key.operation, len(all), quantile(all, .5), all[len(all)-1]})
	}
	slices.SortFunc(r.Gaps, func(a, b Gaps) int {
		return cmp.Or(
			cmp.Compare(strings.Count(a.Faults, "+"), strings.Count(b.Faults, "+")),
			strings.Compare(a.Faults, b.Faults),
			-cmp.Compare(a.Operation, b.Operation), // send before receive
		)
	})
}

// Print writes the report as tables.
func (r *Report) Print(w io.Writer) {
	fmt.Fprintf(w, "\nseed %d: %d nodes, %.0f s in %d rounds, %d servers ended by themselves\n\n",
		r.Seed, r.Nodes, r.Seconds, r.Rounds, r.Exits)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "call and outcome\tmessages or calls")
	for _, key := range slices.Sorted(maps.Keys(r.Calls)) {
		fmt.Fprintf(t, "%s\t%d\n", key, r.Calls[key])
	}
	fmt.Fprintln(t, "\t\ncall\tanswered\tp50\tp99\tmax")
	for _, c := range r.Times {
		fmt.Fprintf(t, "%s\t%d\t%v\t%v\t%v\n", c.Operation, c.Count, round(c.P50), round(c.P99), round(c.Max))
	}
	if len(r.Gaps) > 0 {
		fmt.Fprintln(t, "\t\nlongest without success, of each queue\t\tp50\tmax")
		for _, g := range r.Gaps {
			fmt.Fprintf(t, "%s\t%s\t%v\t%v\n", g.Faults, g.Operation, round(g.P50), round(g.Max))
		}
	}
	_ = t.Flush() // errors of printing do not matter
	fmt.Fprintf(w, "\nfaults: %v\n%d returns by checkpoint\n%d violations\n", r.Faults, r.Returns, len(r.Violations))
}

func round(d time.Duration) time.Duration {
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}
