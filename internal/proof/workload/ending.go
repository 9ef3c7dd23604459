package workload

import (
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

const (
	// quiesceTime is longer than any timeout, delay or task of the load.
	quiesceTime = 30 * time.Second
	// drainTimeout keeps messages that the drain receives invisible until they are deleted.
	drainTimeout = 30 * time.Second
	// fruitless is how often a drain may receive nothing from a queue that reports messages: a receive moves a bounded
	// number of messages to the dead-letter queue and may come back empty.
	fruitless = 20
)

// Ending brings a run to its end: when it is over, all queues are empty. Errors that prevent this are noted in the
// history.
type Ending struct {
	*Recorder
	Queues   []history.Queue // a queue comes before its dead-letter queue
	Wait     time.Duration   // of receives from a queue that says it holds something and gave nothing
	Patience time.Duration   // time to continue without any answer or progress; 0: one call without an answer ends it
	doubtful bool            // a delete had no answer, so that messages may be met twice
}

// Persist repeats a call without an answer, until patience ends.
func (e *Ending) Persist(call func() error) error {
	for until := e.Now() + e.Patience; ; e.Sleep(200 * time.Millisecond) {
		err := call()
		if o, _ := history.OutcomeOf(err); o != history.Unknown || e.Now() >= until {
			return err
		}
		e.Gone = false
	}
}

func (e *Ending) count(queue string) (n Counts, err error) {
	err = e.Persist(func() (err error) { n, err = e.counts(queue); return err })
	return n, err
}

// Quiesce waits until nothing is in flight, delayed or about to be moved.
func (e *Ending) Quiesce() {
	until := e.Now() + quiesceTime + e.Patience
	for _, q := range e.Queues {
		for !e.Gone {
			n, err := e.count(q.Name)
			if err != nil || n.InFlight == 0 && n.Delayed == 0 && !n.Moving {
				break
			}
			if e.Now() > until {
				e.Note(
					"settle", q.Name, "", "still %d in flight, %d delayed, moving %t", n.InFlight, n.Delayed, n.Moving,
				)
				break
			}
			e.Sleep(20 * time.Millisecond)
		}
	}
}

// Drain receives and deletes everything, and compares the number with the counters.
func (e *Ending) Drain() {
	for _, q := range e.Queues {
		before, err := e.count(q.Name)
		if err != nil {
			// The queue is gone, or was never created. A receive records that in the history, which decides whether
			// this is permitted.
			_, _ = e.receive(q.Name, Receive{Most: 1})
			continue
		}
		var deadBefore, deadAfter Counts
		if q.Dead != "" {
			deadBefore, _ = e.count(q.Dead)
		}
		found := e.empty(q.Name)
		if q.Dead != "" {
			deadAfter, _ = e.count(q.Dead)
		}
		moved := deadAfter.Total() - deadBefore.Total()
		if !e.doubtful && found+moved != before.Total() || moved < 0 {
			e.Note("counters", q.Name, "", "%d messages were counted, %d were found and %d moved to the dead-letter queue",
				before.Total(), found, moved)
		}
	}
}

// inspect records in the history the state of a resource according to a node.
func (e *Ending) inspect(resource string, find func(Registry) (string, error)) {
	_ = e.Persist(func() error { // the history knows
		c, s := e.begin(history.Inspect, resource)
		state, err := find(s.(Registry))
		c.State = state
		e.end(c, err)
		return err
	})
}

// empty deletes the messages in a queue and returns their number.
func (e *Ending) empty(queue string) (found int) {
	until := e.Now() + e.Patience
	wait := time.Duration(0) // most queues have nothing left, and need not be waited for
	for misses := 0; !e.Gone; {
		var messages []held
		err := e.Persist(func() (err error) {
			messages, err = e.receive(queue, Receive{Most: 10, Timeout: drainTimeout, Wait: wait})
			return err
		})
		if err != nil {
			e.Note("drain", queue, "", "%v", err)
			return found
		}
		found += len(messages)
		if len(messages) > 0 {
			e.remove(queue, messages)
			if e.Gone && e.Patience > 0 {
				e.Gone, e.doubtful = false, true // they come back when their timeout ends
			}
			misses, until = 0, e.Now()+e.Patience
			continue
		}
		wait = e.Wait
		left, err := e.count(queue)
		if err == nil && left.Total() == 0 {
			return found
		}
		if misses++; misses >= fruitless && e.Now() >= until {
			e.Note("counters", queue, "", "nothing more is received, but %+v are counted (%v)", left, err)
			return found
		}
	}
	return found
}
