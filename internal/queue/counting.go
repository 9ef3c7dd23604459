package queue

import (
	"slices"
	"time"
)

// counting is the part of a queue's record that says what has happened in the running
// minute. It is written with everything else that a transaction changes of the queue, so
// that a counter has changed exactly if what it counts has. When the minute ends it
// becomes a row of the queue's series.
//
// The engine does not write the record because of an empty receive, nor because of any
// other call that changes nothing: such calls are counted in memory, and written with the
// next change, with WriteEmptyReceives or at the end of the minute.
type counting struct {
	minute   Instant // the running minute; 0 while the queue is not active
	lastCall Instant // the minute of the last call
	happened [Counters]int64
	smallest uint64 // message sent in the minute
	largest  uint64
}

// activeAfterCall is for how long a queue is active after a call. It is active for as long
// as it holds messages, too. Of an active queue there is a row for each minute.
const activeAfterCall = Instant(6 * time.Hour / time.Millisecond)

// encode appends the fields to the record of a queue: the two minutes, the bits of the
// counters that are not 0, and these; then the sizes, if messages were sent.
func (c *counting) encode(w *writer) {
	w.Uint(uint64(c.minute / minute))
	w.Uint(uint64(c.lastCall / minute))
	var bits uint64
	for m, n := range c.happened {
		if n != 0 {
			bits |= 1 << m
		}
	}
	w.Uint(bits)
	for _, n := range c.happened {
		if n != 0 {
			w.Int(n)
		}
	}
	if c.happened[MetricSent] != 0 {
		w.Uint(c.smallest)
		w.Uint(c.largest)
	}
}

