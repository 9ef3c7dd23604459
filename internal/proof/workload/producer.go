package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

const (
	// backlogMost keeps producers from getting too far ahead of consumers.
	backlogMost = 300
	// pause is how long an idle worker waits.
	pause = 5 * time.Millisecond
	// repeatWithin is the age up to which a message is sent again: well within
	// the deduplication interval of five minutes.
	repeatWithin = 4 * time.Minute
	groups       = 20
	manyGroups   = 500
)

// Worker is one client of the service. Its state outlives the service's death.
type Worker interface {
	Name() string
	// Step makes at most a few calls. It ends early if r is gone.
	Step(r *Recorder)
}

// OnlySends reports whether a worker only sends.
func OnlySends(w Worker) bool {
	_, ok := w.(*producer)
	return ok
}

// producer sends to a queue, or publishes to a topic.
type producer struct {
	label    string
	queue    history.Queue // or the name of a topic
	topic    bool
	rng      *rand.Rand
	number   int
	doubt    []Letter // FIFO: sent without an answer, to be sent again
	accepted []Letter // FIFO: some accepted messages, to be sent again
}

func (p *producer) Name() string { return p.label }

// groups returns how many message groups the queue has. Where each has an order of
// its own there are many, most of them short.
func (p *producer) groups() int {
	if p.queue.Scoped {
		return manyGroups
	}
	return groups
}

func (p *producer) letter(now time.Duration) Letter {
	p.number++
	l := Letter{Name: fmt.Sprintf("%s/%s/%d", p.queue.Name, p.label, p.number), first: now}
	switch {
	case history.IsFIFO(p.queue.Name):
		l.Group = fmt.Sprintf("g%d", p.rng.IntN(p.groups()))
	case p.topic:
	case p.rng.IntN(5) == 0:
		l.Delay = time.Second
	case p.rng.IntN(5) == 0:
		l.Group = fmt.Sprintf("g%d", p.rng.IntN(groups)) // a tenant of a fair queue
	}
	return l
}

func (p *producer) Step(r *Recorder) {
	if r.waiting(p.queue.Name) > backlogMost {
		r.Sleep(pause)
		return
	}
	if p.topic && p.rng.IntN(40) == 0 { // its copies are more than one commit holds
		l := p.letter(r.Now())
		l.Name += longMark
		r.publish(p.queue.Name, []Letter{l}) // and not again, in a batch that would be too long
		return
	}
	var letters []Letter
	for range 1 + p.rng.IntN(10)*p.rng.IntN(2) {
		letters = append(letters, p.next(r.Now()))
	}
	send := r.Send
	if p.topic {
		send = r.publish
	}
	for i, o := range send(p.queue.Name, letters) {
		p.sent(letters[i], o)
	}
}

// next is a new letter or one that was sent before.
func (p *producer) next(now time.Duration) Letter {
	take := func(list *[]Letter) (Letter, bool) {
		for len(*list) > 0 {
			i := p.rng.IntN(len(*list))
			l := (*list)[i]
			*list = slices.Delete(*list, i, i+1)
			if now-l.first < repeatWithin {
				return l, true
			}
		}
		return Letter{}, false
	}
	if p.rng.IntN(2) == 0 {
		if l, ok := take(&p.doubt); ok {
			return l
		}
	}
	if p.rng.IntN(10) == 0 {
		if l, ok := take(&p.accepted); ok {
			return l
		}
	}
	return p.letter(now)
}

func (p *producer) sent(l Letter, o history.Outcome) {
	switch {
	case !history.IsFIFO(p.queue.Name):
	case o == history.Unknown:
		p.doubt = append(p.doubt, l)
	case o == history.Acknowledged && len(p.accepted) < 100:
		p.accepted = append(p.accepted, l)
	}
}
