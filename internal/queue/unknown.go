package queue

import "fmt"

// remains are the data of queues that the engine does not serve. The data of deleted queues is removed step by step;
// the data of unknown queues stays.
type remains struct {
	*transaction
	series    *series
	isDeleted func(ID) bool
	deleted   []ID        // queues with data left
	unknown   map[ID]bool // see Engine.Unknown
}

// add records that the store has data of a queue that the engine does not know.
func (r *remains) add(id ID) {
	if r.isDeleted(id) {
		r.deleted = append(r.deleted, id)
	} else {
		r.unknown[id] = true
	}
}

// removeDeleted removes the data of queues that were deleted before the engine was loaded. It does a bounded amount
// of work.
func (r *remains) removeDeleted() error {
	for len(r.deleted) > 0 && !r.spent() {
		r.work++
		if err := r.remove(r.deleted[0]); err != nil {
			return fmt.Errorf("queue %d, which was deleted: %w", r.deleted[0], err)
		}
		r.deleted = r.deleted[1:]
	}
	return nil
}

// remove removes the data of a queue whose deletion was interrupted. It writes the row of the running minute.
func (r *remains) remove(id ID) error {
	name, c, err := leftoverMinute(r.tx, id)
	if err != nil {
		return err
	}
	if name != "" && !r.series.keep.off() {
		if err := r.series.write(name, c.counted(), false); err != nil {
			return err
		}
	}
	r.tx.DeleteRange(queueRange(id))
	return nil
}

// know takes over the stored data of a queue if it was unknown or on the shelf.
func (e *Engine) know(id ID) error {
	if _, shelved := e.shelf[id]; shelved {
		return e.unshelve(id)
	}
	if !e.remains.unknown[id] {
		return nil
	}
	delete(e.remains.unknown, id)
	q := e.queues[id]
	if q == nil {
		return e.outboxes.at[id].loadAlone()
	}
	only := func(other ID) *queue {
		if other != id {
			return nil
		}
		return q
	}
	return firstError(q.load(), e.outboxes.load(&q.cfg), e.slots.load(only))
}