func (c *counting) decode(r *reader) {
	c.minute, c.lastCall = getMinute(r), getMinute(r)
	bits := r.Uint()
	if bits >= 1<<Counters {
		r.Fail()
		return
	}
	for m := range c.happened {
		if bits&(1<<m) != 0 {
			c.happened[m] = r.Int()
		}
	}
	if c.happened[MetricSent] != 0 {
		c.smallest, c.largest = r.Uint(), r.Uint()
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

// nothing reports whether there is nothing to be said of the minute.
func (c *counting) nothing() bool {
	return !slices.ContainsFunc(c.happened[:], func(n int64) bool { return n > 0 })
}

// uncounted reports whether the queue has no series: there are none, or the queue is not
// one that an account owns.
func (q *queue) uncounted() bool { return q.e.keep.off() || q.e.waits || q.cfg.Internal }

// waitsFor reports whether what needs a format must not begin yet.
func (k Keep) waitsFor(format int) bool { return 0 < k.UpTo && k.UpTo < format }

// Awaits reports whether there is something that begins with Allow.
func (e *Engine) Awaits() bool { return (e.waits || e.unsaid) && !e.keep.off() }

// Allow says that all programs read a format which may open the store later. What has
// waited for that begins.
func (e *Engine) Allow(format int) {
	if !e.Awaits() {
		return
	}
	begins := e.waits && format >= formatSeries
	e.waits = e.waits && !begins
	names := e.unsaid && format >= formatNames
	e.unsaid = e.unsaid && !names
	named := 0
	for _, q := range e.queues {
		if begins && q.stored > 0 {
			q.startMinute()
		}
		if names && !q.nothing() && named < workAtOnce { // those of the others are stored when the minute ends
			q.markDirty()
			named++
		}
	}
}

// count counts what has happened to the queue. The queue is at the present.
func (q *queue) count(m Metric, n int64) {
	if q.uncounted() {
		return
	}
	q.startMinute()
	q.happened[m] += n
	q.e.totals[m] += n
	q.total[m] += n
}

// countDurably counts what otherwise need not have changed the queue's record.
func (q *queue) countDurably(m Metric, n int64) {
	if !q.uncounted() {
		q.count(m, n)
		q.markDirty()
	}
}

// countSent counts a message that was accepted.
func (q *queue) countSent(m *Message) {
	if q.uncounted() {
		return
	}
	size := uint64(m.bodySize())
	if q.happened[MetricSent] == 0 {
		q.smallest, q.largest = size, size
	}
	q.smallest, q.largest = min(q.smallest, size), max(q.largest, size)
	q.count(MetricSent, 1)
	q.count(MetricSentBytes, int64(size))
}

// called notes that a client has called.
func (q *queue) called() {
	if q.uncounted() {
		return
	}
	q.lastCall = minuteOf(q.now)
	q.startMinute()
}

// startMinute makes the queue active.
func (q *queue) startMinute() {
	if q.minute == 0 && !q.uncounted() {
		q.minute = minuteOf(q.now)
		q.touch()
	}
}

// endMinute writes the row of the running minute, if that is over, and begins another.
func (q *queue) endMinute() error {
	now := minuteOf(q.now)
	if q.minute == 0 || q.minute == now {
		return nil
	}
	row, err := q.row()
	if err != nil {
		return err
	}
	if err := q.e.writeRow(q.cfg.ARN, row, row.Values[MetricNoisyGroups].Sum > 0); err != nil {
		return err
	}
	q.last = &row
	before := q.happened
	q.clear()
	if q.happened != before || q.lastCall != q.writtenCall {
		q.markDirty()
	}
	q.touch()
	if q.minute = now; q.stored == 0 && q.lastCall+activeAfterCall <= now {
		q.minute, q.last = 0, nil
	}
	return nil
}

// lastMinute writes the row of the running minute of a queue that is being removed. The
// queue may be made anew in the same minute: the two rows are then added.
func (q *queue) lastMinute() error {
	if q.minute == 0 || q.nothing() {
		return nil
	}
	r := q.counted()
	return q.e.writeRow(q.cfg.ARN, r, false)
}

// clear begins a minute. Messages may have been taken back that were received in a minute
// before: that is left to be counted.
func (c *counting) clear() {
	debt := min(0, c.happened[MetricReceived])
	c.happened = [Counters]int64{}
	c.happened[MetricReceived] = debt
	c.smallest, c.largest = 0, 0
}

// row returns the row of the running minute, with the gauges as they are now.
func (q *queue) row() (Row, error) {
	r := q.counted()
	return r, q.gauges(&r)
}

// counted returns the row of the running minute without the gauges.
func (c *counting) counted() Row {
	r := Row{Time: c.minute, Minutes: 1}
	for m, n := range c.happened {
		r.set(Metric(m), uint64(max(0, n)))
	}
	r.Values[MetricSentBytes].Min, r.Values[MetricSentBytes].Max = c.smallest, c.largest
	return r
}

// loadMinute brings the running minute of a record to the present: one in which nothing
// was counted is over without a row.
func (q *queue) loadMinute() {
	q.writtenCall = q.lastCall
	now := minuteOf(q.now)
	switch {
	case q.uncounted():
		q.counting = counting{}
	case !q.nothing():
		q.minute = max(q.minute, minute) // it is written when the queue wakes up
	case q.stored > 0 || q.lastCall+activeAfterCall > now:
		q.minute = now
	default:
		q.minute = 0
	}
	q.touch()
}

// CountEmptyReceives counts receives of clients that gave nothing, wherever they looked.
// The engine cannot know of them: a client's receive may ask several shards, and a long
// poll asks more than once.
// It does nothing if there is no such queue.
func (e *Engine) CountEmptyReceives(id ID, n uint64) {
	q := e.queues[id]
	if q == nil || q.uncounted() {
		return
	}
	q.count(MetricEmptyReceives, int64(min(n, 1<<32)))
	if !q.unwritten {
		q.unwritten = true
		e.unwritten = append(e.unwritten, id)
	}
}

// WriteEmptyReceives has the transaction write the empty receives that are counted in
// memory only.
func (e *Engine) WriteEmptyReceives() {
	for _, id := range e.unwritten {
		if q := e.queues[id]; q != nil && q.unwritten {
			q.markDirty()
		}
	}
	e.unwritten = e.unwritten[:0]
}

// Totals returns how often each counter has counted in all queues since the engine was
// loaded. They do not fall when a queue is removed.
func (e *Engine) Totals() [Counters]int64 { return e.totals }
