package queue

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// check recounts an engine's stored queues, compares the result with the engine's memory, and returns all differences.
// Call it between two transactions.
func check(e *Engine, keys mirror) []string {
	stored := keys.sorted()
	c := &memoryChecker{e: e, queues: make(map[ID]*tables)}
	if err := c.read(keys); err != nil {
		return []string{err.Error()}
	}
	var configs []Config
	for _, q := range e.queues {
		configs = append(configs, q.cfg)
	}
	for _, a := range e.outboxes.at {
		if !e.remains.unknown[a.id] {
			configs = append(configs, a.config())
		}
	}
	for id, on := range e.shelf {
		configs = append(configs, Config{ID: id, ARN: on.arn})
		c.want(e.queues[id] == nil && e.outboxes.at[id] == nil, "queue %d is on the shelf and still there", id)
	}
	left, strays, err := Leftovers(stored, configs)
	c.problems = append(c.problems, strays...)
	c.want(err == nil && slices.Equal(left, slices.Sorted(slices.Values(append(e.Unknown(), e.remains.deleted...)))),
		"keys of queues %v, of which %v are known to be unknown; error %v", left, e.Unknown(), err)
	for _, q := range e.queues {
		c.queue = q
		recount, err := Check(stored, q.cfg)
		c.want(err == nil, "%v", err)
		for _, problem := range recount.Problems {
			c.want(false, "%s", problem)
		}
		t := c.queues[q.cfg.ID]
		if t == nil {
			t = newTables()
		}
		here := recount.Messages
		if a := e.outboxes.at[q.cfg.ID]; a != nil {
			here -= a.stored
		}
		c.want(here == uint64(len(t.messages)), "counted %d messages of %d", recount.Messages, len(t.messages))
		c.checkRecord(t)
		c.checkGroups(t)
		c.checkMemory(t)
		c.checkWake(t)
	}
	for _, a := range e.outboxes.at {
		if e.queues[a.id] == nil {
			recount, err := Check(stored, a.config())
			c.want(err == nil && len(recount.Problems) == 0, "outbox of queue %s: %v, %q", a.arn, err, recount.Problems)
			c.want(recount.Messages == a.stored, "outbox of queue %s: counted %d messages of %d", a.arn,
				recount.Messages, a.stored)
		}
		var record outboxRecord
		b, written := keys[string(outboxKey(a.id))]
		c.want(written == (a.last != 0), "outbox of queue %s: the record is stored %t, the last position is %v", a.arn,
			written, a.last)
		if written {
			c.want(record.decode(b.value) == nil && record == a.outboxRecord,
				"outbox of queue %s: %+v is stored as %+v", a.arn, a.outboxRecord, record)
		}
	}
	var backlog backlogRecord
	b, written := keys[string(backlogKey)]
	c.want(written == (e.backlog.end != 0), "the record of the backlog is stored %t, %+v", written,
		e.backlog.backlogRecord)
	if written {
		c.want(backlog.decode(b.value) == nil && backlog == e.backlog.backlogRecord, "backlog %+v is stored as %+v",
			e.backlog.backlogRecord, backlog)
	}
	copies, bytes := make(map[ID]uint64), 0
	for n := backlog.head; n < backlog.end; n++ {
		x, err := decodeBacklogged(keys[string(publicationKey(n))].value)
		c.want(err == nil, "publication %d of the backlog: %v", n, err)
		for i := e.backlog.done(n); err == nil && i < uint64(len(x.Copies)); i++ {
			copies[x.Copies[i].Queue]++
			bytes += x.Copies[i].size()
		}
	}
	c.want(maps.Equal(copies, e.backlog.copies) && bytes == e.backlog.bytes,
		"%v copies wait of %d bytes, counted %v of %d", copies, bytes, e.backlog.copies, e.backlog.bytes)
	waiting := 0
	for _, n := range e.backlog.topics {
		waiting += n
	}
	c.want(uint64(waiting) == e.backlog.end-e.backlog.head, "%d publications of topics wait, of [%d, %d)", waiting,
		e.backlog.head, e.backlog.end)
	for q := range e.wakes.All() {
		c.queue = q
		c.want(e.wakes.Has(q) && e.queues[q.cfg.ID] == q, "wrong place in the heap of wake-ups")
	}
	return c.problems
}

