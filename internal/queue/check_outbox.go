package queue

import "slices"

func (c *checker) checkAccepted() error {
	return c.scan(tableAccepted, keyOf1, func(k, v []byte) error {
		p, err := decodeAccepted(v)
		c.want(err != nil || p != 0, "nothing was accepted from shard %d", tail(k, 0))
		return err
	})
}

// checkElsewhere checks a queue that another shard serves: its outbox is its only table here.
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

// checkOutbox recounts the messages in the outbox.
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
		t, err := decodeTransfer(p, v)
		c.want(err != nil || !t.Copy || record.copies, "%v is a copy, the queue's record says that there are none", p)
		return err
	})
	c.Messages += waiting
	c.want(record.stored == waiting, "%d messages wait, the queue's record says %d", waiting, record.stored)
	return err
}
