package queue

import "slices"

// Return takes back deliveries that never reached the consumer: they are
// visible again at once and the receive does not count. A message that was
// received again meanwhile, by a repetition of the attempt too, or whose
// visibility was changed with the handle of an earlier receive, stays as it is:
// another consumer relies on it. The engine forgets the receive attempt, if any
// message was taken back: to repeat it is to receive anew.
func (e *Engine) Return(id ID, deliveries []Delivery, attempt string) error {
	return e.takeBack(id, nil, deliveries, attempt)
}

// Shorten takes back all but the first n deliveries of a receive, because one
// answer cannot hold more. A repetition of the attempt gives those n.
func (e *Engine) Shorten(id ID, deliveries []Delivery, n int, attempt string) error {
	return e.takeBack(id, deliveries[:n], deliveries[n:], attempt)
}

// takeBack makes some deliveries of a receive visible again, while the consumer
// gets the kept ones.
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
