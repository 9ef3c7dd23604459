package queue

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Reader is the half of a Txn that changes nothing.
type Reader interface {
	Get(key []byte) ([]byte, error)
	Scan(lo, hi []byte, f func(key, value []byte) bool) error
}

// problemsKept bounds how many problems of a queue are put into words.
const problemsKept = 100

// Recount is what Check has found in a queue.
type Recount struct {
	Messages uint64   // in whatever state
	Bytes    uint64   // of their records
	Problems []string // what is not as it should be; the first of them in words
	More     uint64   // problems beyond those in words
}

// Check reads everything that is stored of a queue and compares it with itself:
// each message has one way to its consumer, each row of an index has its
// message, and the counters are what a recount gives. What is not so is a
// problem; an error says that the store could not be read.
//
// It reads the tables in order and keeps in memory what an engine would keep:
// the messages that were received and not deleted. Rows of different tables are
// not looked up in each other, which would take a read from another place of the
// disk for each, but summed up: see sum. Only if the sums differ are they
// compared one by one.
//
// Of an away queue the messages that wait to be forwarded are recounted.
func Check(r Reader, cfg Config) (Recount, error) {
	c := &checker{
		r: r, cfg: cfg, received: make(map[Position]stub), held: make(map[string]Position),
	}
	steps := []func() error{
		c.readMeta, c.checkTables, c.checkReceived, c.checkMessages, c.checkDelays, c.checkMembers, c.checkAges,
		c.compare, c.checkGroups, c.checkRota, c.checkTasks, c.checkAccepted,
	}
	if cfg.Elsewhere {
		steps = []func() error{c.checkElsewhere}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return c.Recount, fmt.Errorf("check queue %s: %w", cfg.ARN, err)
		}
		if c.empty {
			break
		}
	}
	if !cfg.Elsewhere {
		if err := c.checkOutbox(); err != nil {
			return c.Recount, fmt.Errorf("check queue %s: %w", cfg.ARN, err)
		}
	}
	return c.Recount, nil
}

type checker struct {
	r     Reader
	cfg   Config
	meta  meta
	empty bool // the queue has never been written to
	Recount

	received map[Position]stub
	held     map[string]Position // FIFO: groups with received messages, and the last of these
	groups   uint64              // that have a record
	inRota   uint64              // of these, in the rota

	indexed, ages    sum // of the indexed messages, and of their ages; not in FIFO queues
	waiting, waiters sum // of those that were not received, and of delays and members
}

// sum is of messages in whatever order, by what both they and the rows that lead
// to them say: where they stand, when they were sent and to which group. Two
// tables with the same sum have the same rows.
type sum [2]uint64

func (s *sum) add(p Position, sent Instant, group string) {
	hash := sha256.Sum256(key(nil).position(p).instant(sent).string(group))
	s[0] += binary.BigEndian.Uint64(hash[:])
	s[1] += binary.BigEndian.Uint64(hash[8:])
}

// stub is what a row says of its message.
type stub struct {
	sent  Instant
	due   Instant // ages only
	group string
}

func (c *checker) want(ok bool, format string, args ...any) {
	switch {
	case ok:
	case len(c.Problems) < problemsKept:
		c.Problems = append(c.Problems, fmt.Sprintf(format, args...))
	default:
		c.More++
	}
}

// scan calls f with each row of a table whose keys have that length, or any if
// it is 0. A record that cannot be decoded is a problem, any other error of f
// ends the scan.
func (c *checker) scan(table byte, length int, f func(k, v []byte) error) error {
	var bad error
	lo, hi := tableRange(c.cfg.ID, table)
	err := c.r.Scan(lo, hi, func(k, v []byte) bool {
		if length != 0 && len(k) != length {
			c.want(false, "stray key %q", k)
			return true
		}
		err := f(k, v)
		if errors.Is(err, errRecordMalformed) || errors.Is(err, errRecordNewVersion) {
			c.want(false, "key %q: %v", k, err)
			err = nil
		}
		bad = err
		return bad == nil
	})
	return firstError(err, bad)
}

// Lengths of keys: queue and table, then so many numbers.
const (
	keyOf0 = 9
	keyOf1 = keyOf0 + 8
	keyOf2 = keyOf1 + 8
)

