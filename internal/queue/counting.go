package queue

import (
	"slices"
	"time"
)

// counting is the part of a queue's record that counts the events of the running minute. It is written together with
// the transaction's other changes of the queue, so a counter changes exactly when the counted event is durable. When
// the minute ends, it becomes a row of the queue's series.
//
// The engine does not write the record for an empty receive, nor for any other call that changes nothing. It counts
// such calls in memory, and writes them with the next change, with WriteEmptyReceives or at the end of the minute.
type counting struct {
	minute   Instant // the running minute; 0 while the queue is not active
	lastCall Instant // the minute of the last call
	happened [Counters]int64
	sized    // the sent messages
}

// activeAfterCall is how long a queue stays active after a call. A queue with messages is active, too. An active queue
// has a row for each minute.
const activeAfterCall = Instant(6 * time.Hour / time.Millisecond)

// encode appends the fields to the record of a queue: the two minutes, a bit for each counter that is not 0, and these
// counters; then the sizes, if messages were sent.
func (c *counting) encode(w *writer) {
	w.Uint(uint64(c.minute / minute))
	w.Uint(uint64(c.lastCall / minute))
	w.Sparse(Counters, func(m int) bool { return c.happened[m] != 0 }, func(m int) { w.Int(c.happened[m]) })
	if c.happened[MetricSent] != 0 {
		c.sized.encode(w)
	}
}

// decode reads the fields from a record. Records of sizedVersion have the sizes.
func (c *counting) decode(r *reader, sizes bool) {
	c.minute, c.lastCall = getMinute(r), getMinute(r)
	r.Sparse(Counters, func(m int) { c.happened[m] = r.Int() })
	if c.happened[MetricSent] != 0 {
		c.sized.decode(r, sizes, uint64(max(0, c.happened[MetricSent])))
	}
}

func getMinute(r *reader) Instant {
	n := r.Uint()
	if n > uint64(never/minute) {
		r.Fail()
		return 0
	}
	return Instant(n) * minute
}

// nothing reports whether the minute has no events.
func (c *counting) nothing() bool {
	return !slices.ContainsFunc(c.happened[:], func(n int64) bool { return n > 0 })
}

// clear begins a minute. If more receives were reverted than made, because some of them are from an earlier minute, the
// difference carries over.
func (c *counting) clear() {
	debt := min(0, c.happened[MetricReceived])
	c.happened = [Counters]int64{}
	c.happened[MetricReceived] = debt
	c.sized = sized{}
}

// counted returns the row of the running minute without the gauges.
func (c *counting) counted() Row {
	r := Row{Time: c.minute, Minutes: 1}
	for m, n := range c.happened {
		r.set(Metric(m), uint64(max(0, n)))
	}
	c.put(&r)
	return r
}
