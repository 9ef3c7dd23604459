package queue

import (
	"cmp"
	"container/list"
	"fmt"
	"maps"
	"slices"
)

// activeGroup is a FIFO message group with messages that were received and not deleted. While one of them is in flight,
// no message behind it is received.
type activeGroup struct {
	name  string
	held  []*received // in order of position
	order uint64      // place among the ready groups if elem is not nil
	elem  *list.Element
}

func (g *activeGroup) hold(m *received) { g.held = insertReceived(g.held, m) }

func (g *activeGroup) remove(m *received) {
	i := slices.Index(g.held, m)
	g.held = slices.Delete(g.held, i, i+1)
}

// blocks reports whether a message in front of p is in flight. A nil group blocks nothing.
func (g *activeGroup) blocks(p Position) bool {
	return g != nil && slices.ContainsFunc(g.held, func(m *received) bool { return m.inFlight && m.pos < p })
}

// servable reports whether the group's first message can be received.
func (g *activeGroup) servable() bool { return len(g.held) > 0 && !g.held[0].inFlight }

// member is an available message of a group that was never received.
type member struct {
	pos  Position
	sent Instant
}

// groupRecord is the stored part of a group: its place in the rota, and the position from which its members are found.
// A record is stored while the group has a place. An active group takes no turns, but its record and its place stay in
// the store unchanged; they are replaced when the group returns to the rota.
type groupRecord struct {
	order uint64   // place in the rota, 0 if there is none
	head  Position // no member is before it
	// ahead are the first members, in order, and all says that there are no others. Messages of a small group are
	// received without a read of the store.
	ahead []member
	all   bool
}

// aheadMost is how many members of a group are kept in memory.
const aheadMost = 64

// groups are the message groups of a queue: those in the rota, with their members, and the active ones.
//
//   - The members of a group are its available messages that were never received and are not in the line.
//   - A group of a FIFO queue is active exactly while it holds messages that were received and not deleted. It then
//     takes no turns.
//   - Any other group with members has a place in the rota, unless it is paused. Standard queues have no active groups.
//   - An active group is in ready exactly if its first message can be received and it is not paused.
type groups struct {
	*base
	rota   *rota
	cache  groupCache              // of all queues of the shard
	active map[string]*activeGroup // FIFO, by name
	ready  list.List               // *activeGroup, FIFO: groups that can be served, in order
	paused map[string]bool         // FIFO, by name: groups in the table

	pausesChanged bool // the attributes may name other groups than the table
	// mixed means that members may be in front of received messages of their groups: an undo has restored them.
	mixed bool
}

func newGroups(b *base, o *rota, cache groupCache) groups {
	return groups{
		base: b, rota: o, cache: cache, active: make(map[string]*activeGroup), paused: make(map[string]bool),
		pausesChanged: b.cfg.FIFO,
	}
}

// The record of a group that empties and fills again and again is removed and rewritten each time, and an LSM tree may
// have to read all earlier values of a removed key. So the engine keeps up to cachedGroups records in memory, including
// those of groups without members.
type groupCache map[cachedGroup]*groupRecord

type cachedGroup struct {
	queue ID
	name  string
}

const cachedGroups = 10_000

// record returns the record of a group. The cache may be emptied by any call, because records can be read again. So a
// caller must not keep a record while it asks for another one: there could be two records of the same group.
func (g *groups) record(name string) (*groupRecord, error) {
	cached := cachedGroup{g.cfg.ID, name}
	if r := g.cache[cached]; r != nil {
		return r, nil
	}
	b, err := g.tx.Get(groupKey(g.cfg.ID, name))
	if err != nil {
		return nil, err
	}
	r := &groupRecord{all: !g.paused[name]} // a group with members has a place or is paused
	if b != nil {
		if *r, err = decodeGroupRecord(b); err != nil {
			return nil, err
		}
	}
	if len(g.cache) >= cachedGroups {
		clear(g.cache)
	}
	g.cache[cached] = r
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
		return // readMembers will find it behind the members in memory
	}
	r.ahead = slices.Insert(r.ahead, i, m)
	if len(r.ahead) > aheadMost {
		r.ahead, r.all = r.ahead[:aheadMost], false
	}
}

