package queue

import "slices"

// stub is the content of a message's row.
type stub struct {
	sent  Instant
	due   Instant // ages only
	group string
}

// letter returns the letter of a table, in the edition that the queue uses if there are two.
func (c *checker) letter(table byte) byte {
	if slices.Contains(editions, table) {
		return c.meta.rows.table(table)
	}
	return table
}

// kept reports whether the message at p is kept by a purge.
func (c *checker) kept(p Position) bool {
	_, received := c.received[p]
	return !received && c.meta.kept.hides(p)
}

func (c *checker) checkReceived() error {
	return c.scan(c.letter(tableReceived), keyOf1, func(k, v []byte) error {
		p := Position(tail(k, 0))
		m, group, err := decodeReceived(p, v)
		if err != nil {
			return err
		}
		c.received[p] = stub{sent: m.sent, group: group}
		if c.cfg.FIFO {
			c.held[group] = max(c.held[group], p)
		}
		c.want(
			m.receipt <= c.meta.held.receipts,
			"%v was received with number %d, after the last one, %d",
			p,
			m.receipt,
			c.meta.held.receipts,
		)
		return nil
	})
}

// checkMessages reads the messages.
func (c *checker) checkMessages() error {
	found := 0 // of those received
	kept := uint64(0)
	next := c.meta.line.head // of the line
	var sent Instant         // of the message before
	err := c.scan(tableMessage, keyOf1, func(k, v []byte) error {
		p := Position(tail(k, 0))
		m, err := decodeMessage(v)
		if c.kept(p) {
			kept++
			return err
		}
		c.Messages++
		c.Bytes += uint64(len(v))
		if err != nil {
			return err
		}
		s, received := c.received[p]
		if received {
			found++
			c.want(
				s.sent == 0 && !p.indexed() ||
					s.sent == m.SentAt, "%v was sent at %v, its receive says %v", p, m.SentAt, s.sent,
			)
			c.want(s.group == m.Group || !c.cfg.FIFO, "%v is of group %q, its receive says %q", p, m.Group, s.group)
		}
		if p.indexed() {
			c.want(p&^indexedBit <= c.meta.index.last, "%v is after the last index, %v", p, c.meta.index.last)
			c.want(c.meta.index.floor <= m.SentAt, "%v was sent before the floor of ages", p)
			if c.cfg.FIFO {
				c.want(c.meta.index.head <= p, "%v is in front of the oldest, %v", p, c.meta.index.head)
			} else {
				c.indexed.add(p, m.SentAt, m.Group)
			}
			if !received {
				c.waiting.add(p, m.SentAt, m.Group)
			}
			return nil
		}
		switch {
		case p >= c.meta.line.next:
			c.want(false, "%v is behind the line, which ends at %v", p, c.meta.line.next)
		case p >= c.meta.line.head:
			c.want(!received, "%v was received and is in the line", p)
			c.wantGap(next, p)
			next = p + 1
		default:
			c.want(received, "%v is in front of the line, which begins at %v, and was never received", p, c.meta.line.head)
		}
		c.want(c.meta.line.floor <= m.SentAt, "%v was sent before the floor of the line", p)
		c.want(sent <= m.SentAt, "%v was sent before the one in front of it", p)
		sent = m.SentAt
		return nil
	})
	c.wantGap(next, c.meta.line.next)
	c.want(c.meta.kept.messages == kept, "%d messages are kept, the queue's record says %d", kept, c.meta.kept.messages)
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

// wantGap reports the messages missing from the line if next is not p.
func (c *checker) wantGap(next, p Position) {
	switch {
	case next+1 == p:
		c.want(false, "%v is missing from the line", next)
	case next < p:
		c.want(false, "%v to %v are missing from the line", next, p-1)
	}
}

func (c *checker) checkDelays() error {
	delayed := uint64(0)
	err := c.scan(c.letter(tableDelay), keyOf2, func(k, v []byte) error {
		delayed++
		at, p := Instant(tail(k, 1)), Position(tail(k, 0))
		c.want(c.meta.delays.floor <= at, "%v waits before the floor of delays", p)
		sent, group, err := decodeDelayed(v)
		if err != nil {
			return err
		}
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
		return nil
	})
	c.want(c.meta.delays.count == delayed, "%d messages wait, the queue's record says %d", delayed, c.meta.delays.count)
	return err
}

func (c *checker) checkAges() error {
	return c.scan(c.letter(tableAge), keyOf2, func(k, v []byte) error {
		_, group, err := decodeAge(v)
		c.ages.add(Position(tail(k, 0)), Instant(tail(k, 1)), group)
		return err
	})
}
