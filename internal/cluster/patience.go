package cluster

import (
	"sync"
	"time"
)

// patience decides when to hand a shard over to the node that should own it. That node may hear all others, report that
// it is well, and still be unable to commit, for example because it cannot reach the log's leader. The shard then ends
// up at another node, after the longest time that an append may take, and another attempt would end in the same way. So
// each time the shard misses the node that should own it, the next hand-over waits longer.
//
// Every node counts all misses, not only those of its own hand-overs. Otherwise two nodes that own the shard in turn
// would both count each hand-over as their first.
//
// The zero value is ready for use.
type patience struct {
	mu     sync.Mutex
	astray map[string]astray // by shard
}

// astray describes a shard whose owner is not the node that should own it.
type astray struct {
	to    string // the node that should own it
	epoch uint64 // the newest that was seen
	at    time.Time
	wait  time.Duration // from at to the next hand-over
}

const (
	// handOverAgain is the time before the first repetition of a hand-over. It doubles each time the shard misses the
	// node that should own it, up to handOverLimit.
	handOverAgain = 30 * time.Second
	handOverLimit = 32 * time.Minute
)

// seen records the owner of a shard and its epoch. to is the node that should own it; able reports whether it could.
func (p *patience) seen(shard, owner string, epoch uint64, to string, able bool, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if owner == to {
		delete(p.astray, shard)
		return
	}
	a := p.astray[shard]
	switch {
	case a.to != to:
		a = astray{to: to} // no miss so far
	case epoch > a.epoch && able:
		a.at, a.wait = now, min(max(2*a.wait, handOverAgain), handOverLimit)
	}
	a.epoch = max(a.epoch, epoch)
	p.note(shard, a)
}

// over reports whether a shard that this node owns may be handed over now. If so, it records the hand-over.
func (p *patience) over(shard string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.astray[shard]
	if now.Sub(a.at) < a.wait {
		return false
	}
	a.at, a.wait = now, max(a.wait, handOverAgain)
	p.note(shard, a)
	return true
}

// note stores the state of a shard. The caller holds p.mu.
func (p *patience) note(shard string, a astray) {
	if p.astray == nil {
		p.astray = make(map[string]astray)
	}
	p.astray[shard] = a
}
