package tenant

import (
	"sync"
	"time"
)

// crowd counts the simultaneous requests of a subject, on this node and, as reported, on the others.
type crowd struct {
	mu     sync.Mutex
	here   int64
	others map[string]toldCrowd
}

type toldCrowd struct {
	n  int64
	at time.Time
}

func newCrowd() *crowd { return &crowd{others: make(map[string]toldCrowd)} }

// enter adds a request, unless the limit is reached.
func (c *crowd) enter(most int64, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sum(now) >= most {
		return false
	}
	c.here++
	return true
}

func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.here--
}

func (c *crowd) sum(now time.Time) int64 {
	n := c.here
	for _, o := range c.others {
		if now.Sub(o.at) < forgetAfter {
			n += o.n
		}
	}
	return n
}

func (c *crowd) count(now time.Time) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum(now)
}

func (c *crowd) hear(node string, n int64, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.others[node] = toldCrowd{n, now}
}

func (c *crowd) say() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.here
}
