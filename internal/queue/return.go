package queue

import "slices"

// Return reverts deliveries that never reached the consumer: their messages are visible again at once, and the receive
// does not count. A message stays as it is if it was received again meanwhile (even by a repetition of the attempt), or
// if its visibility was changed with the handle of an earlier receive: another consumer relies on it. If any delivery
// was reverted, the engine forgets the receive attempt, and a repetition is a new receive.
func (e *Engine) Return(id ID, deliveries []Delivery, attempt string) error {
	return e.takeBack(id, nil, deliveries, attempt)
}

// Shorten reverts all but the first n deliveries of a receive, because one answer cannot hold more. A repetition of the
// attempt returns those n.
func (e *Engine) Shorten(id ID, deliveries []Delivery, n int, attempt string) error {
	return e.takeBack(id, deliveries[:n], deliveries[n:], attempt)
}

// takeBack reverts some deliveries of a receive; the consumer gets the kept ones.
func (e *Engine) takeBack(id ID, kept, back []Delivery, attempt string) error {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return err
	}
	taken := false
	for _, d := range back {
		m := q.held.delivered(d)
		if m == nil {
			continue
		}
		taken = true
		q.tally.countDurably(MetricReceived, -1)
		q.throttle.count(-1)
		q.held.takeBack(m)
		if m.group != nil {
			if err := q.groups.release(m.group); err != nil {
				return err
			}
		}
	}
	if attempt == "" || !taken || !q.cfg.FIFO {
		return nil
	}
	if err := q.dedup.forgetAttempt(attempt); err != nil {
		return err
	}
	kept = slices.DeleteFunc(slices.Clone(kept), func(d Delivery) bool { return q.held.delivered(d) == nil })
	if len(kept) > 0 {
		q.dedup.rememberAttempt(attempt, kept)
	}
	return nil
}
