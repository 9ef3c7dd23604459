package queue

import (
	"cmp"
	"fmt"
	"slices"
)

// turn is the place of a group in the rota.
type turn struct {
	name  string
	order uint64
}

// rota is the order in which the groups of a queue take turns. A group with members has a place unless it is active or
// paused.
//
//   - Places are assigned in ascending order and never reused, so a group with a new place is last.
//   - [head, last] holds the places of length groups. Stored places in front of head belong to active groups, until
//     these return; they do not count.
//   - next are the first places, in order and without a gap.
//   - last and head may be newer in memory than in the store: a place that was assigned and not stored is free after a
//     restart.
type rota struct {
	*base
	rotaRecord
	next []turn
}

// nextTurnsMost is the usual number of next turns in memory.
const nextTurnsMost = 64

// place returns the place behind all others.
func (o *rota) place() uint64 {
	o.last++
	return o.last
}

// add gives a group the last place in the rota.
func (o *rota) add(name string, r *groupRecord) {
	o.free(r)
	r.order = o.place()
	if o.length == 0 {
		o.head = r.order
	}
	if uint64(len(o.next)) == o.length && len(o.next) < nextTurnsMost {
		o.next = append(o.next, turn{name, r.order})
	}
	o.length++
	o.tx.Set(rotaKey(o.cfg.ID, r.order), []byte(name))
	o.tx.Set(groupKey(o.cfg.ID, name), r.encode())
	o.markDirty()
}

// remove removes the record of a group, and its place in the rota.
func (o *rota) remove(name string, r *groupRecord) {
	if r.order == 0 {
		return
	}
	o.free(r)
	o.tx.Delete(groupKey(o.cfg.ID, name))
	o.markDirty()
}

// free removes the place of a group from the store, even that of an active group in front of head.
func (o *rota) free(r *groupRecord) {
	if r.order == 0 {
		return
	}
	o.tx.DeleteOnce(rotaKey(o.cfg.ID, r.order))
	if r.order >= o.head {
		o.drop(r.order)
	}
	if r.order == o.head {
		o.head++
	}
	r.order = 0
}

// drop removes a place from length and next. The place stays stored.
func (o *rota) drop(order uint64) {
	o.length--
	i, found := slices.BinarySearchFunc(o.next, order, func(t turn, order uint64) int {
		return cmp.Compare(t.order, order)
	})
	if found {
		o.next = slices.Delete(o.next, i, i+1)
	}
}

// first returns the first n turns.
func (o *rota) first(n int) ([]turn, error) {
	if o.length == 0 {
		return nil, nil
	}
	if uint64(len(o.next)) < min(uint64(n), o.length) {
		if err := o.read(max(n, nextTurnsMost)); err != nil {
			return nil, err
		}
	}
	o.head = o.next[0].order
	return slices.Clone(o.next[:min(n, len(o.next))]), nil
}

// leave removes the first group from the rota. Its place stays stored while it is active.
func (o *rota) leave(t turn) {
	o.drop(t.order)
	o.head = t.order + 1
	o.markDirty()
}

// purge forgets all groups. Their places are never reused.
func (o *rota) purge() {
	o.rotaRecord = rotaRecord{last: o.last, head: o.last + 1}
	o.next = nil
}

// read reads the first n turns of the rota.
func (o *rota) read(n int) error {
	turns := make([]turn, 0, n)
	_, end := tableRange(o.cfg.ID, tableRota)
	err := o.tx.Scan(rotaKey(o.cfg.ID, o.head), end, func(k, v []byte) bool {
		turns = append(turns, turn{name: string(v), order: tail(k, 0)})
		return len(turns) < n
	})
	if err == nil && uint64(len(turns)) < min(uint64(n), o.length) {
		err = fmt.Errorf("the rota has %d places of %d: %w", len(turns), o.length, errMissing)
	}
	if err == nil {
		o.next = turns
	}
	return err
}
