package queue

import (
	"fmt"
	"maps"
	"slices"
)

// remains are the data of queues that the engine does not serve. The data of deleted queues is removed step by step;
// the data of unknown queues stays.
type remains struct {
	*transaction
	series    *series
	isDeleted func(ID) bool
	deleted   []ID        // queues with data left
	unknown   map[ID]bool // see Engine.Unknown
}

// add notes that the store has data of a queue that the engine does not know.
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

// Unknown returns the ids of queues that have data in the store, but neither a config nor a deletion. Their data stays,
// and waiting copies of publications join it; see hold. Configure takes it over, and Drop removes it.
//
// The shard's owner ensures that its configs are newer than all stored data; then there are none. Unknown queues are
// the second line of defence: an owner whose configs are too old serves fewer queues, but destroys none.
func (e *Engine) Unknown() []ID { return slices.Sorted(maps.Keys(e.remains.unknown)) }

// hold returns the outbox of an unknown queue. Its messages are forwarded as soon as the other shard is known.
func (e *Engine) hold(id ID) (*outbox, error) {
	o := e.outboxes.add(&Config{ID: id})
	b, err := e.tx.Get(outboxKey(id))
	if b != nil && err == nil {
		err = o.load()
	}
	e.remains.unknown[id] = true
	return o, err
}

// letGo writes an outbox that hold has returned to the store, so that know finds it.
func (e *Engine) letGo(id ID) {
	if e.remains.unknown[id] && e.outboxes.at[id] != nil {
		e.forceWrite = e.outboxes.save() || e.forceWrite
		delete(e.outboxes.at, id)
	}
}

// know takes over the stored data of a queue if it was unknown.
func (e *Engine) know(id ID) error {
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
