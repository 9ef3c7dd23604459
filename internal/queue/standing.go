package queue

// Standing is how a queue stands, from memory.
type Standing struct {
	ID     ID
	ARN    string
	FIFO   bool
	Counts Counts
	// Happened is how often each counter has counted since the engine was loaded.
	Happened [Counters]int64
	// Last is the row of the last minute that is over, or nil if the queue was not
	// active then.
	Last *Row
	// Wait is how long messages have waited for their first receive, from when they were sent, delays included. The
	// engine does not know it, and leaves it out. Processing is how long consumers took from the last receive to the
	// deletion. Nothing was observed if they are nil.
	Wait, Processing *Histogram
}

// Standings returns how the queues stand that an account owns. It reads nothing and does
// not bring the queues up to the present: a timeout that has just ended may still count.
func (e *Engine) Standings() []Standing {
	out := make([]Standing, 0, len(e.queues))
	for _, q := range e.queues {
		if !q.cfg.Internal {
			out = append(out, Standing{
				ID: q.cfg.ID, ARN: q.cfg.ARN, FIFO: q.cfg.FIFO, Counts: q.counts(), Happened: q.tally.total,
				Last:       q.tally.last,
				Processing: q.tally.processing.copied(),
			})
		}
	}
	return out
}
