package queue

import "fmt"

// looksAtMost limits how many messages are examined for a gauge.
const looksAtMost = 100

// gauges sets the gauges of the queue, except those of its message groups in a standard queue.
func (ms *messages) gauges(r *Row) error {
	n := ms.counts()
	r.set(MetricVisible, n.Visible)
	r.set(MetricInFlight, n.InFlight)
	r.set(MetricDelayed, n.Delayed)
	age, err := ms.oldestAge(nil)
	if err != nil {
		return fmt.Errorf("the oldest message: %w", err)
	}
	r.set(MetricOldestAge, age)
	if ms.cfg.FIFO {
		r.set(MetricGroupsInFlight, ms.groups.inFlight())
	}
	return nil
}

// oldestAge returns the age of the oldest message in seconds, counted from its send or its arrival from another queue.
// It returns 0 if there is none. Messages of the given groups do not count.
//
// As in SQS, a message of a standard queue that was received three times does not count: it may be impossible to
// process, and would hide the age of the others.
func (ms *messages) oldestAge(without map[string]uint64) (seconds uint64, err error) {
	oldest := never
	if ms.line.count() > 0 {
		if oldest, err = ms.line.oldest(); err != nil {
			return 0, err
		}
	}
	if ms.indexed() > 0 {
		at, err := ms.index.oldest(func(a aged) bool {
			_, out := without[a.group]
			return out || ms.held.at[a.pos].ignored()
		})
		if err != nil {
			return 0, err
		}
		oldest = min(oldest, at)
	}
	return uint64(max(0, ms.now-oldest)) / 1000, nil
}
