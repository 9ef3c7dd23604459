package queue

import "strings"

// readPaused reads which groups are paused. Only FIFO queues have paused groups.
func (c *checker) readPaused() error {
	err := c.scan(tablePaused, 0, func(k, v []byte) error {
		c.paused[pausedName(k)] = true
		r := readRecord(v)
		return r.done("paused group")
	})
	c.want(c.cfg.FIFO || len(c.paused) == 0, "%d groups of a standard queue are paused", len(c.paused))
	return err
}

// checkMembers reads the members of the groups. A group with members has a record, unless it is paused.
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
			c.want(b != nil || c.paused[name], "group %q has members and no record", name)
			if b != nil {
				if group, err = decodeGroupRecord(b); err != nil {
					return err
				}
			}
		}
		p := Position(tail(k, 0))
		r := readRecord(v)
		c.waiters.add(p, r.Instant(), name)
		c.want(group.head <= p, "%v is in front of the head of group %q", p, name)
		c.want(
			c.meta.mixed ||
				c.held[name] < p, "%v, which was received, is behind member %v of group %q", c.held[name], p, name,
		)
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
		c.want(held || !c.paused[name], "paused group %q has a turn", name)
		c.want(
			held == (g.order < c.meta.rota.head), "group %q: held back %t, place %d in the rota", name, held, g.order,
		)
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

// checkRota compares the rota with the records of the groups. Only active groups have places in front of its head.
func (c *checker) checkRota() error {
	places := uint64(0)
	err := c.scan(tableRota, keyOf1, func(k, _ []byte) error {
		places++
		order := tail(k, 0)
		c.want(order <= c.meta.rota.last, "place %d is not in the rota, which ends at %d", order, c.meta.rota.last)
		return nil
	})
	c.want(places == c.groups, "the rota has %d places for %d groups", places, c.groups)
	c.want(
		c.meta.rota.length == c.inRota, "%d groups have a turn, the queue's record says %d", c.inRota,
		c.meta.rota.length,
	)
	return err
}
