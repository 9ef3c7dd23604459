package replica

import (
	"errors"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/store"
)

// ErrDeposed reports that this node does not own the shard, or no longer does. It is then unknown whether a change in
// progress was made.
var ErrDeposed = store.ErrDeposed

// Ownership lets the owner of a shard commit, in one epoch. Its methods are safe for concurrent use.
type Ownership struct {
	epoch   uint64
	replica *Replica

	mu      sync.Mutex
	renewed time.Time // request time of the last granted lease or renewal
	until   time.Time // from then on, another node may be the owner
	err     error     // the reason for its end
	ended   chan struct{}
}

func newOwnership(epoch uint64, r *Replica) *Ownership {
	return &Ownership{epoch: epoch, replica: r, ended: make(chan struct{})}
}

// Epoch returns the number of the epoch.
func (o *Ownership) Epoch() uint64 { return o.epoch }

// Ended returns a channel that is closed when the ownership has ended.
func (o *Ownership) Ended() <-chan struct{} { return o.ended }

// extend records until when the lease excludes other nodes.
func (o *Ownership) extend(renewed, until time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewed, o.until = renewed, until
}

func (o *Ownership) end(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
		close(o.ended)
	}
}

// confirm returns nil if the lease proves that no other node can be the owner now: a node takes the lease before it
// claims the shard. It returns errLapsed if the lease is too old.
//
// The computer may have been suspended, in which the monotonic clock does not advance, so confirm also compares the
// wall clock. If that one was set, confirm returns errLapsed until the next renewal, which costs one record in the log.
func (o *Ownership) confirm(now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.err
	}
	passed := max(now.Sub(o.renewed), now.Round(0).Sub(o.renewed.Round(0)))
	if passed >= o.until.Sub(o.renewed) {
		return errLapsed
	}
	return nil
}

var errLapsed = errors.New("its lease has run out")