func (r *groupRecord) find(p Position) (int, bool) {
	return slices.BinarySearchFunc(r.ahead, p, func(m member, p Position) int { return cmp.Compare(m.pos, p) })
}

// add makes the message at p an available member of its group.
func (g *groups) add(name string, p Position, sent Instant) error {
	r, err := g.record(name)
	if err != nil {
		return err
	}
	w := newRecord(16)
	w.Instant(sent)
	g.tx.Set(memberKey(g.cfg.ID, name, p), w.Writer)
	before := r.head
	r.add(member{p, sent})
	switch {
	case r.order == 0 && g.active[name] == nil && !g.paused[name]:
		g.rota.add(name, r)
	case r.order != 0 && r.head < before:
		g.tx.Set(groupKey(g.cfg.ID, name), r.encode())
	}
	g.markDirty()
	return nil
}

// first returns the first n members of a group, or fewer if it has fewer.
func (g *groups) first(name string, r *groupRecord, n int) ([]member, error) {
	if len(r.ahead) < n && !r.all {
		if err := g.readMembers(name, r, max(n, aheadMost)); err != nil {
			return nil, fmt.Errorf("members of a group: %w", err)
		}
	}
	return r.ahead[:min(n, len(r.ahead))], nil
}

// readMembers reads the first n members of a group.
func (g *groups) readMembers(name string, r *groupRecord, n int) error {
	ahead := make([]member, 0, aheadMost)
	var bad error
	lo, hi := memberRange(g.cfg.ID, name, r.head)
	err := g.tx.Scan(lo, hi, func(k, v []byte) bool {
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

// removeFirst removes the first n members of a group, which must be in memory.
func (g *groups) removeFirst(name string, r *groupRecord, n int) {
	for _, m := range r.ahead[:n] {
		g.tx.DeleteOnce(memberKey(g.cfg.ID, name, m.pos))
		r.head = m.pos + 1
	}
	r.ahead = r.ahead[n:]
	g.markDirty()
}

// drop removes a member from anywhere in its group.
func (g *groups) drop(name string, p Position) error {
	r, err := g.record(name)
	if err != nil {
		return err
	}
	g.tx.DeleteOnce(memberKey(g.cfg.ID, name, p))
	if i, known := r.find(p); known {
		if i == 0 {
			r.head = p + 1
		}
		r.ahead = slices.Delete(r.ahead, i, i+1)
	}
	g.markDirty()
	if g.active[name] != nil {
		return nil // an active group gets a place when it returns to the rota
	}
	some, err := g.first(name, r, 1)
	if err == nil && len(some) == 0 {
		g.rota.remove(name, r)
	}
	return err
}

// activate makes a group active if it is not, and returns it.
func (g *groups) activate(name string) *activeGroup {
	a := g.active[name]
	if a == nil {
		a = &activeGroup{name: name}
		g.active[name] = a
	}
	return a
}

// reactivate makes a group active, if it is not, because an undo restores a received message of it. An active group has
// a place in front of the rota's head: it takes one that the purge has reserved.
func (g *groups) reactivate(name string, places *uint64) error {
	if g.active[name] != nil {
		return nil
	}
	r, err := g.record(name)
	if err != nil {
		return err
	}
	g.rota.remove(name, r)
	if *places == 0 {
		return fmt.Errorf("places of active groups: %w", errMissing)
	}
	r.order = *places
	*places--
	g.tx.Set(rotaKey(g.cfg.ID, r.order), []byte(name))
	g.tx.Set(groupKey(g.cfg.ID, name), r.encode())
	g.activate(name)
	return nil
}

// before returns the first member of an active group, if it is in front of p.
func (g *groups) before(a *activeGroup, p Position) (m member, found bool, err error) {
	if !g.mixed {
		return member{}, false, nil
	}
	r, err := g.record(a.name)
	if err != nil {
		return member{}, false, err
	}
	some, err := g.first(a.name, r, 1)
	if err != nil || len(some) == 0 || some[0].pos > p {
		return member{}, false, err
	}
	return some[0], true, nil
}

// updateReady adds a group that can be served to the end of the ready groups, if it
// is not among them, and removes one that cannot.
func (g *groups) updateReady(a *activeGroup) {
	switch servable := a.servable() && !g.paused[a.name]; {
	case servable && a.elem == nil:
		a.order = g.rota.place()
		a.elem = g.ready.PushBack(a)
	case !servable && a.elem != nil:
		g.leaveReady(a)
	}
}

func (g *groups) leaveReady(a *activeGroup) {
	g.ready.Remove(a.elem)
	a.elem = nil
}

// firstReady returns the first ready group if its place is not after last, or nil.
func (g *groups) firstReady(last uint64) *activeGroup {
	front := g.ready.Front()
	if front == nil {
		return nil
	}
	if a := front.Value.(*activeGroup); a.order <= last {
		return a
	}
	return nil
}

// loadReady lists the active groups that can be served, ordered by their first messages. The order before the restart
// is not stored.
func (g *groups) loadReady() {
	all := slices.Collect(maps.Values(g.active))
	slices.SortFunc(all, func(a, b *activeGroup) int { return cmp.Compare(a.held[0].pos, b.held[0].pos) })
	for _, a := range all {
		g.updateReady(a)
	}
}

// purge forgets all groups. Paused groups stay paused.
func (g *groups) purge() {
	clear(g.cache)
	g.active = make(map[string]*activeGroup)
	g.ready.Init()
}

// release is called after a message of an active group was delivered or removed. Without any received message, the
// group returns to the rota if it has members.
func (g *groups) release(a *activeGroup) error {
	g.updateReady(a)
	if len(a.held) > 0 {
		return nil
	}
	r, err := g.record(a.name)
	if err != nil {
		return err
	}
	delete(g.active, a.name)
	return g.requeue(a.name, r)
}

// requeue moves a group to the end of the rota. A group that is paused or has no members loses its place.
func (g *groups) requeue(name string, r *groupRecord) error {
	some, err := g.first(name, r, 1)
	switch {
	case err != nil:
		return err
	case len(some) > 0 && !g.paused[name]:
		g.rota.add(name, r)
	default:
		g.rota.remove(name, r)
	}
	return nil
}

// atTurn returns the record of the group whose turn it is. If the group has no members, the store is damaged.
func (g *groups) atTurn(t turn) (*groupRecord, error) {
	r, err := g.record(t.name)
	if err != nil {
		return nil, err
	}
	some, err := g.first(t.name, r, 1)
	if err == nil && (len(some) == 0 || r.order != t.order) {
		err = fmt.Errorf("group at place %d of the rota has %d members and place %d: %w", t.order, len(some), r.order, errMissing)
	}
	return r, err
}

// takeTurn takes the first group off the rota and makes it an active group.
func (g *groups) takeTurn(t turn) (*activeGroup, error) {
	if _, err := g.atTurn(t); err != nil {
		return nil, err
	}
	g.rota.leave(t)
	return g.activate(t.name), nil
}

// inFlight counts the active groups that have messages in flight.
func (g *groups) inFlight() (n uint64) {
	for _, a := range g.active {
		if slices.ContainsFunc(a.held, func(m *received) bool { return m.inFlight }) {
			n++
		}
	}
	return n
}

// countQuiet counts the members of quiet groups, up to membersAtMost.
func (g *groups) countQuiet(noisy map[string]uint64) (n uint64, err error) {
	from, end := tableRange(g.cfg.ID, tableMember)
	for from != nil && err == nil {
		lo := from
		from = nil
		err = g.tx.Scan(lo, end, func(k, _ []byte) bool {
			name := string(k[keyOf0 : len(k)-9])
			if _, out := noisy[name]; out {
				_, from = memberRange(g.cfg.ID, name, 0)
				return false
			}
			n++
			return n < membersAtMost
		})
	}
	return n, err
}