func (c *checker) readMeta() error {
	return c.readOwn(metaKey(c.cfg.ID), c.meta.decode, firstKey)
}

// readOwn reads the queue's own record, without which there is nothing else that
// other could find.
func (c *checker) readOwn(key key, decode func([]byte) error, other func(Reader, ID) ([]byte, error)) error {
	b, err := c.r.Get(key)
	if err != nil {
		return err
	}
	if b == nil {
		c.empty = true
		k, err := other(c.r, c.cfg.ID)
		c.want(k == nil, "there are keys but no record of the queue: %q", k)
		return err
	}
	if err := decode(b); err != nil {
		c.empty = true
		c.want(false, "%v", err)
	}
	return nil
}

func (c *checker) checkTables() error {
	err := c.checkBetween(
		tableMeta, tableOutbox, tableAccepted, tableDelay, tableAge, tableOutboxMessage, tableGroup, tableMessage, tableRota, tableReceived,
		tableTask, tableMember,
	)
	if err != nil {
		return err
	}
	return c.scan(tableMeta, keyOf0, func(_, _ []byte) error { return nil })
}

// checkBetween looks for keys between the tables, which are in order.
func (c *checker) checkBetween(tables ...byte) error {
	from, end := queueRange(c.cfg.ID)
	for i := range len(tables) + 1 {
		to, next := end, end
		if i < len(tables) {
			to, next = tableRange(c.cfg.ID, tables[i])
		}
		err := c.r.Scan(from, to, func(k, _ []byte) bool {
			c.want(false, "stray key %q", k)
			return false
		})
		if err != nil {
			return err
		}
		from = next
	}
	return nil
}

func (c *checker) checkReceived() error {
	return c.scan(tableReceived, keyOf1, func(k, v []byte) error {
		p := Position(tail(k, 0))
		m, group, err := decodeReceived(p, v)
		if err != nil {
			return err
		}
		c.received[p] = stub{sent: m.sent, group: group}
		if c.cfg.FIFO {
			c.held[group] = max(c.held[group], p)
		}
		c.want(m.receipt <= c.meta.receipts, "%v was received with number %d, after the last one, %d", p, m.receipt, c.meta.receipts)
		return nil
	})
}

// checkMessages goes through the messages.
func (c *checker) checkMessages() error {
	found := 0              // of those received
	next := c.meta.lineHead // of the line
	var sent Instant        // of the message before
	err := c.scan(tableMessage, keyOf1, func(k, v []byte) error {
		p := Position(tail(k, 0))
		c.Messages++
		c.Bytes += uint64(len(v))
		m, err := decodeMessage(v)
		if err != nil {
			return err
		}
		s, received := c.received[p]
		if received {
			found++
			c.want(s.sent == 0 && !p.indexed() || s.sent == m.SentAt, "%v was sent at %v, its receive says %v", p, m.SentAt, s.sent)
			c.want(s.group == m.Group || !c.cfg.FIFO, "%v is of group %q, its receive says %q", p, m.Group, s.group)
		}
		if p.indexed() {
			c.want(p&^indexedBit <= c.meta.lastIndex, "%v is after the last index, %v", p, c.meta.lastIndex)
			c.want(c.meta.ageFloor <= m.SentAt, "%v was sent before the floor of ages", p)
			if c.cfg.FIFO {
				c.want(c.meta.ageHead <= p, "%v is in front of the oldest, %v", p, c.meta.ageHead)
			} else {
				c.indexed.add(p, m.SentAt, m.Group)
			}
			if !received {
				c.waiting.add(p, m.SentAt, m.Group)
			}
			return nil
		}
		switch {
		case p >= c.meta.lineNext:
			c.want(false, "%v is behind the line, which ends at %v", p, c.meta.lineNext)
		case p >= c.meta.lineHead:
			c.want(!received, "%v was received and is in the line", p)
			c.wantGap(next, p)
			next = p + 1
		default:
			c.want(received, "%v is in front of the line, which begins at %v, and was never received", p, c.meta.lineHead)
		}
		c.want(c.meta.lineFloor <= m.SentAt, "%v was sent before the floor of the line", p)
		c.want(sent <= m.SentAt, "%v was sent before the one in front of it", p)
		sent = m.SentAt
		return nil
	})
	c.wantGap(next, c.meta.lineNext)
	c.want(c.meta.stored == c.Messages, "%d messages are stored, the queue's record says %d", c.Messages, c.meta.stored)
	if err == nil && found != len(c.received) {
		for p := range c.received {
			b, err := c.r.Get(messageKey(c.cfg.ID, p))
			if err != nil {
				return err
			}
			c.want(b != nil, "%v was received and is missing", p)
		}
	}
	return err
}

