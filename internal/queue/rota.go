package queue

import (
	"cmp"
	"fmt"
	"slices"
)

// rotaPlace is a group in the rota.
type rotaPlace struct {
	name  string
	order uint64
}

// turnsMost is how many places of the rota are kept in memory, as a rule.
const turnsMost = 64

// relocate gives a group a new place at the end of the rota, or none if it has
// no members.
func (q *queue) relocate(name string, r *roster) error {
	some, err := q.members(name, r, 1)
	switch {
	case err != nil:
		return err
	case len(some) > 0:
		q.enlist(name, r)
	default:
		q.delist(name, r)
	}
	return nil
}

// enlist gives a group the last place in the stored rota.
func (q *queue) enlist(name string, r *roster) {
	q.vacate(r)
	q.lastOrder++
	r.order = q.lastOrder
	if q.rotaLength == 0 {
		q.rotaHead = r.order
	}
	if uint64(len(q.turns)) == q.rotaLength && len(q.turns) < turnsMost {
		q.turns = append(q.turns, rotaPlace{name, r.order})
	}
	q.rotaLength++
	q.e.tx.Set(rotaKey(q.cfg.ID, r.order), []byte(name))
	q.e.tx.Set(groupKey(q.cfg.ID, name), r.encode())
	q.change()
}

// delist removes a group's place in the stored rota and its record.
func (q *queue) delist(name string, r *roster) {
	if r.order == 0 {
		return
	}
	q.vacate(r)
	q.e.tx.Delete(groupKey(q.cfg.ID, name))
	q.change()
}

// vacate removes a group's place in the stored rota, also one whose turn has
// been.
func (q *queue) vacate(r *roster) {
	if r.order == 0 {
		return
	}
	q.e.tx.DeleteOnce(rotaKey(q.cfg.ID, r.order))
	if r.order >= q.rotaHead {
		q.strike(r.order)
	}
	if r.order == q.rotaHead {
		q.rotaHead++
	}
	r.order = 0
}

// strike takes a place off the rota, but not out of the store.
func (q *queue) strike(order uint64) {
	q.rotaLength--
	i, found := slices.BinarySearchFunc(q.turns, order, func(t rotaPlace, order uint64) int { return cmp.Compare(t.order, order) })
	if found {
		q.turns = slices.Delete(q.turns, i, i+1)
	}
}

// rota returns the first n groups of the stored rota.
func (q *queue) rota(n int) ([]rotaPlace, error) {
	if q.rotaLength == 0 {
		reachable := q.delayed + uint64(len(q.received)-q.lineHeld)
		if n := q.indexedCount(); len(q.groups) == 0 && n > reachable {
			return nil, fmt.Errorf("%d messages of groups, and no group in the rota: %w", n-reachable, errMissing)
		}
		return nil, nil
	}
	if uint64(len(q.turns)) < min(uint64(n), q.rotaLength) {
		if err := q.readRota(max(n, turnsMost)); err != nil {
			return nil, err
		}
	}
	q.rotaHead = q.turns[0].order
	return slices.Clone(q.turns[:min(n, len(q.turns))]), nil
}

// readRota reads the first n places of the rota.
func (q *queue) readRota(n int) error {
	turns := make([]rotaPlace, 0, n)
	_, end := tableRange(q.cfg.ID, tableRota)
	err := q.e.tx.Scan(rotaKey(q.cfg.ID, q.rotaHead), end, func(k, v []byte) bool {
		turns = append(turns, rotaPlace{name: string(v), order: tail(k, 0)})
		return len(turns) < n
	})
	if err == nil && uint64(len(turns)) < min(uint64(n), q.rotaLength) {
		err = fmt.Errorf("the rota has %d places of %d: %w", len(turns), q.rotaLength, errMissing)
	}
	if err == nil {
		q.turns = turns
	}
	return err
}

// listed returns the roster of a group in the rota, which has members.
func (q *queue) listed(t rotaPlace) (*roster, error) {
	r, err := q.roster(t.name)
	if err != nil {
		return nil, err
	}
	some, err := q.members(t.name, r, 1)
	if err == nil && (len(some) == 0 || r.order != t.order) {
		err = fmt.Errorf("group at place %d of the rota has %d members and place %d: %w", t.order, len(some), r.order, errMissing)
	}
	return r, err
}

// takeTurn makes the first group of the stored rota one that holds messages.
func (q *queue) takeTurn(t rotaPlace) (*group, error) {
	if _, err := q.listed(t); err != nil {
		return nil, err
	}
	q.strike(t.order)
	q.rotaHead = t.order + 1
	q.change()
	return q.hold(t.name), nil
}
