package queue

// Standing is the state of a queue, from memory.
type Standing struct {
	ID     ID
	ARN    string
	FIFO   bool
	Counts Counts
	// Happened holds the values of each counter since the engine was loaded.
	Happened [Counters]int64
	// Last is the row of the last minute that is over, or nil if the queue was not
	// active then.
	Last *Row
	// Wait is the time from the send of messages to their first receive, including delays. The engine does not know it,
	// and leaves it nil. Processing is the time from the last receive to the deletion. Nil means no observations.
	Wait, Processing *Histogram
}

// Standings returns the state of all queues that accounts own. It does not read the store or do due work, so a timeout
// that has just ended may still count.
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