// wantGap reports what is missing from the line if next is not p.
func (c *checker) wantGap(next, p Position) {
	switch {
	case next+1 == p:
		c.want(false, "%v is missing from the line", next)
	case next < p:
		c.want(false, "%v to %v are missing from the line", next, p-1)
	}
}

// compare goes through the indexed messages and the rows that lead to them one
// by one, if their sums say that there is something to be found.
func (c *checker) compare() error {
	if c.indexed == c.ages && c.waiting == c.waiters {
		return nil
	}
	before := len(c.Problems)
	lo, hi := tableRange(c.cfg.ID, tableMessage)
	var bad error
	err := c.r.Scan(lo, hi, func(k, v []byte) bool {
		p := Position(tail(k, 0))
		if m, err := decodeMessage(v); err == nil && p.indexed() {
			bad = c.checkIndexed(p, m)
		}
		return bad == nil
	})
	for _, table := range []byte{tableAge, tableDelay, tableMember} {
		lo, hi := tableRange(c.cfg.ID, table)
		err = firstError(err, bad)
		if err != nil {
			return err
		}
		err = c.r.Scan(lo, hi, func(k, _ []byte) bool {
			bad = c.checkRow(table, Position(tail(k, 0)), k)
			return bad == nil
		})
	}
	c.want(before < len(c.Problems) || before > 0, "the indexes do not match the messages")
	return firstError(err, bad)
}

// checkIndexed looks for a message's rows in the indexes: its age, unless the
// queue is in order of age itself, and one more unless it was received. A row that
// cannot be decoded was reported before.
func (c *checker) checkIndexed(p Position, m *Message) error {
	age, aged, err := c.age(p, m)
	if err != nil {
		return err
	}
	c.want(aged || c.cfg.FIFO, "%v has no row in the table of ages", p)
	c.want(!aged || age.group == m.Group, "%v is of group %q, its age says %q", p, m.Group, age.group)
	home, row, err := c.home(p, m, age)
	if err != nil {
		return err
	}
	switch home {
	case tableDelay, tableMember:
		c.want(row.sent == m.SentAt && row.group == m.Group, "%v was sent at %v to group %q, its row says %v, %q", p, m.SentAt, m.Group, row.sent, row.group)
	case 0:
		c.want(false, "%v can be reached in no way", p)
	}
	return nil
}

// age reads a message's row in the table of ages.
func (c *checker) age(p Position, m *Message) (s stub, found bool, err error) {
	b, err := c.r.Get(ageKey(c.cfg.ID, m.SentAt, p))
	if b == nil || err != nil {
		return s, false, err
	}
	r := readRecord(b)
	return stub{sent: m.SentAt, due: r.instant(), group: r.string()}, true, nil
}

// home finds out by which table the indexed message at p is reached, and what
// its row there says; 0 means by none.
func (c *checker) home(p Position, m *Message, age stub) (table byte, row stub, err error) {
	if s, ok := c.received[p]; ok {
		return tableReceived, s, nil
	}
	b, err := c.r.Get(delayKey(c.cfg.ID, c.delayedUntil(age, m), p))
	if err != nil {
		return 0, stub{}, err
	}
	if b != nil {
		r := readRecord(b)
		return tableDelay, stub{sent: r.instant(), group: r.string()}, nil
	}
	b, err = c.r.Get(memberKey(c.cfg.ID, m.Group, p))
	if b == nil || err != nil {
		return 0, stub{}, err
	}
	r := readRecord(b)
	return tableMember, stub{sent: r.instant(), group: m.Group}, nil
}

