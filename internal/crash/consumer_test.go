package crash

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// consumer receives from a queue and does with the messages what consumers do:
// most are deleted, some are given back, some kept for longer, some forgotten.
type consumer struct {
	label   string
	queue   spec
	rng     *rand.Rand
	fails   int  // percent of the messages that are not deleted
	idle    int  // percent of the time spent doing nothing
	patient bool // waits for messages
	old     []held
	tries   int
	attempt string // FIFO: a receive without an answer, to be tried again
}

func (c *consumer) name() string { return c.label }

func (c *consumer) step(r *recorder) {
	if c.rng.IntN(100) < c.idle {
		r.sleep(pause)
		return
	}
	if len(c.old) > 0 && c.rng.IntN(20) == 0 {
		c.late(r)
		return
	}
	messages := c.receive(r)
	if len(messages) == 0 {
		r.sleep(pause)
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
		r.hide(c.queue.name, longer, time.Duration(1+c.rng.IntN(2))*time.Second)
		if c.rng.IntN(2) == 0 {
			done = append(done, longer...)
		}
	}
	if len(done) > 0 && !r.gone {
		r.remove(c.queue.name, done)
	}
	if len(back) > 0 && !r.gone {
		r.hide(c.queue.name, back, 0)
	}
}

func (c *consumer) receive(r *recorder) []held {
	how := receive{most: 1 + c.rng.IntN(10), timeout: visibility}
	if c.patient {
		how.wait = time.Second
	}
	switch n := c.rng.IntN(20); {
	case n == 0:
		how.timeout = 0
	case n < 6:
		how.timeout = 2 * time.Second
	}
	if isFIFO(c.queue.name) && (c.attempt != "" || c.rng.IntN(2) == 0) {
		if c.attempt == "" {
			c.tries++
			c.attempt = fmt.Sprintf("%s-%d", c.label, c.tries)
		}
		how.attempt = c.attempt
	}
	messages, err := r.receive(c.queue.name, how)
	if o, _ := outcomeOf(err); o != unknown {
		c.attempt = ""
	}
	return messages
}

// late uses a receipt handle whose visibility timeout is likely to be over.
func (c *consumer) late(r *recorder) {
	i := c.rng.IntN(len(c.old))
	m := c.old[i]
	c.old = slices.Delete(c.old, i, i+1)
	if c.rng.IntN(2) == 0 {
		r.remove(c.queue.name, []held{m})
		return
	}
	r.hide(c.queue.name, []held{m}, time.Duration(c.rng.IntN(3))*time.Second)
}
