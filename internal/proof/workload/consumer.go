package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// consumer receives from a queue and handles the messages as consumers do: it deletes most, returns some, keeps some
// for longer, and forgets some.
type consumer struct {
	label   string
	queue   history.Queue
	rng     *rand.Rand
	fails   int  // percent of the messages that are not deleted
	idle    int  // percent of the time spent doing nothing
	patient bool // waits for messages
	longest time.Duration
	old     []held
	tries   int
	attempt string // FIFO: a receive without an answer, to be tried again
}

func (c *consumer) Name() string { return c.label }

func (c *consumer) Step(r *Recorder) {
	if c.rng.IntN(100) < c.idle {
		r.Sleep(pause)
		return
	}
	if len(c.old) > 0 && c.rng.IntN(20) == 0 {
		c.late(r)
		return
	}
	messages := c.receive(r)
	if len(messages) == 0 {
		r.Sleep(pause)
		return
	}
	var done, back, longer []held
	for _, m := range messages {
		switch n := c.rng.IntN(100); {
		case n >= c.fails:
			done = append(done, m)
		case n < c.fails/3:
			back = append(back, m)
		case n < c.fails/2:
			longer = append(longer, m)
		case len(c.old) < 50:
			c.old = append(c.old, m)
		}
	}
	if len(longer) > 0 {
		r.hide(c.queue.Name, longer, time.Duration(1+c.rng.IntN(seconds(c.longest)))*time.Second)
		if c.rng.IntN(2) == 0 {
			done = append(done, longer...)
		}
	}
	if len(done) > 0 && !r.Gone {
		r.remove(c.queue.Name, done)
	}
	if len(back) > 0 && !r.Gone {
		r.hide(c.queue.Name, back, 0)
	}
}

func (c *consumer) receive(r *Recorder) []held {
	how := Receive{Most: 1 + c.rng.IntN(10), Timeout: Visibility}
	if c.patient {
		how.Wait = time.Second
	}
	switch n := c.rng.IntN(20); {
	case n == 0:
		how.Timeout = 0
	case n < 6:
		how.Timeout = c.longest
	}
	if history.IsFIFO(c.queue.Name) && (c.attempt != "" || c.rng.IntN(2) == 0) {
		if c.attempt == "" {
			c.tries++
			c.attempt = fmt.Sprintf("%s-%d", c.label, c.tries)
		}
		how.Attempt = c.attempt
	}
	messages, err := r.receive(c.queue.Name, how)
	if o, _ := history.OutcomeOf(err); o != history.Unknown {
		c.attempt = ""
	}
	return messages
}

// late uses a receipt handle whose visibility timeout is likely to be over.
func (c *consumer) late(r *Recorder) {
	i := c.rng.IntN(len(c.old))
	m := c.old[i]
	c.old = slices.Delete(c.old, i, i+1)
	if c.rng.IntN(2) == 0 {
		r.remove(c.queue.Name, []held{m})
		return
	}
	r.hide(c.queue.Name, []held{m}, time.Duration(c.rng.IntN(3))*time.Second)
}
