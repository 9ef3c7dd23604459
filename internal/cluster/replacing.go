package cluster

import (
	"sync"
	"time"
)

// replacing are the incarnations that may take the place of a node's recorded one. The zero value is ready for use.
//
// Two incarnations of a node that differ do not say which of them is newer. A process that was killed a moment ago
// still counts as alive here, while the one that was started in its place, with an empty disk, may already be
// recorded through another node. The dead process says nothing more, and the living one does: an incarnation takes
// the place of the recorded one only if it is heard of a whole silence after the difference was seen.
type replacing struct {
	mu    sync.Mutex
	since map[incarnation]time.Time // when the difference was seen first
}

// due reports whether an incarnation that was heard of at a time takes the place of the recorded one now.
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

// forgotten is after how many silences a difference counts as a new one.
const forgotten = 10
