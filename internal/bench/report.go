package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Report is the result of a load.
type Report struct {
	Seconds           float64
	Produced          uint64 // messages acknowledged during the measurement
	Consumed          uint64 // messages deleted during the measurement
	ProducedPerSecond float64
	ConsumedPerSecond float64
	Errors            uint64 // calls that failed
	LastError         string `json:",omitempty"`
	Calls             []Call
	ServerCPU         time.Duration `json:",omitempty"` // processor time of Config.ServerPID during the measurement
	Verdict           Verdict

	// The rest is for a load with a rate. The times of its sends count from when they were due.
	Rate   int    `json:",omitempty"` // messages to send a second
	Unsent uint64 `json:",omitempty"` // calls that were due and never begun; they count among the times, not the calls
	Late   Call   `json:",omitzero"`  // how late calls began for which a connection was waiting
}

// Messages returns how many messages the measurement is about: those that were sent or those that were consumed,
// whichever are more.
func (r *Report) Messages() uint64 { return max(r.Produced, r.Consumed) }

// CallsMade returns how many calls were answered during the measurement.
func (r *Report) CallsMade() (n uint64) {
	for _, c := range r.Calls {
		n += c.Count
	}
	return n
}

// Call is how long the calls of one operation took, in nanoseconds.
type Call struct {
	Operation string
	Count     uint64
	PerSecond float64
	P50       time.Duration
	P90       time.Duration
	P99       time.Duration
	P999      time.Duration
	Max       time.Duration
}

// call sums up the calls of an operation in a measurement that took so long.
func (l *latencies) call(operation string, took time.Duration) Call {
	n := l.n - l.unsent
	return Call{
		Operation: operation, Count: n, PerSecond: float64(n) / took.Seconds(),
		P50: l.quantile(.5), P90: l.quantile(.9), P99: l.quantile(.99), P999: l.quantile(.999), Max: l.max,
	}
}

// report sums up a measurement that took so long.
func (r *run) report(took time.Duration) *Report {
	seconds := took.Seconds()
	out := &Report{Seconds: seconds, Produced: r.produced.Load(), Consumed: r.consumed.Load()}
	out.ProducedPerSecond = float64(out.Produced) / seconds
	out.ConsumedPerSecond = float64(out.Consumed) / seconds
	r.mu.Lock()
	defer r.mu.Unlock()
	out.Errors = r.errors
	if r.schedule != nil {
		out.Rate = r.Rate
		out.Unsent = r.schedule.addUnsent(r.latencies(r.sendOperation()), time.Now())
		out.Late = r.latencies(late).call("", took)
	}
	if r.lastErr != nil {
		out.LastError = r.lastErr.Error()
	}
	for _, operation := range []string{
		"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "DeleteMessageBatch",
	} {
		if l := r.calls[operation]; l != nil {
			out.Calls = append(out.Calls, l.call(operation, took))
		}
	}
	return out
}

// Faults describes the faults of the queue; "" means none.
func (r *Report) Faults(fifo bool) string {
	v := &r.Verdict
	switch {
	case v.Lost > 0:
		return fmt.Sprintf("%d acknowledged messages were lost", v.Lost)
	case fifo && v.Duplicates > 0:
		return fmt.Sprintf("%d messages of a FIFO queue were received twice", v.Duplicates)
	case v.Disorder > 0:
		return fmt.Sprintf("%d messages of a FIFO queue were received out of order", v.Disorder)
	}
	return ""
}

// Print writes the report as tables.
func (r *Report) Print(w io.Writer) {
	fmt.Fprintf(w, "\n%.1f s: produced %.0f messages/s, consumed %.0f messages/s\n\n",
		r.Seconds, r.ProducedPerSecond, r.ConsumedPerSecond)
	printCalls(w, r.Calls)
	r.printRate(w)
	if n := r.CallsMade(); r.ServerCPU > 0 && n > 0 && r.Messages() > 0 {
		fmt.Fprintf(w, "\nthe server took %.1f µs of processor time a call, %.1f µs a message\n",
			microseconds(r.ServerCPU, n), microseconds(r.ServerCPU, r.Messages()))
	}
	v := &r.Verdict
	if v.Sent > 0 {
		fmt.Fprintf(w, "\nsent %d, received %d: %d lost, %d duplicates, %d out of order, %d sent without an answer\n",
			v.Sent, v.Received, v.Lost, v.Duplicates, v.Disorder, v.Doubtful)
	}
	printErrors(w, r.Errors, r.LastError)
}

// printRate prints how well a load with a rate kept to its schedule.
func (r *Report) printRate(w io.Writer) {
	if r.Rate == 0 {
		return
	}
	fmt.Fprintf(w, "\n%d messages/s were due, and sends count from then: the client's own delay in this is %s at p50, %s at p99\n",
		r.Rate, round(r.Late.P50), round(r.Late.P99))
	if r.Unsent > 0 {
		fmt.Fprintf(w, "%d sends were due and found no free connection until the end: the rate is too high\n", r.Unsent)
	}
}

func printCalls(w io.Writer, calls []Call) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "call\tcalls/s\tp50\tp90\tp99\tp99.9\tmax\t")
	for _, c := range calls {
		fmt.Fprintf(t, "%s\t%.0f\t%s\t%s\t%s\t%s\t%s\t\n", c.Operation, c.PerSecond,
			round(c.P50), round(c.P90), round(c.P99), round(c.P999), round(c.Max))
	}
	_ = t.Flush() // as with all that is printed
}

func printErrors(w io.Writer, n uint64, last string) {
	if n > 0 {
		fmt.Fprintf(w, "%d calls failed, the last with: %s\n", n, last)
	}
}

// microseconds returns the n-th part of d.
func microseconds(d time.Duration, n uint64) float64 {
	return float64(d.Nanoseconds()) / 1e3 / float64(n)
}

func round(d time.Duration) time.Duration {
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(100 * time.Microsecond)
}
