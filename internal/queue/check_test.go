package queue

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"
)

// check recounts everything that an engine believes from the keys in the
// store, and returns what is not as it should be. It is meant for the time
// between two transactions.
func check(e *Engine, keys mirror) []string {
	c := &checker{e: e, queues: make(map[ID]*tables)}
	if err := c.read(keys); err != nil {
		return []string{err.Error()}
	}
	for id := range c.queues {
		c.want(e.queues[id] != nil, "keys of queue %d, which does not exist", id)
	}
	for _, q := range e.queues {
		t := c.queues[q.cfg.ID]
		if t == nil {
			t = newTables()
		}
		c.queue = q
		c.checkRecord(t)
		c.checkMessages(t)
		c.checkGroups(t)
		c.checkMemory(t)
		c.checkWake(t)
	}
	for i, q := range e.wakes {
		c.queue = q
		c.want(q.wakeIdx == i && e.queues[q.cfg.ID] == q, "wrong place in the heap of wake-ups")
	}
	return c.problems
}

type checker struct {
	e        *Engine
	queues   map[ID]*tables
	queue    *queue
	problems []string
}

func (c *checker) want(ok bool, format string, args ...any) {
	if !ok {
		problem := fmt.Sprintf(format, args...)
		if c.queue != nil {
			problem = fmt.Sprintf("queue %s: %s", c.queue.cfg.ARN, problem)
		}
		c.problems = append(c.problems, problem)
	}
}

// tables is what the store holds of one queue.
type tables struct {
	record   *meta
	messages map[Position]*Message
	received map[Position]*received
	holders  map[Position]string // groups of received
	delays   map[Position]stub
	members  map[Position]stub
	ages     map[Position]stub
	groups   map[string]roster
	rota     map[uint64]string
	buckets  []uint64
	hashes   []uint64 // of what is in the buckets
	tasks    []*MoveTask
	passing  int // keys that an empty queue does not have
}

// stub is what a table says of an indexed message.
type stub struct {
	at    Instant
	sent  Instant
	group string
}

func newTables() *tables {
	return &tables{
		messages: make(map[Position]*Message), received: make(map[Position]*received),
		holders: make(map[Position]string), delays: make(map[Position]stub),
		members: make(map[Position]stub), ages: make(map[Position]stub),
		groups: make(map[string]roster), rota: make(map[uint64]string),
	}
}

func (c *checker) read(keys mirror) error {
	for name, record := range keys {
		k := []byte(name)
		if bytes.Equal(k, clockKey) {
			continue
		}
		id, ok := queueOf(k)
		if !ok {
			return fmt.Errorf("stray key %q", k)
		}
		t := c.queues[id]
		if t == nil {
			t = newTables()
			c.queues[id] = t
		}
		if err := t.add(k, record.value); err != nil {
			return fmt.Errorf("key %q: %w", k, err)
		}
	}
	for _, t := range c.queues {
		slices.SortFunc(t.tasks, func(a, b *MoveTask) int { return cmp.Compare(a.Started, b.Started) })
	}
	return nil
}

func (t *tables) add(k, v []byte) error {
	p := Position(tail(k, 0))
	name := string(k[9:])
	r := readRecord(v)
	switch table := k[8]; table {
	case tableMeta:
		t.record = new(meta)
		return t.record.decode(v)
	case tableDedup:
		t.buckets = append(t.buckets, tail(k[:17], 0))
		t.hashes = append(t.hashes, hashOf(k[17], string(k[18:])))
		return nil
	case tableTask:
		task, err := decodeMoveTask(v)
		t.tasks = append(t.tasks, task)
		return err
	case tableMessage:
		t.passing++
		m, err := decodeMessage(v)
		t.messages[p] = m
		return err
	case tableReceived:
		t.passing++
		m, name, err := decodeReceived(p, v)
		t.received[p], t.holders[p] = m, name
		return err
	case tableDelay:
		t.passing++
		t.delays[p] = stub{at: Instant(tail(k, 1)), sent: r.instant(), group: r.string()}
	case tableMember:
		t.passing++
		t.members[p] = stub{sent: r.instant(), group: name[:len(name)-9]}
	case tableAge:
		t.passing++
		t.ages[p] = stub{sent: Instant(tail(k, 1)), at: r.instant(), group: r.string()}
	case tableGroup:
		t.passing++
		t.groups[name[:len(name)-1]] = roster{order: r.uint(), head: Position(r.uint())}
	case tableRota:
		t.passing++
		t.rota[tail(k, 0)] = string(v)
		return nil
	default:
		return fmt.Errorf("no such table")
	}
	return r.done("record")
}

