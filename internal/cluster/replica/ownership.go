package replica

import (
	"errors"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/store"
)

// ErrDeposed says that this node does not own the shard, or no longer. Whether a
// change that was on its way has been made is then unknown.
var ErrDeposed = store.ErrDeposed

// Ownership is what the owner of a shard in one epoch commits with. Its methods may
// be called from any goroutine.
type Ownership struct {
	epoch   uint64
	replica *Replica

	mu      sync.Mutex
	renewed time.Time // when the lease was asked for last
	until   time.Time // from then on somebody else may be the owner
	err     error     // why it has ended
	ended   chan struct{}
}

func newOwnership(epoch uint64, r *Replica) *Ownership {
	return &Ownership{epoch: epoch, replica: r, ended: make(chan struct{})}
}

// Epoch returns the number of the epoch.
func (o *Ownership) Epoch() uint64 { return o.epoch }

// Ended returns a channel that is closed when the ownership has ended.
func (o *Ownership) Ended() <-chan struct{} { return o.ended }

// extend notes that the lease was renewed.
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

// confirm returns nil if at this time nobody else can be the owner, by the lease:
// who takes it claims the shard. It returns errLapsed if the lease does not say.
//
// The machine may have been asleep without its monotonic clock knowing, so the
// other clock is asked too. That one may have been set; then the lease says nothing
// until it is renewed, which costs a moment.
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
