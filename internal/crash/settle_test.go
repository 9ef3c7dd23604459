package crash

import "time"

const (
	// settleTime is more than any timeout, delay or task of the load takes.
	settleTime = 30 * time.Second
	// drainTimeout keeps what the drain receives invisible until it is deleted.
	drainTimeout = 30 * time.Second
	// fruitless is how often a drain may receive nothing from a queue that says
	// it holds something: a receive moves a bounded number of messages to the
	// dead-letter queue and may come back empty.
	fruitless = 20
)

// settle waits until nothing is in flight, delayed or about to be moved.
func settle(r *recorder, queues []spec) {
	until := r.now() + settleTime
	for _, q := range queues {
		for !r.gone {
			n, err := r.counts(q.name)
			if err != nil || n.inFlight == 0 && n.delayed == 0 && !n.moving {
				break
			}
			if r.now() > until {
				r.note("settle", q.name, "", "still %d in flight, %d delayed, moving %t", n.inFlight, n.delayed, n.moving)
				break
			}
			r.sleep(20 * time.Millisecond)
		}
	}
}

// drain receives and deletes everything, and compares with what the counters
// said there was. A queue comes before its dead-letter queue.
func drain(r *recorder, queues []spec) {
	for _, q := range queues {
		before, err := r.counts(q.name)
		if err != nil {
			// The queue is gone, or was never made. A receive puts that into the
			// history, which knows whether it may be so.
			_, _ = r.receive(q.name, receive{most: 1})
			continue
		}
		var deadBefore, deadAfter counts
		if q.dead != "" {
			deadBefore, _ = r.counts(q.dead)
		}
		found := empty(r, q.name)
		if q.dead != "" {
			deadAfter, _ = r.counts(q.dead)
		}
		moved := deadAfter.total() - deadBefore.total()
		if found+moved != before.total() || moved < 0 {
			r.note("counters", q.name, "", "%d messages were counted, %d were found and %d moved to the dead-letter queue",
				before.total(), found, moved)
		}
	}
}

// empty deletes what is in a queue and returns how much it was.
func empty(r *recorder, queue string) (found int) {
	for misses := 0; !r.gone; {
		messages, err := r.receive(queue, receive{most: 10, timeout: drainTimeout})
		if err != nil {
			r.note("drain", queue, "", "%v", err)
			return found
		}
		found += len(messages)
		if len(messages) > 0 {
			r.remove(queue, messages)
			continue
		}
		left, err := r.counts(queue)
		if err == nil && left.total() == 0 {
			return found
		}
		if misses++; misses == fruitless {
			r.note("counters", queue, "", "nothing more is received, but %+v are counted (%v)", left, err)
			return found
		}
	}
	return found
}
