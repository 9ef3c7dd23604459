package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// tenant creates queues, uses each for a while, purges it in the middle, and deletes some of them in the end. It undoes
// some purges and deletions.
type tenant struct {
	label  string
	prefix string // of the names of its queues
	rng    *rand.Rand
	undoes bool
	made   []history.Queue // the last is the one in use, unless that was deleted
	gone   []history.Queue // the last is the one in use then
	stage  int
	send   *producer
	take   *consumer

	undoAt int      // the stage in which the purge is undone; 0: it is not
	before []Letter // producer.accepted before the purge
	loose  bool     // an undo of a deletion had no answer and may still come: the queue is not deleted again
}

// The stages of a queue's life. In those between, it is used.
const (
	stageNone  = 0
	stagePurge = 15
	stageBack  = 22 // where it continues after its deletion was undone
	stageEnd   = 30
	stageGone  = 31
)

func (t *tenant) Name() string { return t.label }

func (t *tenant) Step(r *Recorder) {
	switch t.stage {
	case stageNone:
		t.create(r)
	case stagePurge:
		t.purge(r)
	case t.undoAt:
		t.undoPurge(r)
	case stageEnd:
		t.end(r)
	case stageGone:
		t.undoDelete(r)
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

// create makes the next queue. If it is unknown whether the queue was created, the call is repeated.
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

// purge purges the queue. That forgets deduplication ids: nothing is sent again after it, unless it is undone.
func (t *tenant) purge(r *Recorder) {
	if t.before == nil {
		t.before = t.send.accepted
	}
	t.send.doubt, t.send.accepted = nil, nil
	if o, _ := history.OutcomeOf(r.purge(t.send.queue.Name)); o == history.Unknown {
		return
	}
	t.stage++
	if t.undoes && t.rng.IntN(2) == 0 {
		t.undoAt = t.stage + t.rng.IntN(5)
	}
}

// undoPurge restores the purged messages, and the deduplication ids.
func (t *tenant) undoPurge(r *Recorder) {
	switch o, _ := history.OutcomeOf(r.undoPurge(t.send.queue.Name)); o {
	case history.Unknown:
		return
	case history.Acknowledged:
		t.send.accepted = append(t.send.accepted, t.before...)
	}
	t.undoAt = 0
}

// end deletes the queue, or leaves one in three, and continues with the next.
func (t *tenant) end(r *Recorder) {
	q := t.send.queue
	if !t.loose && (len(t.made)+len(t.gone))%3 > 0 {
		if o, _ := history.OutcomeOf(r.drop(q.Name)); o == history.Unknown {
			return
		}
		t.made = t.made[:len(t.made)-1]
		t.gone = append(t.gone, q)
		if t.undoes && t.rng.IntN(2) == 0 {
			t.stage = stageGone
			return
		}
	}
	t.next()
}

func (t *tenant) next() {
	t.send, t.take, t.stage, t.undoAt, t.before, t.loose = nil, nil, stageNone, 0, nil, false
}

// undoDelete restores the queue, and continues with it. Without an answer, the queue may be restored later: it then
// counts among those that exist at the end.
func (t *tenant) undoDelete(r *Recorder) {
	q := t.send.queue
	o, _ := history.OutcomeOf(r.undoDelete(q.Name, ""))
	t.loose = t.loose || o == history.Unknown
	if o == history.Acknowledged || t.loose {
		t.gone = slices.DeleteFunc(t.gone, func(g history.Queue) bool { return g.Name == q.Name })
		if !slices.Contains(t.made, q) {
			t.made = append(t.made, q)
		}
	}
	switch o {
	case history.Acknowledged:
		t.stage = stageBack
	case history.Refused:
		t.next()
	}
}