// delayedUntil is the instant under which a message waits if it does.
func (c *checker) delayedUntil(age stub, m *Message) Instant {
	if c.cfg.FIFO {
		return m.SentAt
	}
	return age.due
}

// checkRow looks for the message of a row of an index.
func (c *checker) checkRow(table byte, p Position, key []byte) error {
	b, err := c.r.Get(messageKey(c.cfg.ID, p))
	if err != nil {
		return err
	}
	if b == nil {
		c.want(false, "%v is missing, and is in the table of %s", p, tableNames[table])
		return nil
	}
	if m, err := decodeMessage(b); err == nil { // or else it was reported before
		return c.checkPlace(table, p, key, m)
	}
	return nil
}

// checkPlace compares the row of a message with where it should be.
func (c *checker) checkPlace(table byte, p Position, key []byte, m *Message) error {
	age, _, err := c.age(p, m)
	if err != nil {
		return err
	}
	rows := map[byte][]byte{
		tableAge:    ageKey(c.cfg.ID, m.SentAt, p),
		tableDelay:  delayKey(c.cfg.ID, c.delayedUntil(age, m), p),
		tableMember: memberKey(c.cfg.ID, m.Group, p),
	}
	home, _, err := c.home(p, m, age)
	if err != nil {
		return err
	}
	right := p.indexed() && (table == tableAge && !c.cfg.FIFO || home == table) && string(rows[table]) == string(key)
	c.want(right, "%v is in a wrong place of the table of %s", p, tableNames[table])
	return nil
}

var tableNames = map[byte]string{tableAge: "ages", tableDelay: "delays", tableMember: "members"}

func (c *checker) checkDelays() error {
	delayed := uint64(0)
	err := c.scan(tableDelay, keyOf2, func(k, v []byte) error {
		delayed++
		at, p := Instant(tail(k, 1)), Position(tail(k, 0))
		c.want(c.meta.delayFloor <= at, "%v waits before the floor of delays", p)
		r := readRecord(v)
		sent, group := r.instant(), r.string()
		c.waiters.add(p, sent, group)
		until := sent
		if !c.cfg.FIFO {
			age, _, err := c.age(p, &Message{SentAt: sent})
			if err != nil {
				return err
			}
			until = age.due
		}
		c.want(at == until, "%v waits until %v in the table of delays, and until %v in that of ages", p, at, until)
		return r.done("delayed message")
	})
	c.want(c.meta.delayed == delayed, "%d messages wait, the queue's record says %d", delayed, c.meta.delayed)
	return err
}

func (c *checker) checkAges() error {
	return c.scan(tableAge, keyOf2, func(k, v []byte) error {
		r := readRecord(v)
		r.instant()
		c.ages.add(Position(tail(k, 0)), Instant(tail(k, 1)), r.string())
		return r.done("message age")
	})
}

// checkMembers goes through the members of the groups. A group that has some has
// a record.
func (c *checker) checkMembers() error {
	var name string
	var group groupRecord
	first := true
	return c.scan(tableMember, 0, func(k, v []byte) error {
		of, ok := strings.CutSuffix(string(k[keyOf0:max(keyOf0, len(k)-8)]), "\x00")
		if !ok {
			c.want(false, "stray key %q", k)
			return nil
		}
		if first || of != name {
			first, name, group = false, of, groupRecord{}
			b, err := c.r.Get(groupKey(c.cfg.ID, name))
			if err != nil {
				return err
			}
			c.want(b != nil, "group %q has members and no record", name)
			if b != nil {
				if group, err = decodeGroupRecord(b); err != nil {
					return err
				}
			}
		}
		p := Position(tail(k, 0))
		r := readRecord(v)
		c.waiters.add(p, r.instant(), name)
		c.want(group.head <= p, "%v is in front of the head of group %q", p, name)
		c.want(c.held[name] < p, "%v, which was received, is behind member %v of group %q", c.held[name], p, name)
		return r.done("group member")
	})
}

