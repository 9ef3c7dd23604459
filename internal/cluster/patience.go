package cluster

import (
	"sync"
	"time"
)

// patience says when a shard may be handed over to the node that should own it. That node may hear of all others, say
// that it is well, and still be unable to commit, as one that has lost its way to the log's leader. Then the shard goes
// to some other node after as long as an append may take, and to repeat that gains nothing. So each time that the shard
// misses the node that should own it, the next hand-over waits longer.
//
// Every node counts all misses, not only those of its own hand-overs. Otherwise two nodes that own the shard in turn
// would both believe that they hand it over for the first time.
//
// The zero value is ready for use.
type patience struct {
	mu     sync.Mutex
	astray map[string]astray // by shard
}

// astray is a shard that another node owns than should.
type astray struct {
	to    string // should own it
	epoch uint64 // the newest that was seen
	at    time.Time
	wait  time.Duration // from at to the next hand-over
}

const (
	// handOverAgain is how long a node waits before it hands over a shard once more. It waits twice as long each time
	// that the shard misses the node that should own it, up to handOverLimit.
	handOverAgain = 30 * time.Second
	handOverLimit = 32 * time.Minute
)

// seen notes who owns a shard, in which epoch. to is the node that should own it, and able whether it could.
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
		a = astray{to: to} // it has not missed that node yet
	case epoch > a.epoch && able:
		a.at, a.wait = now, min(max(2*a.wait, handOverAgain), handOverLimit)
	}
	a.epoch = max(a.epoch, epoch)
	p.note(shard, a)
}

// over reports whether a shard that this node owns may be handed over now, and notes that it is.
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

// note keeps what is known of a shard. The caller holds p.mu.
func (p *patience) note(shard string, a astray) {
	if p.astray == nil {
		p.astray = make(map[string]astray)
	}
	p.astray[shard] = a
}
