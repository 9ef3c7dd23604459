package queue

// Glance is the summary of a queue for lists.
type Glance struct {
	State
	// Arriving counts messages that wait in the outbox for another shard.
	Arriving uint64
	// Happened holds the values of each counter since the engine was loaded.
	Happened [Counters]int64
	// LastMinute holds the values of each counter in the last complete minute. Counted reports whether the queue was
	// active in it.
	LastMinute [Counters]uint64
	Counted    bool
}

// Glance returns the summary of a queue, except Oldest, which Look.Oldest finds. ok is false if the shard does not know
// the queue. If this shard does not serve it, served is false and only Arriving is set.
//
// A glance is not a use of the queue and does not make it active.
func (e *Engine) Glance(id ID) (g Glance, served, ok bool, err error) {
	waiting := e.backlog.copies[id] + e.outboxes.waiting(id)
	q := e.queues[id]
	if q == nil {
		return Glance{Arriving: waiting}, false, waiting > 0, nil
	}
	if err := q.advance(); err != nil {
		return g, true, true, err
	}
	g = Glance{State: q.state(), Arriving: waiting, Happened: q.tally.total}
	if g.Counted = q.tally.last != nil; g.Counted {
		for m := range g.LastMinute {
			g.LastMinute[m] = q.tally.last.Values[m].Sum
		}
	}
	return g, true, true, nil
}
