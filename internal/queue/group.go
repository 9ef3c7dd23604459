package queue

import (
	"cmp"
	"container/list"
	"fmt"
	"slices"
)

// group is a FIFO message group that has received messages. While one of them
// is in flight, nothing behind it is served.
type group struct {
	name  string
	held  []*received // in order of position
	order uint64      // place in the rota if elem is not nil
	elem  *list.Element
}

func (g *group) remove(m *received) {
	i := slices.Index(g.held, m)
	g.held = slices.Delete(g.held, i, i+1)
}

// servable reports whether the group's first message can be received.
func (g *group) servable() bool { return len(g.held) > 0 && !g.held[0].inFlight }

// A member is an available message of a group that was never received.
type member struct {
	pos  Position
	sent Instant
}

// roster is what the stored part of a group says: who its members are and when
// it is its turn. A FIFO group that holds messages in memory is out of the rota;
// its place there and its record stay behind as they were, and are removed when
// it comes back.
//
// The place and the head are kept in the group's record, which is there while
// the group has a place.
type roster struct {
	order uint64   // place in the rota, 0 if there is none
	head  Position // no member is before it
	// ahead are the first members, in order, and all says that there are no
	// others. A message that is sent to a group of few is received without
	// another look at the store.
	ahead []member
	all   bool
}

// aheadMost is how many members of a group are kept in memory.
const aheadMost = 64

// A group that empties and fills has its record removed and written time and
// again, and an LSM tree that is asked for a removed key may have to look at
// each of the values it had before. So the rosters in use, those that are empty
// too, are kept in memory, as many as cachedGroups.
type groupCache map[cachedGroup]*roster

type cachedGroup struct {
	queue ID
	name  string
}

const cachedGroups = 10_000

// roster returns what is known of a group. What is in memory only can be found
// out again, so that a cache that is full may be emptied at any time; but no two
// rosters of a group are to be in use at once.
func (q *queue) roster(name string) (*roster, error) {
	cached := cachedGroup{q.cfg.ID, name}
	if r := q.e.groups[cached]; r != nil {
		return r, nil
	}
	b, err := q.e.tx.Get(groupKey(q.cfg.ID, name))
	if err != nil {
		return nil, err
	}
	r := &roster{all: true} // with members it would have a place
	if b != nil {
		if *r, err = decodeRoster(b); err != nil {
			return nil, err
		}
	}
	if len(q.e.groups) >= cachedGroups {
		clear(q.e.groups)
	}
	q.e.groups[cached] = r
	return r, nil
}

func (r *roster) encode() []byte {
	w := newRecord(24)
	w.uint(r.order)
	w.uint(uint64(r.head))
	return w
}

func decodeRoster(b []byte) (roster, error) {
	r := readRecord(b)
	g := roster{order: r.uint(), head: Position(r.uint())}
	return g, r.done("group")
}

// add takes note of a new member.
func (r *roster) add(m member) {
	if r.all && len(r.ahead) == 0 {
		r.head = m.pos
	}
	r.head = min(r.head, m.pos)
	i, _ := r.find(m.pos)
	if i == len(r.ahead) && !r.all {
		return // one of those that are not in memory
	}
	r.ahead = slices.Insert(r.ahead, i, m)
	if len(r.ahead) > aheadMost {
		r.ahead, r.all = r.ahead[:aheadMost], false
	}
}

func (r *roster) find(p Position) (int, bool) {
	return slices.BinarySearchFunc(r.ahead, p, func(m member, p Position) int { return cmp.Compare(m.pos, p) })
}

// join makes the message at p an available member of its group.
func (q *queue) join(name string, p Position, sent Instant) error {
	r, err := q.roster(name)
	if err != nil {
		return err
	}
	w := newRecord(16)
	w.instant(sent)
	q.e.tx.Set(memberKey(q.cfg.ID, name, p), w)
	before := r.head
	r.add(member{p, sent})
	switch {
	case r.order == 0 && q.groups[name] == nil:
		q.enlist(name, r)
	case r.order != 0 && r.head < before:
		q.e.tx.Set(groupKey(q.cfg.ID, name), r.encode())
	}
	q.change()
	return nil
}

// members returns the first n members of a group, or all if there are fewer.
func (q *queue) members(name string, r *roster, n int) ([]member, error) {
	if len(r.ahead) < n && !r.all {
		if err := q.lookAhead(name, r, max(n, aheadMost)); err != nil {
			return nil, fmt.Errorf("members of a group: %w", err)
		}
	}
	return r.ahead[:min(n, len(r.ahead))], nil
}

// lookAhead reads the first n members of a group.
func (q *queue) lookAhead(name string, r *roster, n int) error {
	ahead := make([]member, 0, aheadMost)
	var bad error
	lo, hi := memberRange(q.cfg.ID, name, r.head)
	err := q.e.tx.Scan(lo, hi, func(k, v []byte) bool {
		rec := readRecord(v)
		ahead = append(ahead, member{pos: Position(tail(k, 0)), sent: rec.instant()})
		bad = rec.done("group member")
		return bad == nil && len(ahead) < n
	})
	if err := firstError(err, bad); err != nil {
		return err
	}
	r.ahead, r.all = ahead, len(ahead) < n
	return nil
}

// leave ends the membership of the first n members, who must be in memory.
func (q *queue) leave(name string, r *roster, n int) {
	for _, m := range r.ahead[:n] {
		q.e.tx.DeleteOnce(memberKey(q.cfg.ID, name, m.pos))
		r.head = m.pos + 1
	}
	r.ahead = r.ahead[n:]
	q.change()
}

// dropMember takes a member out of its group, wherever it stands.
func (q *queue) dropMember(name string, p Position) error {
	r, err := q.roster(name)
	if err != nil {
		return err
	}
	q.e.tx.DeleteOnce(memberKey(q.cfg.ID, name, p))
	if i, known := r.find(p); known {
		if i == 0 {
			r.head = p + 1
		}
		r.ahead = slices.Delete(r.ahead, i, i+1)
	}
	q.change()
	if q.groups[name] != nil {
		return nil // it gets its place when it comes back
	}
	some, err := q.members(name, r, 1)
	if err == nil && len(some) == 0 {
		q.delist(name, r)
	}
	return err
}

// hold returns the group of that name in memory, making it if need be.
func (q *queue) hold(name string) *group {
	g := q.groups[name]
	if g == nil {
		g = &group{name: name}
		q.groups[name] = g
	}
	return g
}

// relist puts a group that can be served at the end of the rota in memory, if
// it is not there, and takes one that cannot out of it.
func (q *queue) relist(g *group) {
	switch {
	case g.servable() && g.elem == nil:
		q.lastOrder++
		g.order = q.lastOrder
		g.elem = q.ready.PushBack(g)
	case !g.servable() && g.elem != nil:
		q.ready.Remove(g.elem)
		g.elem = nil
	}
}

// release looks after a group of which a message was given out or has gone: a
// group that holds nothing more goes back to the stored rota if it has members.
func (q *queue) release(g *group) error {
	q.relist(g)
	if len(g.held) > 0 {
		return nil
	}
	r, err := q.roster(g.name)
	if err != nil {
		return err
	}
	delete(q.groups, g.name)
	return q.relocate(g.name, r)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