func (o *outbox) config() Config { return Config{ID: o.id, ARN: o.arn, FIFO: o.fifo, Elsewhere: true} }

// sortedMirror is a mirror that Check can read.
type sortedMirror struct {
	keys  mirror
	order []string
}

func (m mirror) sorted() sortedMirror { return sortedMirror{m, slices.Sorted(maps.Keys(m))} }

func (m sortedMirror) Get(k []byte) ([]byte, error) { return m.keys[string(k)].value, nil }

func (m sortedMirror) Scan(lo, hi []byte, f func(k, v []byte) bool) error {
	i, _ := slices.BinarySearch(m.order, string(lo))
	for ; i < len(m.order) && m.order[i] < string(hi); i++ {
		if !f([]byte(m.order[i]), m.keys[m.order[i]].value) {
			break
		}
	}
	return nil
}

type memoryChecker struct {
	e        *Engine
	queues   map[ID]*tables
	queue    *queue
	problems []string
}

func (c *memoryChecker) want(ok bool, format string, args ...any) {
	if !ok {
		problem := fmt.Sprintf(format, args...)
		if c.queue != nil {
			problem = fmt.Sprintf("queue %s: %s", c.queue.cfg.ARN, problem)
		}
		c.problems = append(c.problems, problem)
	}
}

// tables holds the rows of one queue on which memory depends.
type tables struct {
	record   *meta
	messages map[Position]*Message
	received map[Position]*received
	holders  map[Position]string // groups of received messages
	delays   map[Position]stub
	ages     map[Position]stub
	members  map[string][]member
	groups   map[string]groupRecord
	paused   map[string]bool
	buckets  []uint64
	hashes   []uint64 // of the messages in the buckets
	tasks    []*MoveTask
	choices  map[Instant][]byte
	passing  int // keys that an empty queue lacks
}

func newTables() *tables {
	return &tables{
		messages: make(map[Position]*Message), received: make(map[Position]*received),
		holders: make(map[Position]string), delays: make(map[Position]stub),
		ages: make(map[Position]stub), members: make(map[string][]member), groups: make(map[string]groupRecord),
		choices: make(map[Instant][]byte), paused: make(map[string]bool),
	}
}

