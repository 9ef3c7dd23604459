package queue

// Allow states that every program that may open the store later reads a format. Features that have waited for the
// format begin.
func (e *Engine) Allow(format int) {
	e.reads = format
	if !e.series.awaits() {
		return
	}
	counts, names := e.series.allow(format)
	named := 0
	for _, q := range e.queues {
		if counts && q.stored > 0 {
			q.tally.start()
		}
		// the names of other queues are stored when the minute ends
		if names && !q.tally.nothing() && named < workAtOnce {
			q.markDirty()
			named++
		}
	}
}

// endMinute ends the running minute of the queue if it is over.
func (q *queue) endMinute() error {
	if !q.tally.over() {
		return nil
	}
	row := q.tally.counted()
	if err := q.gauges(&row); err != nil {
		return err
	}
	if !q.cfg.FIFO {
		grouped, err := q.tally.hasGroups()
		if grouped && err == nil {
			err = q.fairness(&row)
		}
		if err != nil {
			return err
		}
	}
	return q.tally.end(&row, q.stored == 0)
}

// CountEmptyReceives counts receives of clients that returned no messages. The engine cannot detect them, because a
// client's receive may ask several shards, and a long poll asks more than once. CountEmptyReceives does nothing if
// there is no such queue.
func (e *Engine) CountEmptyReceives(id ID, n uint64) {
	q := e.queues[id]
	if q == nil || q.tally.off() {
		return
	}
	q.tally.count(MetricEmptyReceives, int64(min(n, 1<<32)))
	if !q.tally.unwritten {
		q.tally.unwritten = true
		e.unwritten = append(e.unwritten, id)
	}
}

// WriteEmptyReceives makes the transaction write the empty receives that are counted only in memory.
func (e *Engine) WriteEmptyReceives() {
	for _, id := range e.unwritten {
		if q := e.queues[id]; q != nil && q.tally.unwritten {
			q.markDirty()
		}
	}
	e.unwritten = e.unwritten[:0]
}

// Totals returns the values of each counter over all queues since the engine was loaded. They do not decrease when a
// queue is removed.
func (e *Engine) Totals() [Counters]int64 { return e.series.totals }
