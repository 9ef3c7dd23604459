package queue

// tally counts the events of a queue. The counters of the running minute are part of the queue's record. When the
// minute is over, they become a row of the queue's series, together with the gauges.
//
//   - minute is 0 exactly while the queue is not active. An active queue has a row for each minute.
//   - Counters are written with the change that they count. Only empty receives and the time of the last call may be
//     newer in memory than in the store; unwritten and writtenCall say so.
//   - Nothing is counted before the row of the previous minute is written, so all work that is due in the queue must be
//     done.
type tally struct {
	*base
	counting
	series *series

	unwritten   bool            // the stored record lacks empty receives
	writtenCall Instant         // lastCall as it is stored
	named       bool            // the name of the queue is stored beside its record
	total       [Counters]int64 // events since the engine was loaded
	last        *Row            // of the last minute, if the queue was active
	processing  *Histogram      // of the times from a receive to the deletion
	fair        tristate        // whether messages of a standard queue have groups
}

// off reports whether the queue has no series: there are none at all, or no account owns the queue.
func (t *tally) off() bool { return t.series.off() || t.cfg.Internal }

// count counts events of the queue.
func (t *tally) count(m Metric, n int64) {
	if t.off() {
		return
	}
	t.start()
	t.happened[m] += n
	t.series.totals[m] += n
	t.total[m] += n
}

// countDurably counts events that do not otherwise change the queue's record.
func (t *tally) countDurably(m Metric, n int64) {
	if !t.off() {
		t.count(m, n)
		t.markDirty()
	}
}

// countSent counts a message that was accepted.
func (t *tally) countSent(m *Message) {
	if t.off() {
		return
	}
	size := uint64(m.bodySize())
	t.sized.add(size, uint64(t.happened[MetricSent]), !t.series.unsized)
	t.count(MetricSent, 1)
	t.count(MetricSentBytes, int64(size))
}

// called records a client's call.
func (t *tally) called() {
	if t.off() {
		return
	}
	t.lastCall = minuteOf(t.now)
	t.start()
}

// start makes the queue active.
func (t *tally) start() {
	if t.minute == 0 && !t.off() {
		t.minute = minuteOf(t.now)
		t.touch()
	}
}

// over reports whether the running minute is over.
func (t *tally) over() bool { return t.minute != 0 && t.minute != minuteOf(t.now) }

// wakeAt returns when the running minute is over, or never.
func (t *tally) wakeAt() Instant {
	if t.minute == 0 {
		return never
	}
	return t.minute + minute
}

// end writes the row of the running minute, which is over, and begins the next minute.
func (t *tally) end(row *Row, empty bool) error {
	if err := t.series.write(t.cfg.ARN, *row, row.Values[MetricNoisyGroups].Sum > 0); err != nil {
		return err
	}
	t.last = row
	before := t.happened
	t.clear()
	if t.happened != before || t.lastCall != t.writtenCall {
		t.markDirty()
	}
	t.touch()
	if t.minute = minuteOf(t.now); empty && t.lastCall+activeAfterCall <= t.minute {
		t.minute, t.last = 0, nil
	}
	return nil
}

// close writes the row of the running minute of a queue that is being removed. The queue may be created again in the
// same minute: the two rows are then added.
func (t *tally) close() error { return t.series.close(t.cfg.ARN, &t.counting) }

// close writes the row of a queue's running minute, and begins none.
func (s *series) close(arn string, c *counting) error {
	if c.minute != 0 && !c.nothing() {
		if err := s.write(arn, c.counted(), false); err != nil {
			return err
		}
	}
	c.clear()
	c.minute = 0
	return nil
}

// load updates the running minute of a loaded record. A past minute without events gets no row.
func (t *tally) load(empty bool) {
	t.writtenCall = t.lastCall
	now := minuteOf(t.now)
	switch {
	case t.off():
		t.counting = counting{}
	case !t.nothing():
		t.minute = max(t.minute, minute) // it is written when the queue wakes up
	case !empty || t.lastCall+activeAfterCall > now:
		t.minute = now
	default:
		t.minute = 0
	}
	t.touch()
}

// written records that the queue's record has just been written.
func (t *tally) written() { t.unwritten, t.writtenCall = false, t.lastCall }

// rememberUse marks the record dirty if the stored time of the last call is too old.
func (t *tally) rememberUse() {
	if !t.off() && t.lastCall-max(t.writtenCall, minuteOf(t.cfg.Created)) >= useSlack {
		t.markDirty()
	}
}

// lastUse returns an instant after which no client has called; see Use.Last. Creating a queue counts as a use.
func (t *tally) lastUse() Instant {
	if t.off() {
		return t.now
	}
	return min(t.now, max(t.lastCall, minuteOf(t.cfg.Created))+useSlack)
}

// observeProcessing records the time from a consumer's receive of a message to its deletion.
func (t *tally) observeProcessing(m *received) {
	if t.cfg.Internal {
		return
	}
	if t.processing == nil {
		t.processing = new(Histogram)
	}
	t.processing.Observe(t.now.Sub(m.last))
}

// hasGroups reports whether messages of the queue have groups, or had groups when its series had the gauges of
// fairness.
func (t *tally) hasGroups() (bool, error) {
	if t.fair == unknown {
		n, err := t.series.name(t.cfg.ARN)
		if err != nil {
			return false, err
		}
		t.fair = no
		if n.fair {
			t.fair = yes
		}
	}
	return t.fair == yes, nil
}

// tristate is yes, no or not yet known.
type tristate uint8

const (
	unknown tristate = iota
	no
	yes
)
