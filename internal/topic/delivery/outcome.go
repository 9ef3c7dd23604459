package delivery

import (
	"slices"
	"sync"
)

// Outcome is the outcome of an attempt to deliver a message.
type Outcome uint8

const (
	Delivered    Outcome = iota
	Retried              // failed, and will be repeated
	DeadLettered         // it failed for the last time
	Dropped              // failed for the last time, and no dead-letter queue accepts the message
	outcomes
)

func (o Outcome) String() string {
	return [...]string{"delivered", "retried", "dead-lettered", "dropped"}[o]
}

// Count is the number of attempts with an outcome.
type Count struct {
	Protocol string
	Outcome  Outcome
	Number   uint64
}

// counters count attempts by protocol and outcome.
type counters struct {
	mu     sync.Mutex
	counts map[string]*[outcomes]uint64
}

func (c *counters) add(protocol string, o Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = make(map[string]*[outcomes]uint64)
	}
	counts := c.counts[protocol]
	if counts == nil {
		counts = new([outcomes]uint64)
		c.counts[protocol] = counts
	}
	counts[o]++
}

func (c *counters) all() []Count {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Count
	for protocol, counts := range c.counts {
		for o, n := range counts {
			out = append(out, Count{protocol, Outcome(o), n})
		}
	}
	slices.SortFunc(out, func(a, b Count) int {
		if a.Protocol != b.Protocol {
			if a.Protocol < b.Protocol {
				return -1
			}
			return 1
		}
		return int(a.Outcome) - int(b.Outcome)
	})
	return out
}
