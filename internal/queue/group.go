package queue

import (
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

// groupRecord is the stored part of a group: its members, which are available
// but for what the group itself holds back. A group without members has no
// record.
type groupRecord struct {
	count uint64
	head  Position // no member is before it
	order uint64   // place in the rota, 0 if not in it
}

// A group that empties and fills has its record removed and written time and
// again, and an LSM tree that is asked for a removed key may have to look at
// each of the values it had before. So the records in use, and the knowledge
// that there is none, are kept in memory, as many as cachedGroups.
type groupCache map[cachedGroup]groupRecord

type cachedGroup struct {
	queue ID
	name  string
}

const cachedGroups = 10_000

func (c groupCache) put(k cachedGroup, g groupRecord) {
	if _, known := c[k]; !known && len(c) >= cachedGroups {
		clear(c)
	}
	c[k] = g
}

func (q *queue) readGroup(name string) (groupRecord, error) {
	cached := cachedGroup{q.cfg.ID, name}
	if g, ok := q.e.groups[cached]; ok {
		return g, nil
	}
	b, err := q.e.tx.Get(groupKey(q.cfg.ID, name))
	if err != nil {
		return groupRecord{}, err
	}
	var g groupRecord
	if b != nil {
		r := readRecord(b)
		g = groupRecord{count: r.uint(), head: Position(r.uint()), order: r.uint()}
		if err := r.done("group"); err != nil {
			return groupRecord{}, err
		}
	}
	q.e.groups.put(cached, g)
	return g, nil
}

func (q *queue) writeGroup(name string, g groupRecord) {
	q.e.groups.put(cachedGroup{q.cfg.ID, name}, g)
	k := groupKey(q.cfg.ID, name)
	if g.count == 0 {
		q.e.tx.Delete(k)
		return
	}
	w := newRecord(32)
	w.uint(g.count)
	w.uint(uint64(g.head))
	w.uint(g.order)
	q.e.tx.Set(k, w)
}

// join makes the message at p an available member of its group.
func (q *queue) join(name string, p Position, sent Instant) error {
	g, err := q.readGroup(name)
	if err != nil {
		return err
	}
	w := newRecord(16)
	w.instant(sent)
	q.e.tx.Set(memberKey(q.cfg.ID, name, p), w)
	if g.count == 0 {
		g.head = p
	}
	g.head = min(g.head, p)
	g.count++
	if g.order == 0 && q.groups[name] == nil {
		q.enlist(name, &g)
	}
	q.writeGroup(name, g)
	q.change()
	return nil
}

// enlist gives a group the last place in the stored rota.
func (q *queue) enlist(name string, g *groupRecord) {
	q.lastOrder++
	g.order = q.lastOrder
	if q.rotaLength == 0 {
		q.rotaHead = g.order
	}
	q.rotaLength++
	q.e.tx.Set(rotaKey(q.cfg.ID, g.order), []byte(name))
	q.change()
}

// delist takes a group out of the stored rota.
func (q *queue) delist(g *groupRecord) {
	if g.order == 0 {
		return
	}
	q.e.tx.DeleteOnce(rotaKey(q.cfg.ID, g.order))
	if g.order == q.rotaHead {
		q.rotaHead++
	}
	g.order = 0
	q.rotaLength--
	q.change()
}

// rotaPlace is a group in the rota.
type rotaPlace struct {
	name  string
	order uint64
}

// rota returns the first n groups of the stored rota.
func (q *queue) rota(n int) ([]rotaPlace, error) {
	if q.rotaLength == 0 {
		return nil, nil
	}
	var turns []rotaPlace
	_, end := tableRange(q.cfg.ID, tableRota)
	err := q.e.tx.Scan(rotaKey(q.cfg.ID, q.rotaHead), end, func(k, v []byte) bool {
		turns = append(turns, rotaPlace{name: string(v), order: tail(k, 0)})
		return len(turns) < n
	})
	if err == nil && len(turns) > 0 {
		q.rotaHead = turns[0].order
	}
	return turns, err
}

// member is an available message of a group.
type member struct {
	pos  Position
	sent Instant
}

// members returns the first n members of a group.
func (q *queue) members(name string, g *groupRecord, n int) ([]member, error) {
	out := make([]member, 0, n)
	var bad error
	lo := memberKey(q.cfg.ID, name, g.head)
	hi := tableKey(q.cfg.ID, tableMember).string(name).byte(1)
	err := q.e.tx.Scan(lo, hi, func(k, v []byte) bool {
		r := readRecord(v)
		m := member{pos: Position(tail(k, 0)), sent: r.instant()}
		if bad = r.done("group member"); bad != nil {
			return false
		}
		out = append(out, m)
		return len(out) < n
	})
	if err != nil || bad != nil {
		return nil, fmt.Errorf("members of a group: %w", firstError(err, bad))
	}
	if uint64(len(out)) < min(uint64(n), g.count) {
		return nil, fmt.Errorf("members of a group: %d of %d are missing: %w", g.count-uint64(len(out)), g.count, errRecordMalformed)
	}
	return out, nil
}

// leave ends the membership of some of a group's first members and writes the
// group's record, giving it a new place in the rota or none as relist says.
func (q *queue) leave(name string, g *groupRecord, some []member, rejoin bool) {
	for _, m := range some {
		q.e.tx.DeleteOnce(memberKey(q.cfg.ID, name, m.pos))
		g.head = m.pos + 1
	}
	g.count -= uint64(len(some))
	q.delist(g)
	if rejoin && g.count > 0 {
		q.enlist(name, g)
	}
	q.writeGroup(name, *g)
	q.change()
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
	delete(q.groups, g.name)
	rec, err := q.readGroup(g.name)
	if err != nil {
		return err
	}
	if rec.count > 0 && rec.order == 0 {
		q.enlist(g.name, &rec)
		q.writeGroup(g.name, rec)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