func (c *memoryChecker) read(keys mirror) error {
	for name, record := range keys {
		k := []byte(name)
		if c.kept(keys, k) {
			continue
		}
		if bytes.Equal(k, clockKey) {
			continue
		}
		id, ok := queueOf(k)
		if !ok {
			continue
		}
		if id == shared && k[8] != tableDedup {
			continue // the series are compared with the stored ones
		}
		if id == shared {
			_, id, _, _, _ = splitDedupKey(k)
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
		for _, task := range t.tasks {
			if v := t.choices[task.Started]; v != nil {
				if err := task.Selection.decodeChoice(v); err != nil {
					return err
				}
			}
		}
		slices.SortFunc(t.tasks, func(a, b *MoveTask) int { return cmp.Compare(a.Started, b.Started) })
	}
	return nil
}

// kept reports whether a purge has kept a key.
func (c *memoryChecker) kept(keys mirror, k []byte) bool {
	id, ok := queueOf(k)
	var m meta
	if !ok || id == shared || id == ofShard || m.decode(keys[string(metaKey(id))].value) != nil {
		return false
	}
	p := Position(tail(k, 0))
	switch table := k[8]; {
	case table == tableMessage:
		_, received := keys[string(m.rows.receivedKey(id, p))]
		return m.kept.hides(p) && !received
	case slices.Contains(editions, table):
		return bool(m.rows)
	}
	return strings.IndexByte("DES", k[8]) >= 0 && !bool(m.rows)
}

func (t *tables) add(k, v []byte) (err error) {
	p := Position(tail(k, 0))
	table := k[8]
	if second := strings.IndexByte("DES", table); second >= 0 {
		table = "des"[second]
	}
	if !slices.Contains([]byte{tableMeta, tableOwnName, tablePaused, tableDedup, tableTask, tableChoice, tableAccepted,
		tableOutbox, tableOutboxMessage}, table) {
		t.passing++
	}
	r := readRecord(v)
	switch table {
	case tableMeta:
		t.record = new(meta)
		err = t.record.decode(v)
	case tableDedup:
		slot, _, kind, id, _ := splitDedupKey(k)
		t.buckets = append(t.buckets, slot/slotsPerBucket)
		t.hashes = append(t.hashes, hashOf(kind, id))
	case tableTask:
		task, bad := decodeMoveTask(v)
		t.tasks, err = append(t.tasks, task), bad
	case tableChoice:
		t.choices[Instant(p)] = v
	case tableMessage:
		t.messages[p], err = decodeMessage(v)
	case tableReceived:
		t.received[p], t.holders[p], err = decodeReceived(p, v)
		t.received[p].tenant = t.holders[p]
	case tableDelay:
		t.delays[p] = stub{sent: r.Instant(), group: r.String()}
	case tableAge:
		t.ages[p] = stub{sent: Instant(tail(k, 1)), due: r.Instant(), group: r.String()}
	case tableMember:
		name := string(k[9 : len(k)-9])
		t.members[name] = append(t.members[name], member{pos: p, sent: r.Instant()})
	case tablePaused:
		t.paused[pausedName(k)] = true
	case tableGroup:
		t.groups[string(k[9:len(k)-1])], err = decodeGroupRecord(v)
	}
	return err
}

// checkRecord compares the queue's record and its tasks.
func (c *memoryChecker) checkRecord(t *tables) {
	q := c.queue
	if t.record == nil {
		return
	}
	// Two fields may change without a need to be written.
	want := q.record()
	c.want(t.record.rota.last <= want.rota.last, "last order %d was stored, is %d", t.record.rota.last, want.rota.last)
	c.want(t.record.rota.head <= want.rota.head, "head of the rota %d was stored, is %d", t.record.rota.head,
		want.rota.head)
	want.rota.last, want.rota.head = t.record.rota.last, t.record.rota.head
	c.checkCounting(&t.record.counting)
	want.counting = t.record.counting
	c.want(*t.record == want, "the stored record is\n%+v\nand should be\n%+v", *t.record, want)
	c.want(t.record.stored > 0 || t.passing == 0, "the queue is empty but for %d keys", t.passing)
	for i, n := range t.buckets {
		f := q.dedup.filters[n]
		c.want(n+1 < bucketOf(c.e.now) || f != nil && f.has(t.hashes[i]), "the filter of bucket %d lacks an id", n)
		c.want(n+1 >= bucketOf(c.e.now) || q.wakeAt <= c.e.now, "bucket %d is over", n)
	}
	for p := range t.delays {
		at := t.ages[p].due
		if q.cfg.FIFO {
			at = t.delays[p].sent
		}
		c.want(q.delays.next <= at, "%v waits and is not expected", p)
	}
	c.want(len(t.tasks) == len(q.moves.tasks), "%d tasks are stored, %d in memory", len(t.tasks), len(q.moves.tasks))
	for i := range min(len(t.tasks), len(q.moves.tasks)) {
		c.want(reflect.DeepEqual(t.tasks[i], q.moves.tasks[i]), "task %+v is stored as %+v", *q.moves.tasks[i],
			*t.tasks[i])
	}
}

// checkCounting compares the counters of the running minute. Empty receives need not be written.
func (c *memoryChecker) checkCounting(stored *counting) {
	got, want := stored.happened, c.queue.tally.happened
	got[MetricEmptyReceives], want[MetricEmptyReceives] = 0, 0
	c.want(got == want && (stored.nothing() || stored.minute == c.queue.tally.minute),
		"stored is the count\n%+v\nand should be\n%+v", *stored, c.queue.tally.counting)
	sizes, isSizes := stored.sized, c.queue.tally.sized
	c.want(bytes.Equal(sizes.sizes.AppendTo(nil), isSizes.sizes.AppendTo(nil)) &&
		sizes.smallest == isSizes.smallest && sizes.largest == isSizes.largest,
		"stored are the sizes %+v, should be %+v", sizes, isSizes)
	c.want(c.queue.tally.minute == 0 || c.queue.wakeAt <= c.queue.tally.minute+minute,
		"the end of the minute is not waited for")
}

// checkGroups compares the groups in memory with the stored ones.
func (c *memoryChecker) checkGroups(t *tables) {
	q := c.queue
	for name, g := range t.groups {
		c.want((q.groups.active[name] != nil) == (g.order < q.rota.head), "group %s: in memory %t, order %d", name,
			q.groups.active[name] != nil, g.order)
	}
	for name := range q.groups.active {
		c.want(t.groups[name].order != 0, "group %s holds messages and has no record", name)
	}
	c.want(maps.Equal(t.paused, q.groups.paused), "paused groups %v are stored as %v", q.groups.paused, t.paused)
	for name := range q.groups.paused {
		c.want(q.groups.pausesChanged || slices.Contains(q.cfg.PausedGroups, name), "group %s is paused for nothing",
			name)
	}
	for cached, r := range c.e.groupRecords {
		if cached.queue == q.cfg.ID {
			c.checkRoster(cached.name, r, t)
		}
	}
	var rota []turn
	for name, g := range t.groups {
		if g.order >= q.rota.head {
			rota = append(rota, turn{name, g.order})
		}
	}
	slices.SortFunc(rota, func(a, b turn) int { return cmp.Compare(a.order, b.order) })
	c.want(slices.Equal(q.rota.next, rota[:min(len(q.rota.next), len(rota))]),
		"the rota is %v, in memory it begins with %v", rota, q.rota.next)
}

// checkRoster compares what memory knows of a group with its members.
func (c *memoryChecker) checkRoster(name string, r *groupRecord, t *tables) {
	members := slices.SortedFunc(slices.Values(t.members[name]),
		func(a, b member) int { return cmp.Compare(a.pos, b.pos) })
	known := len(r.ahead)
	c.want(r.order == t.groups[name].order, "group %s is cached at %d of the rota, stored at %d", name, r.order,
		t.groups[name].order)
	c.want(known <= len(members) && (!r.all || known == len(members)), "group %s has %d members, in memory %d, all %t",
		name, len(members), known, r.all)
	c.want(len(members) == 0 || r.head <= members[0].pos, "group %s has a member before its head", name)
	c.want(slices.Equal(r.ahead, members[:min(known, len(members))]), "group %s begins with %v, in memory %v", name,
		members, r.ahead)
}

// checkMemory compares the memory of received messages with the stored ones.
func (c *memoryChecker) checkMemory(t *tables) {
	q := c.queue
	inFlight, returned, line, grouped := 0, 0, 0, 0
	c.want(len(q.held.at) == len(t.received), "%d received messages are stored, %d in memory", len(t.received),
		len(q.held.at))
	for p, m := range q.held.at {
		s := t.received[p]
		if s == nil {
			c.want(false, "%v was received, and that is not stored", p)
			continue
		}
		c.want(m.pos == p && !m.removed, "%v is in the wrong place", p)
		c.want(bytes.Equal(m.encode(nil), s.as(m)), "%v is stored as %+v and should be %+v", p, s, m)
		c.want(m.deadline <= c.e.now || m.inFlight, "%v should be in flight until %v", p, m.deadline)
		if m.inFlight {
			inFlight++
			c.want(m.elem == nil, "%v is in flight and has returned", p)
			c.want(q.held.deadlines.Has(m), "%v has the wrong place among the deadlines", p)
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
			c.want(q.groups.active[g.name] == g && slices.Contains(g.held, m), "%v is not held by its group", p)
			c.want(t.holders[p] == g.name, "%v is held by %s, stored as %s", p, g.name, t.holders[p])
		}
	}
	c.want(q.held.inFlight == inFlight && q.held.deadlines.Len() == inFlight, "%d in flight, counted %d, %d deadlines",
		inFlight, q.held.inFlight, q.held.deadlines.Len())
	for m := range q.held.deadlines.All() {
		c.want(!m.earlier(q.held.deadlines.First()), "deadlines are not in order")
	}
	c.want(q.held.returned.Len() == returned, "%d have returned, %d in the list", returned, q.held.returned.Len())
	c.want(q.line.held == line, "%d of the line are held, counted %d", line, q.line.held)
	oldest := slices.DeleteFunc(slices.Clone(q.line.received), func(m *received) bool { return m == nil || m.removed })
	c.want(len(oldest) == line, "%d of the line are held, %d in order of age", line, len(oldest))
	c.want(slices.IsSortedFunc(oldest, func(a, b *received) int { return int(a.pos) - int(b.pos) }),
		"the line is not in order of age")
	ready, heldBy := 0, 0
	for name, g := range q.groups.active {
		heldBy += len(g.held)
		c.want(g.name == name && len(g.held) > 0, "group %s is in memory for nothing", name)
		for i, m := range g.held {
			c.want(q.held.at[m.pos] == m && m.group == g, "group %s holds %v", name, m.pos)
			c.want(i == 0 || g.held[i-1].pos < m.pos, "group %s is not in order", name)
		}
		servable := g.servable() && !q.groups.paused[name]
		c.want(servable == (g.elem != nil), "group %s: servable %v, in the rota %v", name, servable, g.elem != nil)
		if g.elem != nil {
			ready++
		}
	}
	c.want(q.cfg.FIFO || len(q.held.at) <= q.cfg.maxInFlight(), "%d messages are held", len(q.held.at))
	c.want(heldBy == grouped, "groups hold %d of %d messages", heldBy, grouped)
	c.want(q.groups.ready.Len() == ready, "%d groups can be served, %d are in the rota", ready, q.groups.ready.Len())
	order := uint64(0)
	for el := q.groups.ready.Front(); el != nil; el = el.Next() {
		g := el.Value.(*activeGroup)
		c.want(g.elem == el && g.order > order && g.order <= q.rota.last, "group %s is out of order", g.name)
		order = g.order
	}
}

// as returns m's record under the assumption that it has the group of other, and the send time that has been looked up
// since.
func (m *received) as(other *received) []byte {
	twin := *m
	twin.group = other.group
	if twin.sent == 0 {
		twin.sent = other.sent
	}
	return twin.encode(nil)
}

// checkWake fails unless the engine has a wake-up for the queue's next timed work.
func (c *memoryChecker) checkWake(t *tables) {
	q := c.queue
	earliest := never
	for _, m := range q.held.at {
		if m.inFlight {
			earliest = min(earliest, m.deadline)
		}
	}
	for p, w := range t.delays {
		end := t.ages[p].due
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
		if task.Status != MoveRunning || task.Selection != nil && q.moves.found == nil {
			continue
		}
		next := max(task.Started, q.moves.from)
		for task.Rate != 0 &&
			next.Sub(task.Started)*time.Duration(task.Rate) < time.Duration(task.Moved+1)*time.Second {
			next++
		}
		earliest = min(earliest, next)
	}
	c.want(q.nextExpiry <= c.e.now.Add(expiryInterval), "expiry is put off until %v", q.nextExpiry)
	due := q.schedule()
	c.want(q.wakeAt == due || max(q.wakeAt, due) <= c.e.now, "wakes at %v and should at %v", q.wakeAt, due)
	c.want(q.wakeAt <= max(earliest, c.e.now), "wakes at %v, too late for %v", q.wakeAt, earliest)
	c.want((q.wakeAt == never) == !c.e.wakes.Has(q), "wakes at %v, place in the heap %d", q.wakeAt, q.wakePlace)
}
