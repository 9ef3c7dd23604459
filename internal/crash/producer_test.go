package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

const (
	// backlogMost keeps producers from running away from consumers.
	backlogMost = 300
	// pause is how long a worker waits that has nothing to do.
	pause = 5 * time.Millisecond
	// repeatWithin is the age up to which a message is sent again: well within
	// the deduplication interval of five minutes.
	repeatWithin = 4 * time.Minute
	groups       = 20
)

// worker is one client of the service. Its state outlives the service's death.
type worker interface {
	name() string
	// step makes a few calls at the most. It ends early if r is gone.
	step(r *recorder)
}

// producer sends to a queue.
type producer struct {
	label   string
	queue   spec
	rng     *rand.Rand
	number  int
	doubt   []letter // FIFO: sent without an answer, to be sent again
	settled []letter // FIFO: some that were accepted, to be sent again all the same
}

func (p *producer) name() string { return p.label }

// sentTo returns the queue that the message of that name was sent to.
func sentTo(name string) string {
	queue, _, _ := strings.Cut(name, "/")
	return queue
}

func (p *producer) letter(now time.Duration) letter {
	p.number++
	l := letter{name: fmt.Sprintf("%s/%s/%d", p.queue.name, p.label, p.number), first: now}
	switch {
	case isFIFO(p.queue.name):
		l.group = fmt.Sprintf("g%d", p.rng.IntN(groups))
	case p.rng.IntN(5) == 0:
		l.delay = time.Second
	case p.rng.IntN(5) == 0:
		l.group = fmt.Sprintf("g%d", p.rng.IntN(groups)) // a tenant of a fair queue
	}
	return l
}

func (p *producer) step(r *recorder) {
	if r.waiting(p.queue.name) > backlogMost {
		r.sleep(pause)
		return
	}
	var letters []letter
	for range 1 + p.rng.IntN(10)*p.rng.IntN(2) {
		letters = append(letters, p.next(r.now()))
	}
	for i, o := range r.send(p.queue.name, letters) {
		p.sent(letters[i], o)
	}
}

// next is a new letter or one that was sent before.
func (p *producer) next(now time.Duration) letter {
	take := func(list *[]letter) (letter, bool) {
		for len(*list) > 0 {
			i := p.rng.IntN(len(*list))
			l := (*list)[i]
			*list = slices.Delete(*list, i, i+1)
			if now-l.first < repeatWithin {
				return l, true
			}
		}
		return letter{}, false
	}
	if p.rng.IntN(2) == 0 {
		if l, ok := take(&p.doubt); ok {
			return l
		}
	}
	if p.rng.IntN(10) == 0 {
		if l, ok := take(&p.settled); ok {
			return l
		}
	}
	return p.letter(now)
}

func (p *producer) sent(l letter, o outcome) {
	switch {
	case !isFIFO(p.queue.name):
	case o == unknown:
		p.doubt = append(p.doubt, l)
	case o == acknowledged && len(p.settled) < 100:
		p.settled = append(p.settled, l)
	}
}
