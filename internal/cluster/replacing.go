package cluster

import (
	"sync"
	"time"
)

// replacing holds the incarnations that may take the place of a node's recorded one. The zero value is ready for use.
//
// The difference between two incarnations of a node does not tell which one is newer. A process killed a moment ago
// still counts as alive here, while its replacement with an empty disk may already be recorded through another node.
// Only the live process still sends messages. So an incarnation replaces the recorded one only if it is heard from a
// whole silence after the difference was first seen.
type replacing struct {
	mu    sync.Mutex
	since map[incarnation]time.Time // when the difference was first seen
}

// due reports whether an incarnation that was heard from at a time replaces the recorded one now.
func (r *replacing) due(i incarnation, spoke, now time.Time, silence time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for other, since := range r.since {
		if other.Node == i.Node && other != i || now.Sub(since) > forgotten*silence {
			delete(r.since, other)
		}
	}
	since, seen := r.since[i]
	if !seen {
		if r.since == nil {
			r.since = make(map[incarnation]time.Time)
		}
		r.since[i] = now
		return false
	}
	if spoke.Sub(since) <= silence {
		return false
	}
	delete(r.since, i)
	return true
}

// forgotten is the number of silences after which a difference counts as new.
const forgotten = 10
