package queue

import (
	"cmp"
	"container/list"
	"fmt"
	"slices"
)

// activeGroup is a FIFO message group of which some messages were received and not
// deleted. While one of them is in flight, no message behind it is received.
type activeGroup struct {
	name  string
	held  []*received // in order of position
	order uint64      // place among the ready groups if elem is not nil
	elem  *list.Element
}

func (g *activeGroup) remove(m *received) {
	i := slices.Index(g.held, m)
	g.held = slices.Delete(g.held, i, i+1)
}

// servable reports whether the group's first message can be received.
func (g *activeGroup) servable() bool { return len(g.held) > 0 && !g.held[0].inFlight }

// member is an available message of a group that was never received.
type member struct {
	pos  Position
	sent Instant
}

// groupRecord is the stored part of a group: its place in the rota, and where its
// members begin. A record is stored while the group has a place. An active group
// takes no turns, but its record and its place stay stored as they were; they are
// replaced when it returns to the rota.
type groupRecord struct {
	order uint64   // place in the rota, 0 if there is none
	head  Position // no member is before it
	// ahead are the first members, in order, and all says that there are no
	// others. With few members in a group, its messages are received without a
	// read of the store.
	ahead []member
	all   bool
}

// aheadMost is how many members of a group are kept in memory.
const aheadMost = 64

// The record of a group that empties and fills is removed and written time and
// again, and an LSM tree that is asked for a removed key may have to look at each
// of the values it had before. So the engine keeps the records in use in memory,
// also those of groups without members, up to cachedGroups of them.
type groupCache map[cachedGroup]*groupRecord

type cachedGroup struct {
	queue ID
	name  string
}

const cachedGroups = 10_000

// groupRecord returns the record of a group. The cache may be emptied at any time,
// because a record can be read again; but a caller must not hold on to one while it
// asks for another, or two of the same group could be in use.
func (q *queue) groupRecord(name string) (*groupRecord, error) {
	cached := cachedGroup{q.cfg.ID, name}
	if r := q.e.groupRecords[cached]; r != nil {
		return r, nil
	}
	b, err := q.tx.Get(groupKey(q.cfg.ID, name))
	if err != nil {
		return nil, err
	}
	r := &groupRecord{all: true} // with members it would have a place
	if b != nil {
		if *r, err = decodeGroupRecord(b); err != nil {
			return nil, err
		}
	}
	if len(q.e.groupRecords) >= cachedGroups {
		clear(q.e.groupRecords)
	}
	q.e.groupRecords[cached] = r
	return r, nil
}

func (r *groupRecord) encode() []byte {
	w := newRecord(24)
	w.Uint(r.order)
	w.Uint(uint64(r.head))
	return w.Writer
}

func decodeGroupRecord(b []byte) (groupRecord, error) {
	r := readRecord(b)
	g := groupRecord{order: r.Uint(), head: Position(r.Uint())}
	return g, r.done("group")
}

// add adds a new member.
func (r *groupRecord) add(m member) {
	if r.all && len(r.ahead) == 0 {
		r.head = m.pos
	}
	r.head = min(r.head, m.pos)
	i, _ := r.find(m.pos)
	if i == len(r.ahead) && !r.all {
		return // it is behind the members in memory
	}
	r.ahead = slices.Insert(r.ahead, i, m)
	if len(r.ahead) > aheadMost {
		r.ahead, r.all = r.ahead[:aheadMost], false
	}
}

func (r *groupRecord) find(p Position) (int, bool) {
	return slices.BinarySearchFunc(r.ahead, p, func(m member, p Position) int { return cmp.Compare(m.pos, p) })
}

// addMember makes the message at p an available member of its group.
func (q *queue) addMember(name string, p Position, sent Instant) error {
	r, err := q.groupRecord(name)
	if err != nil {
		return err
	}
	w := newRecord(16)
	w.Instant(sent)
	q.tx.Set(memberKey(q.cfg.ID, name, p), w.Writer)
	before := r.head
	r.add(member{p, sent})
	switch {
	case r.order == 0 && q.activeGroups[name] == nil:
		q.addToRota(name, r)
	case r.order != 0 && r.head < before:
		q.tx.Set(groupKey(q.cfg.ID, name), r.encode())
	}
	q.markDirty()
	return nil
}

// firstMembers returns the first n members of a group, or all if there are fewer.
func (q *queue) firstMembers(name string, r *groupRecord, n int) ([]member, error) {
	if len(r.ahead) < n && !r.all {
		if err := q.readMembers(name, r, max(n, aheadMost)); err != nil {
			return nil, fmt.Errorf("members of a group: %w", err)
		}
	}
	return r.ahead[:min(n, len(r.ahead))], nil
}

// readMembers reads the first n members of a group.
func (q *queue) readMembers(name string, r *groupRecord, n int) error {
	ahead := make([]member, 0, aheadMost)
	var bad error
	lo, hi := memberRange(q.cfg.ID, name, r.head)
	err := q.tx.Scan(lo, hi, func(k, v []byte) bool {
		rec := readRecord(v)
		ahead = append(ahead, member{pos: Position(tail(k, 0)), sent: rec.Instant()})
		bad = rec.done("group member")
		return bad == nil && len(ahead) < n
	})
	if err := firstError(err, bad); err != nil {
		return err
	}
	r.ahead, r.all = ahead, len(ahead) < n
	return nil
}

// removeMembers removes the first n members of a group, which must be in memory.
func (q *queue) removeMembers(name string, r *groupRecord, n int) {
	for _, m := range r.ahead[:n] {
		q.tx.DeleteOnce(memberKey(q.cfg.ID, name, m.pos))
		r.head = m.pos + 1
	}
	r.ahead = r.ahead[n:]
	q.markDirty()
}

// dropMember removes a member that may stand anywhere in its group.
func (q *queue) dropMember(name string, p Position) error {
	r, err := q.groupRecord(name)
	if err != nil {
		return err
	}
	q.tx.DeleteOnce(memberKey(q.cfg.ID, name, p))
	if i, known := r.find(p); known {
		if i == 0 {
			r.head = p + 1
		}
		r.ahead = slices.Delete(r.ahead, i, i+1)
	}
	q.markDirty()
	if q.activeGroups[name] != nil {
		return nil // the group gets its place when it returns to the rota
	}
	some, err := q.firstMembers(name, r, 1)
	if err == nil && len(some) == 0 {
		q.removeFromRota(name, r)
	}
	return err
}

// activate returns the active group of that name, and makes it one if it is not.
func (q *queue) activate(name string) *activeGroup {
	g := q.activeGroups[name]
	if g == nil {
		g = &activeGroup{name: name}
		q.activeGroups[name] = g
	}
	return g
}

// updateReady adds a group that can be served to the end of the ready groups, if it
// is not among them, and removes one that cannot.
func (q *queue) updateReady(g *activeGroup) {
	switch {
	case g.servable() && g.elem == nil:
		q.rota.last++
		g.order = q.rota.last
		g.elem = q.readyGroups.PushBack(g)
	case !g.servable() && g.elem != nil:
		q.readyGroups.Remove(g.elem)
		g.elem = nil
	}
}

// releaseGroup is called when a message of an active group was delivered or removed.
// A group of which no received message is left returns to the rota if it has members.
func (q *queue) releaseGroup(g *activeGroup) error {
	q.updateReady(g)
	if len(g.held) > 0 {
		return nil
	}
	r, err := q.groupRecord(g.name)
	if err != nil {
		return err
	}
	delete(q.activeGroups, g.name)
	return q.requeueGroup(g.name, r)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
