package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
)

// feed delivers the changes of queues to a shard, in order.
type feed struct {
	mu      sync.Mutex
	waiting []change
	noted   uint64 // changes received
	told    uint64 // changes that the shard knows
	more    chan struct{}
	known   chan struct{} // closed when the shard has learnt of a change
	over    chan struct{} // closed when the feed ends
}

type change struct{ was, is *catalog.Queue }

func newFeed() *feed {
	return &feed{more: make(chan struct{}, 1), known: make(chan struct{}), over: make(chan struct{})}
}

func (f *feed) note(was, is *catalog.Queue) {
	f.mu.Lock()
	f.waiting = append(f.waiting, change{was, is})
	f.noted++
	f.mu.Unlock()
	select {
	case f.more <- struct{}{}:
	default:
	}
}

// run delivers changes to the shard until ctx ends. Call it once.
func (f *feed) run(ctx context.Context, tell func(was, is *catalog.Queue) error) {
	defer close(f.over)
	for {
		select {
		case <-f.more:
		case <-ctx.Done():
			return
		}
		for {
			f.mu.Lock()
			if len(f.waiting) == 0 {
				f.mu.Unlock()
				break
			}
			c := f.waiting[0]
			f.mu.Unlock()
			if err := tell(c.was, c.is); err != nil {
				select { // another node will serve the shard, or this one again
				case <-time.After(feedAgain):
					continue
				case <-ctx.Done():
					return
				}
			}
			f.mu.Lock()
			f.waiting = f.waiting[1:]
			f.told++
			close(f.known)
			f.known = make(chan struct{})
			f.mu.Unlock()
		}
	}
}

var errFeedOver = errors.New("it is not served here any more")

// wait waits until the shard knows every change that came before the call.
func (f *feed) wait(ctx context.Context) error {
	f.mu.Lock()
	want := f.noted
	for f.told < want {
		known := f.known
		f.mu.Unlock()
		select {
		case <-known:
		case <-f.over:
			return errFeedOver
		case <-ctx.Done():
			return ctx.Err()
		}
		f.mu.Lock()
	}
	f.mu.Unlock()
	return nil
}