// checkRecord compares the queue's record and its tasks.
func (c *checker) checkRecord(t *tables) {
	q := c.queue
	if t.record == nil {
		c.want(t.passing == 0 && len(t.tasks) == 0 && len(t.buckets) == 0, "keys but no record")
		return
	}
	// Two fields may change without a need to be written.
	want := q.meta
	c.want(t.record.lastOrder <= want.lastOrder, "last order %d was stored, is %d", t.record.lastOrder, want.lastOrder)
	c.want(t.record.rotaHead <= want.rotaHead, "head of the rota %d was stored, is %d", t.record.rotaHead, want.rotaHead)
	for order := range t.rota {
		c.want(order <= t.record.lastOrder, "place %d of the rota is after the stored last one, %d", order, t.record.lastOrder)
	}
	want.lastOrder, want.rotaHead = t.record.lastOrder, t.record.rotaHead
	c.want(*t.record == want, "the stored record is\n%+v\nand should be\n%+v", *t.record, want)
	c.want(t.record.stored > 0 || t.passing == 0, "the queue is empty but for %d keys", t.passing)
	for i, n := range t.buckets {
		f := q.filters[n]
		c.want(f == nil || f.has(t.hashes[i]), "the filter of bucket %d lacks an id", n)
		c.want(q.dedupLow <= n && n <= q.dedupHigh, "bucket %d is not in [%d, %d]", n, q.dedupLow, q.dedupHigh)
		c.want(n+1 >= bucketOf(c.e.now) || q.wakeAt <= c.e.now, "bucket %d is over", n)
	}
	c.want(len(t.tasks) == len(q.tasks), "%d tasks are stored, %d in memory", len(t.tasks), len(q.tasks))
	for i := range min(len(t.tasks), len(q.tasks)) {
		c.want(*t.tasks[i] == *q.tasks[i], "task %+v is stored as %+v", *q.tasks[i], *t.tasks[i])
	}
}

// checkMessages finds out where each message is: it must be in one place.
func (c *checker) checkMessages(t *tables) {
	q := c.queue
	c.want(q.stored == uint64(len(t.messages)), "%d messages are stored, counted %d", len(t.messages), q.stored)
	c.want(q.delayed == uint64(len(t.delays)), "%d messages wait, counted %d", len(t.delays), q.delayed)
	for p := q.lineHead; p < q.lineNext; p++ {
		c.want(t.messages[p] != nil, "%v is missing from the line", p)
	}
	line := uint64(0)
	for p, m := range t.messages {
		w, waits := t.delays[p]
		g, joined := t.members[p]
		a, aged := t.ages[p]
		s, received := t.received[p]
		_, held := q.received[p]
		c.want(received == held, "%v: received %v, in memory %v", p, received, held)
		if received && s.sent != 0 {
			c.want(s.sent == m.SentAt, "%v was sent at %v, received record says %v", p, m.SentAt, s.sent)
		}
		if !p.indexed() {
			line++
			c.want(received || q.lineHead <= p && p < q.lineNext, "%v is not in the line", p)
			c.want(!received || p < q.lineHead, "%v was received and is in the line", p)
			c.want(!waits && !joined && !aged, "%v of the line is indexed", p)
			c.want(q.lineFloor <= m.SentAt, "%v was sent before the floor of the line", p)
			continue
		}
		places := 0
		for _, in := range []bool{waits, joined, received} {
			if in {
				places++
			}
		}
		c.want(places == 1, "%v is in %d places: waits %v, member %v, received %v", p, places, waits, joined, received)
		c.want(p&^indexedBit <= q.lastIndex, "%v is after the last index %v", p, q.lastIndex)
		c.want(aged == !q.cfg.FIFO, "%v has an age %v", p, aged)
		c.want(!aged || a.sent == m.SentAt && a.group == m.Group, "%v: age %+v of message %+v", p, a, m)
		c.want(!q.cfg.FIFO || q.ageHead <= p, "%v is before the head of ages", p)
		c.want(q.ageFloor <= m.SentAt, "%v was sent before the floor of ages", p)
		if waits {
			c.want(w.sent == m.SentAt && w.group == m.Group, "%v: delay %+v of message %+v", p, w, m)
			c.want(q.cfg.FIFO && w.at == w.sent || !q.cfg.FIFO && w.at == a.at, "%v waits in the wrong place", p)
			c.want(q.delayFloor <= w.at && q.nextDelay <= w.at, "%v waits before the floor", p)
		}
		if joined {
			c.want(g.sent == m.SentAt && g.group == m.Group, "%v: member %+v of message %+v", p, g, m)
		}
	}
	c.want(q.lineCount() == line, "the line has %d messages, counted %d", line, q.lineCount())
	total := len(t.delays) + len(t.members) + len(t.received) + int(q.lineNext-q.lineHead)
	c.want(total == len(t.messages), "%d records of %d messages", total, len(t.messages))
	c.want(q.cfg.FIFO || uint64(len(t.ages)) == q.indexedCount(), "%d ages of %d messages", len(t.ages), q.indexedCount())
}

