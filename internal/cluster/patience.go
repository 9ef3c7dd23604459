package cluster

import (
	"sync"
	"time"
)

// patience says when a shard may be handed over to the node that should own it. That node may hear of all others and
// say that it is well, and still be unable to commit, as one that has lost its way to the log's leader. Then the shard
// comes back after as long as an append may take, and to do that again and again gains nothing. So each hand-over after
// which no other node has owned the shard makes the next one wait longer. The zero value is ready for use.
type patience struct {
	mu   sync.Mutex
	last map[string]attempt // by shard
}

// attempt is the last hand-over of a shard.
type attempt struct {
	epoch uint64 // in which this node owned the shard
	at    time.Time
	wait  time.Duration // from then on, if the shard comes back
}

const (
	// handOverAgain is how long a node waits before it hands over a shard that has come back. It waits twice as long
	// each time, up to handOverLimit.
	handOverAgain = 30 * time.Second
	handOverLimit = 32 * time.Minute
)

// over reports whether a shard that this node owns in an epoch may be handed over now, and notes that it is.
func (p *patience) over(shard string, epoch uint64, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, known := p.last[shard]
	switch {
	case !known || epoch > a.epoch+1: // another node has owned it meanwhile
		a.wait = handOverAgain
	case now.Sub(a.at) < a.wait:
		return false
	default:
		a.wait = min(2*a.wait, handOverLimit)
	}
	a.epoch, a.at = epoch, now
	if p.last == nil {
		p.last = make(map[string]attempt)
	}
	p.last[shard] = a
	return true
}
