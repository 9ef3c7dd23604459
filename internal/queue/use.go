package queue

// Use is what a shard knows of the use of a queue.
type Use struct {
	ID ID
	// Sealed says that the shard refuses calls to the queue and messages for it, as Config.Sealed has it.
	Sealed bool
	// Messages are those that the shard holds of the queue, in all states, and those that wait here to be brought
	// to it.
	Messages uint64
	// Last is an instant after which no client has called, as far as this shard knows; 0 of a queue that another shard
	// serves. Where calls are not counted it is now.
	Last Instant
}

// useSlack is how much of the latest use may be forgotten when the engine is loaded anew after a crash. Calls that
// change nothing are not written at once, but for the first after so long: it costs a write in an hour at most.
const useSlack = hour

// Use returns what is known of the use of a queue, or false if nothing is. To ask is no use.
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
