package cluster

import (
	"sync"
	"time"
)

// turns decides which nodes get a heartbeat now. The answer to a heartbeat contains the same as a heartbeat. So one
// node of each pair sends, and the other skips its turn, but at most maxSkipped times in a row: a node that only
// answered would neither compare clocks nor learn the end of the control shard's log.
type turns struct {
	node  string        // this one
	every time.Duration // from one turn to the next

	mu       sync.Mutex
	answered map[string]time.Time // when this node last answered a heartbeat of a node
	skipped  map[string]int       // by node: the turns skipped in a row
}

// maxSkipped leaves time for one more heartbeat before the silence of a node whose answers are lost.
const maxSkipped = 2

func newTurns(node string, every time.Duration) *turns {
	return &turns{node: node, every: every, answered: make(map[string]time.Time), skipped: make(map[string]int)}
}

// answer records that this node answers a heartbeat of a node.
func (t *turns) answer(node string, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answered[node] = now
}

// isDue reports whether this node must send to a node in this turn. Of two nodes whose turns come at the same time, one
// skips.
func (t *turns) isDue(node string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	recent := t.every * 3 / 4
	if t.node > node {
		recent = t.every * 5 / 4
	}
	if now.Sub(t.answered[node]) < recent && t.skipped[node] < maxSkipped {
		t.skipped[node]++
		return false
	}
	t.skipped[node] = 0
	return true
}
