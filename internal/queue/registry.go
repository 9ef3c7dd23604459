package queue

import (
	"fmt"
	"maps"
	"slices"
)

// registry knows each queue that has a config or data in the store. Its id is in one of these states:
//
//   - Served here: it is in queues. If messages wait for another shard, which serves some of its groups or served it
//     before, it is also in outboxes.
//   - Served elsewhere: it is only in outboxes.
//   - Unknown: it has data, but neither a config nor a deletion. It is in remains.unknown, and in outboxes while
//     copies of publications wait for it; see hold.
//   - Deleted, and the deletion can be undone: it is on the shelf.
//   - Deleted, with data left: it is in remains.deleted.
//
// The queues and outboxes of the first two states are also in byARN.
type registry struct {
	*transaction
	queues   map[ID]*queue
	outboxes outboxes
	byARN    map[string]destination
	shelf    shelf
	remains  remains
}

func newRegistry(t *transaction, s *series, deleted func(ID) bool) registry {
	return registry{
		transaction: t, queues: make(map[ID]*queue), byARN: make(map[string]destination), shelf: make(shelf),
		outboxes: outboxes{transaction: t, at: make(map[ID]*outbox)},
		remains:  remains{transaction: t, series: s, isDeleted: deleted, unknown: make(map[ID]bool)},
	}
}

// serve adds a queue.
func (r *registry) serve(q *queue) {
	r.queues[q.cfg.ID] = q
	r.byARN[q.cfg.ARN] = q
}

// forget removes a queue. Its outbox stays.
func (r *registry) forget(q *queue) {
	delete(r.queues, q.cfg.ID)
	if r.byARN[q.cfg.ARN] == destination(q) {
		delete(r.byARN, q.cfg.ARN)
	}
}

// loadOthers loads the outboxes, and finds the data of deleted and unknown queues.
func (r *registry) loadOthers() error {
	for next := ID(1); ; next++ {
		found, err := firstQueue(r.tx, next)
		if err != nil || found == 0 {
			return err
		}
		if q := r.queues[found]; q != nil {
			if err := r.outboxes.load(&q.cfg); err != nil {
				return fmt.Errorf("queue %s: %w", q.cfg.ARN, err)
			}
		} else if o := r.outboxes.at[found]; o != nil {
			if err := o.loadAlone(); err != nil {
				return fmt.Errorf("queue %s: %w", o.arn, err)
			}
		} else if _, shelved := r.shelf[found]; !shelved {
			r.remains.add(found)
		}
		next = found
	}
}

// addOutbox adds an empty outbox for a queue that another shard serves.
func (r *registry) addOutbox(cfg Config) {
	r.byARN[cfg.ARN] = r.outboxes.add(&cfg)
}

// dropOutbox removes an outbox and the messages in it.
func (r *registry) dropOutbox(o *outbox) {
	if o.last != 0 {
		r.tx.DeleteRange(queueRange(o.id))
	}
	r.forgetOutbox(o)
	o.dirty = false
}

// forgetOutbox removes an outbox from memory.
func (r *registry) forgetOutbox(o *outbox) {
	delete(r.outboxes.at, o.id)
	if r.byARN[o.arn] == destination(o) {
		delete(r.byARN, o.arn)
	}
}

// queueAtPresent finds the queue of a client's call, and does the work that is due in it.
func (r *registry) queueAtPresent(id ID) (*queue, error) {
	q := r.queues[id]
	switch {
	case q == nil:
		return nil, ErrNoQueue
	case q.cfg.Sealed:
		return nil, ErrSealed
	}
	if err := q.advance(); err != nil {
		return nil, err
	}
	q.tally.called()
	q.tally.rememberUse()
	return q, nil
}

// knows reports whether a queue has a config.
func (r *registry) knows(id ID) bool {
	return r.queues[id] != nil || r.outboxes.at[id] != nil && !r.remains.unknown[id]
}

// destination returns where to redrive or move a message of a group for the queue with the given ARN, or nil if there
// is no such queue. If the queue is sealed, the message has to wait.
func (r *registry) destination(arn, group string) (to destination, sealed bool) {
	switch d := r.byARN[arn].(type) {
	case *queue:
		return d.forGroup(group), d.cfg.Sealed
	case *outbox:
		return d, d.sealed
	}
	return nil, false
}

// destinationOf is destination for the queue with that id.
func (r *registry) destinationOf(id ID, group string) destination {
	if q := r.queues[id]; q != nil {
		return q.forGroup(group)
	}
	if o := r.outboxes.at[id]; o != nil {
		return o
	}
	return nil
}

// Unknown returns the ids of queues that have data in the store, but neither a config nor a deletion. Their data stays,
// and waiting copies of publications join it; see hold. Configure takes it over, and Drop removes it.
//
// The shard's owner ensures that its configs are newer than all stored data; then there are none. Unknown queues are
// the second line of defence: an owner whose configs are too old serves fewer queues, but destroys none.
func (r *registry) Unknown() []ID { return slices.Sorted(maps.Keys(r.remains.unknown)) }

// hold returns the outbox of an unknown queue. Its messages are forwarded as soon as the other shard is known.
func (r *registry) hold(id ID) (*outbox, error) {
	o := r.outboxes.add(&Config{ID: id})
	b, err := r.tx.Get(outboxKey(id))
	if b != nil && err == nil {
		err = o.load()
	}
	r.remains.unknown[id] = true
	return o, err
}

// letGo writes an outbox that hold has returned to the store, so that know finds it.
func (r *registry) letGo(id ID) {
	if r.remains.unknown[id] && r.outboxes.at[id] != nil {
		r.forceWrite = r.outboxes.save() || r.forceWrite
		delete(r.outboxes.at, id)
	}
}
