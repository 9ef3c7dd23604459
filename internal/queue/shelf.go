package queue

import (
	"fmt"
	"maps"
)

// shelf has the deleted queues whose deletion can be undone; see Config.Shelved. The engine does nothing with them, and
// their data stays in the store unchanged. An undo loads the queue as a newly loaded engine does, so a queue on the
// shelf needs no other memory.
type shelf map[ID]shelved

type shelved struct {
	arn      string
	messages uint64 // stored messages, including those that a purge has kept
}

// shelve puts a queue on the shelf. To all calls it no longer exists. Messages in its outbox stay there.
func (e *Engine) shelve(cfg *Config) error {
	delete(e.remains.unknown, cfg.ID)
	if o := e.outboxes.at[cfg.ID]; o != nil {
		e.forceWrite = o.save() || e.forceWrite
		e.forgetOutbox(o)
	}
	if q := e.queues[cfg.ID]; q != nil {
		if err := q.leave(); err != nil {
			return fmt.Errorf("shelve queue %s: %w", cfg.ARN, err)
		}
	}
	return e.loadShelved(cfg)
}

// shelveCopy puts the copy of a publication into the outbox of a queue on the shelf. The publisher got an answer before
// the queue was deleted, so the copy comes back with the queue. This outbox is in the store only.
func (r *registry) shelveCopy(id ID, m *Outgoing) error {
	o := &outbox{outboxes: &r.outboxes, id: id}
	b, err := r.tx.Get(outboxKey(id))
	if b != nil && err == nil {
		err = o.decode(b)
	}
	if err != nil {
		return fmt.Errorf("shelved queue %d: %w", id, err)
	}
	if err := o.sendCopy(m); err != nil {
		return err
	}
	r.forceWrite = o.save()
	return nil
}

// leave writes the state of a queue that is only in memory, and removes the queue from memory. The running minute ends,
// as if the queue were dropped.
func (q *queue) leave() error {
	e := q.e
	if q.tally.minute != 0 {
		q.markDirty()
	}
	if err := q.tally.close(); err != nil {
		return err
	}
	if q.dirty {
		q.save()
		e.forceWrite = true
	}
	maps.DeleteFunc(e.groupRecords, func(of cachedGroup, _ *groupRecord) bool { return of.queue == q.cfg.ID })
	e.remove(q)
	return nil
}

// remove removes a queue from memory.
func (e *Engine) remove(q *queue) {
	e.forget(q)
	q.touch() // so that waiting receives are answered
	q.dirty = false
	e.wakes.Remove(q)
}

// loadShelved adds a queue to the shelf. A damaged record of a deleted queue must not prevent the shard from loading.
func (e *Engine) loadShelved(cfg *Config) error {
	s := shelved{arn: cfg.ARN}
	record, err := e.tx.Get(metaKey(cfg.ID))
	if err != nil {
		return fmt.Errorf("shelved queue %s: %w", cfg.ARN, err)
	}
	var m meta
	if record != nil && m.decode(record) == nil {
		s.messages = m.stored + m.kept.messages
		if !m.counting.nothing() {
			e.unclosed = append(e.unclosed, cfg.ID)
		}
	}
	e.shelf[cfg.ID] = s
	return nil
}

// closeShelved writes the rows of the running minutes of queues that were shelved while no engine was loaded, as leave
// does for others. It does a bounded amount of work.
func (e *Engine) closeShelved() error {
	for len(e.unclosed) > 0 && !e.spent() {
		e.work++
		id := e.unclosed[0]
		if on, is := e.shelf[id]; is {
			if err := e.closeMinute(id, on.arn); err != nil {
				return fmt.Errorf("running minute of the shelved queue %s: %w", on.arn, err)
			}
		}
		e.unclosed = e.unclosed[1:]
	}
	return nil
}

// closeMinute writes the row of the running minute of a queue on the shelf.
func (e *Engine) closeMinute(id ID, arn string) error {
	record, err := e.tx.Get(metaKey(id))
	var m meta
	if record == nil || err != nil || m.decode(record) != nil || m.counting.nothing() {
		return err
	}
	m.minute = max(m.minute, minute)
	if e.series.keep.off() {
		m.minute = 0 // it gets no row
	}
	if err := e.series.close(arn, &m.counting); err != nil {
		return err
	}
	e.tx.Set(metaKey(id), m.encode(nil))
	e.forceWrite = true
	return nil
}

// unshelve loads a queue that was on the shelf, or its outbox if another shard serves it.
func (e *Engine) unshelve(id ID) error {
	delete(e.shelf, id)
	q := e.queues[id]
	if q == nil {
		b, err := e.tx.Get(outboxKey(id))
		if b == nil || err != nil {
			return err
		}
		return e.outboxes.at[id].loadAlone()
	}
	return firstError(q.load(), e.outboxes.load(&q.cfg), q.dedup.loadFilters())
}

// dropShelved removes the data of a queue that was on the shelf.
func (e *Engine) dropShelved(id ID) error {
	delete(e.shelf, id)
	if found, err := firstQueue(e.tx, id); found != id || err != nil {
		return err // nothing was ever written here, and range deletions slow down reads
	}
	record, err := e.tx.Get(metaKey(id))
	if err != nil {
		return err
	}
	if q := newQueue(e, Config{ID: id}); record != nil && q.restore(record) == nil {
		if err := q.dedup.purge(); err != nil {
			return err
		}
	}
	return e.remains.remove(id)
}

// isGone reports whether a queue was deleted, even if the deletion can be undone.
func (r *registry) isGone(id ID) bool {
	_, shelved := r.shelf[id]
	return shelved || r.remains.isDeleted(id)
}
