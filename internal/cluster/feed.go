package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
)

// subscribe returns a feed of the changes of queues from now on.
func (h *host) subscribe() *feed {
	f := newFeed()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.feeds[f] = true
	return f
}

func (h *host) unsubscribe(f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.feeds, f)
}

// onQueue is called for each change of a queue.
func (h *host) onQueue(was, is *catalog.Queue) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.feeds {
		f.note(was, is)
	}
}

// feed brings the changes of queues to a shard, in their order.
type feed struct {
	mu      sync.Mutex
	waiting []change
	noted   uint64 // changes that have come
	told    uint64 // changes that the shard knows of
	more    chan struct{}
	known   chan struct{} // closed when the shard has learnt of something
	over    chan struct{} // closed when it learns no more
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

// run tells the shard until ctx ends. To be called once.
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
				select { // the shard is about to be served by another node, or will be back here
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

// wait waits until the shard knows all that has come before the call.
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