// checkGroups compares the groups with their members and the rota.
func (c *checker) checkGroups(t *tables) {
	q := c.queue
	members := make(map[string][]Position)
	for p, m := range t.members {
		members[m.group] = append(members[m.group], p)
		c.want(t.groups[m.group].head <= p, "%v is before the head of group %s", p, m.group)
		if held := q.groups[m.group]; held != nil {
			for _, r := range held.held {
				c.want(r.pos < p, "received %v is after member %v of group %s", r.pos, p, m.group)
			}
		}
	}
	listed := 0
	for name, g := range t.groups {
		held := q.groups[name] != nil
		c.want(t.rota[g.order] == name, "group %s is not at its place %d in the rota", name, g.order)
		c.want(g.order <= q.lastOrder && held == (g.order < q.rotaHead), "group %s at %d of the rota: held %v", name, g.order, held)
		c.want(held || len(members[name]) > 0, "group %s has a turn and no members", name)
		if !held {
			listed++
		}
	}
	for cached, g := range c.e.groups {
		if cached.queue == q.cfg.ID {
			slices.Sort(members[cached.name])
			c.checkRoster(cached.name, g, t, members[cached.name])
		}
	}
	for name := range members {
		_, ok := t.groups[name]
		c.want(ok || q.groups[name] != nil, "group %s has members and no turn", name)
	}
	c.want(len(t.rota) == len(t.groups), "the rota has %d places for %d groups", len(t.rota), len(t.groups))
	c.want(uint64(listed) == q.rotaLength, "the rota has %d groups, counted %d", listed, q.rotaLength)
}

// checkRoster compares what is known of a group in memory with its members.
func (c *checker) checkRoster(name string, r *roster, t *tables, members []Position) {
	c.want(r.order == t.groups[name].order, "group %s is cached at %d of the rota, stored at %d", name, r.order, t.groups[name].order)
	c.want(len(r.ahead) <= len(members), "group %s has %d members, %d in memory", name, len(members), len(r.ahead))
	c.want(!r.all || len(r.ahead) == len(members), "group %s has %d members, all %d in memory", name, len(members), len(r.ahead))
	c.want(len(members) == 0 || r.head <= members[0], "group %s has a member before its head", name)
	for i := range min(len(r.ahead), len(members)) {
		m := r.ahead[i]
		c.want(m.pos == members[i] && m.sent == t.members[m.pos].sent, "group %s: member %d is %v, in memory %+v", name, i, members[i], m)
	}
}

