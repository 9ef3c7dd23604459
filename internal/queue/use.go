package queue

// Use is what a shard knows about the use of a queue.
type Use struct {
	ID ID
	// Sealed says that the shard refuses calls to the queue and messages for it; see Config.Sealed.
	Sealed bool
	// Messages is the number of the queue's messages on this shard, in all states, including those that wait in the
	// outbox.
	Messages uint64
	// Last is an instant after which no client has called, as far as this shard knows. It is 0 if another shard serves
	// the queue, and now if calls are not counted.
	Last Instant
}

// useSlack limits how much of the latest use a crash can lose. A call that changes nothing is written only if the
// stored time is older than useSlack, so such calls cost at most a write per hour.
const useSlack = hour

// Use returns what is known about the use of a queue, or false if nothing is known. The call itself does not count as a
// use.
func (e *Engine) Use(id ID) (u Use, ok bool, err error) {
	u = Use{ID: id, Messages: e.backlog.copies[id]}
	o, q := e.outboxes.at[id], e.queues[id]
	if o != nil {
		u.Messages += o.stored
		u.Sealed = o.sealed
	}
	if q == nil {
		return u, o != nil && !e.remains.unknown[id], nil
	}
	if err := q.advance(); err != nil {
		return u, true, err
	}
	u.Sealed = q.cfg.Sealed
	u.Messages += q.stored
	u.Last = q.tally.lastUse()
	return u, true, nil
}

// Used notes that a client has used a queue without calling the engine.
func (e *Engine) Used(id ID) error {
	_, err := e.queueAtPresent(id)
	return err
}
