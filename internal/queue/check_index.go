package queue

import (
	"crypto/sha256"
	"encoding/binary"
)

// sum is a hash of messages that does not depend on their order. It covers what both a message and the row that leads
// to it contain: position, time of sending, and group. Two tables with the same sum have the same rows.
type sum [2]uint64

func (s *sum) add(p Position, sent Instant, group string) {
	hash := sha256.Sum256(key(nil).position(p).instant(sent).string(group))
	s[0] += binary.BigEndian.Uint64(hash[:])
	s[1] += binary.BigEndian.Uint64(hash[8:])
}

// compare looks up the indexed messages and the rows that lead to them one by one, if their sums differ.
func (c *checker) compare() error {
	if c.indexed == c.ages && c.waiting == c.waiters {
		return nil
	}
	before := len(c.Problems)
	lo, hi := tableRange(c.cfg.ID, tableMessage)
	var bad error
	err := c.r.Scan(lo, hi, func(k, v []byte) bool {
		p := Position(tail(k, 0))
		if m, err := decodeMessage(v); err == nil && p.indexed() && !c.kept(p) {
			bad = c.checkIndexed(p, m)
		}
		return bad == nil
	})
	for _, table := range []byte{tableAge, tableDelay, tableMember} {
		lo, hi := tableRange(c.cfg.ID, c.letter(table))
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

// checkIndexed looks for a message's rows in the indexes: its age, unless the queue itself is ordered by age, and one
// more row, unless the message was received. A row that cannot be decoded was already reported.
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
		c.want(
			row.sent == m.SentAt && row.group == m.Group,
			"%v was sent at %v to group %q, its row says %v, %q",
			p,
			m.SentAt,
			m.Group,
			row.sent,
			row.group,
		)
	case 0:
		c.want(false, "%v can be reached in no way", p)
	}
	return nil
}

// age reads a message's row in the table of ages.
func (c *checker) age(p Position, m *Message) (s stub, found bool, err error) {
	b, err := c.r.Get(c.meta.rows.ageKey(c.cfg.ID, m.SentAt, p))
	if b == nil || err != nil {
		return s, false, err
	}
	r := readRecord(b)
	return stub{sent: m.SentAt, due: r.Instant(), group: r.String()}, true, nil
}

// home returns the table that leads to the indexed message at p, and the content of its row there. A table of 0 means
// that no table does.
func (c *checker) home(p Position, m *Message, age stub) (table byte, row stub, err error) {
	if s, ok := c.received[p]; ok {
		return tableReceived, s, nil
	}
	b, err := c.r.Get(c.meta.rows.delayKey(c.cfg.ID, c.delayedUntil(age, m), p))
	if err != nil {
		return 0, stub{}, err
	}
	if b != nil {
		r := readRecord(b)
		return tableDelay, stub{sent: r.Instant(), group: r.String()}, nil
	}
	b, err = c.r.Get(memberKey(c.cfg.ID, m.Group, p))
	if b == nil || err != nil {
		return 0, stub{}, err
	}
	r := readRecord(b)
	return tableMember, stub{sent: r.Instant(), group: m.Group}, nil
}

// delayedUntil returns the instant under which the message is in the table of delays, if it is delayed.
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
	if m, err := decodeMessage(b); err == nil { // otherwise it was already reported
		return c.checkPlace(table, p, key, m)
	}
	return nil
}

// checkPlace checks that the row of a message has the right key.
func (c *checker) checkPlace(table byte, p Position, key []byte, m *Message) error {
	age, _, err := c.age(p, m)
	if err != nil {
		return err
	}
	rows := map[byte][]byte{
		tableAge:    c.meta.rows.ageKey(c.cfg.ID, m.SentAt, p),
		tableDelay:  c.meta.rows.delayKey(c.cfg.ID, c.delayedUntil(age, m), p),
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