// checkMemory compares what is in memory with the received messages.
func (c *checker) checkMemory(t *tables) {
	q := c.queue
	inFlight, returned, line, grouped := 0, 0, 0, 0
	for p, m := range q.received {
		s := t.received[p]
		if s == nil {
			continue // reported already
		}
		c.want(m.pos == p && !m.gone, "%v is in the wrong place", p)
		c.want(bytes.Equal(m.encode(), s.as(m)), "%v is stored as %+v and should be %+v", p, s, m)
		c.want(m.deadline <= c.e.now || m.inFlight, "%v should be in flight until %v", p, m.deadline)
		if m.inFlight {
			inFlight++
			c.want(m.elem == nil, "%v is in flight and has returned", p)
			c.want(m.heapIdx < len(q.deadlines) && q.deadlines[m.heapIdx] == m, "%v has the wrong place among the deadlines", p)
		} else if !q.cfg.FIFO {
			returned++
			c.want(m.elem != nil && m.elem.Value == m, "%v has not returned", p)
		}
		if !p.indexed() {
			line++
		}
		c.want((m.group != nil) == q.cfg.FIFO, "%v is of the wrong kind", p)
		if g := m.group; g != nil {
			grouped++
			c.want(q.groups[g.name] == g && slices.Contains(g.held, m), "%v is not held by its group", p)
			c.want(t.holders[p] == g.name, "%v is held by %s, stored as %s", p, g.name, t.holders[p])
		}
	}
	c.want(q.inFlight == inFlight && len(q.deadlines) == inFlight, "%d in flight, counted %d, %d deadlines", inFlight, q.inFlight, len(q.deadlines))
	for i := range q.deadlines {
		c.want(i == 0 || !q.deadlines.Less(i, (i-1)/2), "deadlines are not in order")
	}
	c.want(q.returned.Len() == returned, "%d have returned, %d in the list", returned, q.returned.Len())
	c.want(q.lineHeld == line, "%d of the line are held, counted %d", line, q.lineHeld)
	oldest := slices.DeleteFunc(slices.Clone(q.oldest), func(m *received) bool { return m == nil || m.gone })
	c.want(len(oldest) == line, "%d of the line are held, %d in order of age", line, len(oldest))
	c.want(slices.IsSortedFunc(oldest, func(a, b *received) int { return int(a.pos) - int(b.pos) }), "the line is not in order of age")
	ready, heldBy := 0, 0
	for name, g := range q.groups {
		heldBy += len(g.held)
		c.want(g.name == name && len(g.held) > 0, "group %s is in memory for nothing", name)
		for i, m := range g.held {
			c.want(q.received[m.pos] == m && m.group == g, "group %s holds %v", name, m.pos)
			c.want(i == 0 || g.held[i-1].pos < m.pos, "group %s is not in order", name)
		}
		c.want(g.servable() == (g.elem != nil), "group %s: servable %v, in the rota %v", name, g.servable(), g.elem != nil)
		if g.elem != nil {
			ready++
		}
	}
	c.want(q.cfg.FIFO || len(q.received) <= q.cfg.maxInFlight(), "%d messages are held", len(q.received))
	c.want(heldBy == grouped, "groups hold %d of %d messages", heldBy, grouped)
	c.want(q.ready.Len() == ready, "%d groups can be served, %d are in the rota", ready, q.ready.Len())
	order := uint64(0)
	for el := q.ready.Front(); el != nil; el = el.Next() {
		g := el.Value.(*group)
		c.want(g.elem == el && g.order > order && g.order <= q.lastOrder, "group %s is out of order", g.name)
		order = g.order
	}
}

// as returns m's record under the assumption that it belongs to the group of
// other and with the time of sending that has been looked up since.
func (m *received) as(other *received) []byte {
	twin := *m
	twin.group = other.group
	if twin.sent == 0 {
		twin.sent = other.sent
	}
	return twin.encode()
}

// checkWake makes sure that the queue will be looked after when time changes
// something in it.
func (c *checker) checkWake(t *tables) {
	q := c.queue
	earliest := never
	for _, m := range q.received {
		if m.inFlight {
			earliest = min(earliest, m.deadline)
		}
	}
	for p, w := range t.delays {
		end := t.ages[p].at
		if q.cfg.FIFO {
			end = w.sent.Add(q.cfg.Delay)
		}
		earliest = min(earliest, end)
	}
	for _, m := range t.messages {
		earliest = min(earliest, max(m.SentAt.Add(q.cfg.Retention), q.nextExpiry))
	}
	for _, n := range t.buckets {
		earliest = min(earliest, bucketStart(n+2))
	}
	for _, task := range t.tasks {
		if task.Status != MoveRunning {
			continue
		}
		next := task.Started
		for task.Rate != 0 && next.Sub(task.Started)*time.Duration(task.Rate) < time.Duration(task.Moved+1)*time.Second {
			next++
		}
		earliest = min(earliest, next)
	}
	c.want(q.nextExpiry <= c.e.now.Add(expiryInterval), "expiry is put off until %v", q.nextExpiry)
	due := q.schedule()
	c.want(q.wakeAt == due || max(q.wakeAt, due) <= c.e.now, "wakes at %v and should at %v", q.wakeAt, due)
	c.want(q.wakeAt <= max(earliest, c.e.now), "wakes at %v, too late for %v", q.wakeAt, earliest)
	c.want((q.wakeAt == never) == (q.wakeIdx < 0), "wakes at %v, place in the heap %d", q.wakeAt, q.wakeIdx)
}
