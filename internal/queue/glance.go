package queue

// Glance is what a list of queues shows of one.
type Glance struct {
	State
	// Arriving are messages of the queue that wait here to be brought to another shard.
	Arriving uint64
	// Happened is how often each counter has counted since the engine was loaded.
	Happened [Counters]int64
	// LastMinute is what each counter has counted in the last minute that is over, and Counted whether the queue was
	// active in it, so that there is anything to be said.
	LastMinute [Counters]uint64
	Counted    bool
}

// Glance returns what a list shows of a queue, but for Oldest, which Look.Oldest finds, or false if there is nothing
// of the queue on this shard. served says that this shard serves it: otherwise there is only what is Arriving
// elsewhere.
//
// To look at a list is no use of its queues: it does not make them active.
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
