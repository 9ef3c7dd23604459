package queue

import "fmt"

// looksAtMost limits how many messages are examined for a gauge.
const looksAtMost = 100

// gauges sets the gauges of the queue.
func (q *queue) gauges(r *Row) error {
	n := q.counts()
	r.set(MetricVisible, n.Visible)
	r.set(MetricInFlight, n.InFlight)
	r.set(MetricDelayed, n.Delayed)
	age, err := q.oldestAge(nil)
	if err != nil {
		return fmt.Errorf("the oldest message: %w", err)
	}
	r.set(MetricOldestAge, age)
	if q.cfg.FIFO {
		r.set(MetricGroupsInFlight, q.groups.inFlight())
		return nil
	}
	return q.fairness(r)
}

// oldestAge returns the age of the oldest message in seconds, counted from its send or its arrival from another queue.
// It returns 0 if there is none. Messages of the given groups do not count.
//
// As in SQS, a message of a standard queue that was received three times does not count: it may be impossible to
// process, and would hide the age of the others.
func (q *queue) oldestAge(without map[string]uint64) (seconds uint64, err error) {
	oldest := never
	if q.line.count() > 0 {
		if oldest, err = q.line.oldest(); err != nil {
			return 0, err
		}
	}
	if q.indexed() > 0 {
		at, err := q.index.oldest(func(a aged) bool {
			_, out := without[a.group]
			return out || q.held.at[a.pos].ignored()
		})
		if err != nil {
			return 0, err
		}
		oldest = min(oldest, at)
	}
	return uint64(max(0, q.now-oldest)) / 1000, nil
}
