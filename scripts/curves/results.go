package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sluicemq/sluice/scripts/program"
)

// Results is the content of curves.json.
type Results struct {
	Machine  Machine
	Duration time.Duration // of each point, nanoseconds
	Rounds   int
	Runs     []Run
}

// Run is one point of a curve, measured once.
type Run struct {
	Series     string
	X          int
	Round      int
	Syncs      float64          // syncs of a small append per second, just before
	PeakMemory uint64           // maximum of the server in bytes; 0 if unknown
	Reports    []program.Report // several if one load would have exhausted the backlog
}

// rate returns the messages per second that went the whole way of the load: to
// the consumers if it has any, else to the queue.
func (r *Run) rate() float64 {
	if _, receives := r.latency("ReceiveMessage", .5); receives {
		return r.perSecond(func(b program.Report) uint64 { return b.Consumed })
	}
	return r.perSecond(func(b program.Report) uint64 { return b.Produced })
}

func (r *Run) perSecond(count func(program.Report) uint64) float64 {
	n, seconds := uint64(0), 0.0
	for _, b := range r.Reports {
		n += count(b)
		seconds += b.Seconds
	}
	if seconds == 0 {
		return 0
	}
	return float64(n) / seconds
}

// latency returns a quantile of the calls of an operation, .5 or .99: the
// median of the reports'.
func (r *Run) latency(operation string, quantile float64) (time.Duration, bool) {
	var all []time.Duration
	for _, b := range r.Reports {
		for _, c := range b.Calls {
			if c.Operation == operation && quantile == .5 {
				all = append(all, c.P50)
			} else if c.Operation == operation {
				all = append(all, c.P99)
			}
		}
	}
	if len(all) == 0 {
		return 0, false
	}
	slices.Sort(all)
	return all[len(all)/2], true
}

// dot is a point of a curve: the median of its rounds, and how far they lie
// apart.
type dot struct {
	x, y, low, high float64
	note            string // stands beside it
}

// curve returns the dots of a series in order of x. A run without a value is omitted.
func (r *Results) curve(series string, value func(*Run) (y float64, ok bool)) []dot {
	rounds := make(map[int][]float64)
	for i := range r.Runs {
		run := &r.Runs[i]
		if y, ok := value(run); ok && run.Series == series {
			rounds[run.X] = append(rounds[run.X], y)
		}
	}
	var dots []dot
	for x, ys := range rounds {
		slices.Sort(ys)
		n := len(ys)
		dots = append(dots, dot{x: float64(x), y: (ys[(n-1)/2] + ys[n/2]) / 2, low: ys[0], high: ys[n-1]})
	}
	slices.SortFunc(dots, func(a, b dot) int { return int(a.x - b.x) })
	return dots
}

// The values that curves are made of.

func rate(r *Run) (float64, bool) { return r.rate(), len(r.Reports) > 0 }

func syncs(r *Run) (float64, bool) { return r.Syncs, true }

func memory(r *Run) (float64, bool) { return float64(r.PeakMemory), r.PeakMemory > 0 }

func ceiling(r *Run) (float64, bool) {
	if len(r.Reports) == 0 || r.Reports[0].Ceiling == nil || len(r.Reports[0].Ceiling.Calls) == 0 {
		return 0, false
	}
	return r.Reports[0].Ceiling.Calls[0].PerSecond, true
}

func ratio(r *Run) (float64, bool) {
	if len(r.Reports) == 0 {
		return 0, false
	}
	return r.Reports[0].Ratio, r.Reports[0].Ratio > 0
}

// milliseconds is how long the calls of an operation took.
func milliseconds(operation string, quantile float64) func(*Run) (float64, bool) {
	return func(r *Run) (float64, bool) {
		d, ok := r.latency(operation, quantile)
		return float64(d) / float64(time.Millisecond), ok
	}
}

// write writes the results with a line for each run, so that two files can be
// compared.
func (r *Results) write(file string) error {
	head := *r
	head.Runs = nil
	text, err := json.MarshalIndent(head, "", "\t")
	if err != nil {
		return err
	}
	text = bytes.TrimSuffix(text, []byte("null\n}"))
	text = append(text, '[')
	for i := range r.Runs {
		line, err := json.Marshal(&r.Runs[i])
		if err != nil {
			return err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, "\n\t\t"...), line...)
	}
	return os.WriteFile(file, append(text, "\n\t]\n}\n"...), 0o644)
}

func readResults(file string) (*Results, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := new(Results)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, run := range r.Runs {
		for _, b := range run.Reports {
			if b.Report == nil {
				return nil, fmt.Errorf("%s: %s, %d: a report without figures", file, run.Series, run.X)
			}
		}
	}
	return r, nil
}
