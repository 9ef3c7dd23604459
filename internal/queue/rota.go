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

// nextTurnsMost is how many of the next turns are kept in memory, as a rule.
const nextTurnsMost = 64

// requeueGroup gives a group the last place in the rota, or none if it has no
// members.
func (q *queue) requeueGroup(name string, r *groupRecord) error {
	some, err := q.firstMembers(name, r, 1)
	switch {
	case err != nil:
		return err
	case len(some) > 0:
		q.addToRota(name, r)
	default:
		q.removeFromRota(name, r)
	}
	return nil
}

// addToRota gives a group the last place in the rota.
func (q *queue) addToRota(name string, r *groupRecord) {
	q.freePlace(r)
	q.rota.last++
	r.order = q.rota.last
	if q.rota.length == 0 {
		q.rota.head = r.order
	}
	if uint64(len(q.nextTurns)) == q.rota.length && len(q.nextTurns) < nextTurnsMost {
		q.nextTurns = append(q.nextTurns, turn{name, r.order})
	}
	q.rota.length++
	q.tx.Set(rotaKey(q.cfg.ID, r.order), []byte(name))
	q.tx.Set(groupKey(q.cfg.ID, name), r.encode())
	q.markDirty()
}

// removeFromRota removes the record of a group, and its place in the rota.
func (q *queue) removeFromRota(name string, r *groupRecord) {
	if r.order == 0 {
		return
	}
	q.freePlace(r)
	q.tx.Delete(groupKey(q.cfg.ID, name))
	q.markDirty()
}

// freePlace removes the place of a group from the store, also one in front of the
// rota's head, which an active group has.
func (q *queue) freePlace(r *groupRecord) {
	if r.order == 0 {
		return
	}
	q.tx.DeleteOnce(rotaKey(q.cfg.ID, r.order))
	if r.order >= q.rota.head {
		q.dropCached(r.order)
	}
	if r.order == q.rota.head {
		q.rota.head++
	}
	r.order = 0
}

// dropCached no longer counts a place, and removes it from the turns in memory. The
// place stays stored.
func (q *queue) dropCached(order uint64) {
	q.rota.length--
	i, found := slices.BinarySearchFunc(q.nextTurns, order, func(t turn, order uint64) int { return cmp.Compare(t.order, order) })
	if found {
		q.nextTurns = slices.Delete(q.nextTurns, i, i+1)
	}
}

// firstTurns returns the first n turns of the rota.
func (q *queue) firstTurns(n int) ([]turn, error) {
	if q.rota.length == 0 {
		reachable := q.delays.count + uint64(len(q.received)-q.lineHeld)
		if n := q.indexedCount(); len(q.activeGroups) == 0 && n > reachable {
			return nil, fmt.Errorf("%d messages of groups, and no group in the rota: %w", n-reachable, errMissing)
		}
		return nil, nil
	}
	if uint64(len(q.nextTurns)) < min(uint64(n), q.rota.length) {
		if err := q.readRota(max(n, nextTurnsMost)); err != nil {
			return nil, err
		}
	}
	q.rota.head = q.nextTurns[0].order
	return slices.Clone(q.nextTurns[:min(n, len(q.nextTurns))]), nil
}

// readRota reads the first n turns of the rota.
func (q *queue) readRota(n int) error {
	turns := make([]turn, 0, n)
	_, end := tableRange(q.cfg.ID, tableRota)
	err := q.tx.Scan(rotaKey(q.cfg.ID, q.rota.head), end, func(k, v []byte) bool {
		turns = append(turns, turn{name: string(v), order: tail(k, 0)})
		return len(turns) < n
	})
	if err == nil && uint64(len(turns)) < min(uint64(n), q.rota.length) {
		err = fmt.Errorf("the rota has %d places of %d: %w", len(turns), q.rota.length, errMissing)
	}
	if err == nil {
		q.nextTurns = turns
	}
	return err
}

// groupAtTurn returns the record of the group whose turn it is. It has members, or
// the store is damaged.
func (q *queue) groupAtTurn(t turn) (*groupRecord, error) {
	r, err := q.groupRecord(t.name)
	if err != nil {
		return nil, err
	}
	some, err := q.firstMembers(t.name, r, 1)
	if err == nil && (len(some) == 0 || r.order != t.order) {
		err = fmt.Errorf("group at place %d of the rota has %d members and place %d: %w", t.order, len(some), r.order, errMissing)
	}
	return r, err
}

// takeTurn takes the first group off the rota and makes it an active group.
func (q *queue) takeTurn(t turn) (*activeGroup, error) {
	if _, err := q.groupAtTurn(t); err != nil {
		return nil, err
	}
	q.dropCached(t.order)
	q.rota.head = t.order + 1
	q.markDirty()
	return q.activate(t.name), nil
}
