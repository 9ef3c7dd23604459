package workload

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// tenant makes queues, uses each for a while, purges it in the middle, and
// deletes some of them in the end.
type tenant struct {
	label  string
	prefix string // of the names of its queues
	rng    *rand.Rand
	made   []history.Queue // the last is the one in use
	gone   []history.Queue
	stage  int
	send   *producer
	take   *consumer
}

// The stages of a queue's life. In those between, it is used.
const (
	stageNone  = 0
	stagePurge = 15
	stageEnd   = 30
)

func (t *tenant) Name() string { return t.label }

func (t *tenant) Step(r *Recorder) {
	switch t.stage {
	case stageNone:
		t.create(r)
	case stagePurge:
		// A purge forgets deduplication ids: nothing is sent again after it.
		t.send.doubt, t.send.accepted = nil, nil
		if o, _ := history.OutcomeOf(r.purge(t.send.queue.Name)); o != history.Unknown {
			t.stage++
		}
	case stageEnd:
		t.end(r)
	default:
		t.stage++
		if len(t.gone) > 0 && t.rng.IntN(5) == 0 {
			_, _ = r.receive(t.gone[t.rng.IntN(len(t.gone))].Name, Receive{Most: 10}) // to be refused
			return
		}
		if t.rng.IntN(2) == 0 {
			t.send.Step(r)
		} else {
			t.take.Step(r)
		}
	}
}

// create makes the next queue. If it is in doubt whether the queue was made, the
// same is asked for again.
func (t *tenant) create(r *Recorder) {
	if t.send == nil {
		q := history.Queue{Name: fmt.Sprintf("%sscratch-%d", t.prefix, len(t.made)+len(t.gone))}
		if t.rng.IntN(2) == 0 {
			q.Name += ".fifo"
		}
		t.made = append(t.made, q)
		t.send = &producer{label: t.label, queue: q, rng: t.rng}
		t.take = &consumer{label: t.label, queue: q, rng: t.rng, fails: 50, longest: 2 * time.Second}
	}
	if r.Create(t.send.queue) == nil {
		t.stage++
	}
}

// end deletes the queue, or leaves one in three, and goes on to the next.
func (t *tenant) end(r *Recorder) {
	q := t.send.queue
	if (len(t.made)+len(t.gone))%3 > 0 {
		if o, _ := history.OutcomeOf(r.drop(q.Name)); o == history.Unknown {
			return
		}
		t.made = t.made[:len(t.made)-1]
		t.gone = append(t.gone, q)
	}
	t.send, t.take, t.stage = nil, nil, stageNone
}
