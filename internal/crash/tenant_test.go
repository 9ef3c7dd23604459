package crash

import (
	"fmt"
	"math/rand/v2"
)

// tenant makes queues, uses each for a while, purges it in the middle, and
// deletes some of them in the end.
type tenant struct {
	label string
	rng   *rand.Rand
	made  []spec // the last is the one in use
	gone  []spec
	stage int
	send  *producer
	take  *consumer
}

// The stages of a queue's life. In those between, it is used.
const (
	stageNone  = 0
	stagePurge = 15
	stageEnd   = 30
)

func (t *tenant) name() string { return t.label }

func (t *tenant) step(r *recorder) {
	switch t.stage {
	case stageNone:
		t.create(r)
	case stagePurge:
		// A purge forgets deduplication ids: nothing is sent again after it.
		t.send.doubt, t.send.settled = nil, nil
		if o, _ := outcomeOf(r.purge(t.send.queue.name)); o != unknown {
			t.stage++
		}
	case stageEnd:
		t.end(r)
	default:
		t.stage++
		if len(t.gone) > 0 && t.rng.IntN(5) == 0 {
			_, _ = r.receive(t.gone[t.rng.IntN(len(t.gone))].name, receive{most: 10}) // to be refused
			return
		}
		if t.rng.IntN(2) == 0 {
			t.send.step(r)
		} else {
			t.take.step(r)
		}
	}
}

// create makes the next queue. If it is in doubt whether the queue was made, the
// same is asked for again.
func (t *tenant) create(r *recorder) {
	if t.send == nil {
		q := spec{name: fmt.Sprintf("scratch-%d", len(t.made)+len(t.gone))}
		if t.rng.IntN(2) == 0 {
			q.name += ".fifo"
		}
		t.made = append(t.made, q)
		t.send = &producer{label: t.label, queue: q, rng: t.rng}
		t.take = &consumer{label: t.label, queue: q, rng: t.rng, fails: 50}
	}
	if r.create(t.send.queue) == nil {
		t.stage++
	}
}

// end deletes the queue, or leaves one in three, and goes on to the next.
func (t *tenant) end(r *recorder) {
	q := t.send.queue
	if (len(t.made)+len(t.gone))%3 > 0 {
		if o, _ := outcomeOf(r.drop(q.name)); o == unknown {
			return
		}
		t.made = t.made[:len(t.made)-1]
		t.gone = append(t.gone, q)
	}
	t.send, t.take, t.stage = nil, nil, stageNone
}