// checkGroups compares the records of the groups with the rota.
func (c *checker) checkGroups() error {
	return c.scan(tableGroup, 0, func(k, v []byte) error {
		name, ok := strings.CutSuffix(string(k[keyOf0:]), "\x00")
		if !ok {
			c.want(false, "stray key %q", k)
			return nil
		}
		g, err := decodeGroupRecord(v)
		if err != nil {
			return err
		}
		c.groups++
		_, held := c.held[name]
		c.want(held == (g.order < c.meta.rotaHead), "group %q: held back %t, place %d in the rota", name, held, g.order)
		b, err := c.r.Get(rotaKey(c.cfg.ID, g.order))
		if err != nil {
			return err
		}
		c.want(string(b) == name, "group %q is not at its place %d in the rota", name, g.order)
		if held {
			return nil
		}
		c.inRota++
		members := false
		lo, hi := memberRange(c.cfg.ID, name, 0)
		err = c.r.Scan(lo, hi, func(_, _ []byte) bool { members = true; return false })
		c.want(members || err != nil, "group %q has a turn and no members", name)
		return err
	})
}

// checkRota compares the rota with the records of the groups. Places in front of
// its head are those of groups that are held back.
func (c *checker) checkRota() error {
	places := uint64(0)
	err := c.scan(tableRota, keyOf1, func(k, _ []byte) error {
		places++
		order := tail(k, 0)
		c.want(order <= c.meta.lastOrder, "place %d is not in the rota, which ends at %d", order, c.meta.lastOrder)
		return nil
	})
	c.want(places == c.groups, "the rota has %d places for %d groups", places, c.groups)
	c.want(c.meta.rotaLength == c.inRota, "%d groups have a turn, the queue's record says %d", c.inRota, c.meta.rotaLength)
	return err
}

func (c *checker) checkTasks() error {
	tasks, running := 0, 0
	err := c.scan(tableTask, keyOf1, func(k, v []byte) error {
		t, err := decodeMoveTask(v)
		if err != nil {
			return err
		}
		tasks++
		if t.Status == MoveRunning {
			running++
		}
		c.want(t.Started == Instant(tail(k, 0)), "task %s is under another time than %v, when it was started", t.ID, t.Started)
		c.want(t.Moved <= t.ToMove, "task %s has moved %d of %d messages", t.ID, t.Moved, t.ToMove)
		return nil
	})
	c.want(tasks <= movesKept, "%d message move tasks are kept", tasks)
	c.want(running <= 1, "%d message move tasks are running", running)
	return err
}

func (c *checker) checkAccepted() error {
	return c.scan(tableAccepted, keyOf1, func(k, v []byte) error {
		p, err := decodeAccepted(v)
		c.want(err != nil || p != 0, "nothing has arrived from shard %d", tail(k, 0))
		return err
	})
}

// checkAway checks an away queue, which has no other tables than its line's.
func (c *checker) checkElsewhere() error {
	var record outboxRecord
	any := func(r Reader, id ID) (found []byte, err error) {
		lo, hi := queueRange(id)
		err = r.Scan(lo, hi, func(k, _ []byte) bool { found = slices.Clone(k); return false })
		return found, err
	}
	if err := c.readOwn(outboxKey(c.cfg.ID), record.decode, any); err != nil || c.empty {
		return err
	}
	if err := c.checkBetween(tableOutbox, tableOutboxMessage); err != nil {
		return err
	}
	return c.checkOutbox()
}

// checkLine recounts the messages that wait to be forwarded.
func (c *checker) checkOutbox() error {
	b, err := c.r.Get(outboxKey(c.cfg.ID))
	if err != nil {
		return err
	}
	var record outboxRecord
	if b != nil {
		if err := record.decode(b); err != nil {
			c.want(false, "%v", err)
			return nil
		}
	}
	if err := c.scan(tableOutbox, keyOf0, func(_, _ []byte) error { return nil }); err != nil {
		return err
	}
	waiting := uint64(0)
	err = c.scan(tableOutboxMessage, keyOf1, func(k, v []byte) error {
		p := Position(tail(k, 0))
		waiting++
		c.Bytes += uint64(len(v))
		c.want(record.head <= p && p <= record.last, "%v waits outside of [%v, %v]", p, record.head, record.last)
		_, err := decodeMessage(v)
		return err
	})
	c.Messages += waiting
	c.want(record.stored == waiting, "%d messages wait, the queue's record says %d", waiting, record.stored)
	return err
}
