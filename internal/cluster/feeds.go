package cluster

import (
	"sync"

	"github.com/sluicemq/sluice/internal/catalog"
)

// feeds is the catalog of queues, and passes its changes on to the shards that this node owns. A feed gets each change
// after subscribe, in order. The zero value is ready for use.
type feeds struct {
	mu     sync.Mutex
	queues *catalog.Catalog // nil until the node serves
	feeds  map[*feed]bool
}

// begin sets the catalog. Call it once.
func (fs *feeds) begin(c *catalog.Catalog) {
	c.OnChange(fs.onQueue)
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.queues = c
}

// catalog returns the catalog, or nil before the node serves.
func (fs *feeds) catalog() *catalog.Catalog {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.queues
}

// subscribe returns a feed of all changes of queues from now on.
func (fs *feeds) subscribe() *feed {
	f := newFeed()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.feeds == nil {
		fs.feeds = make(map[*feed]bool)
	}
	fs.feeds[f] = true
	return f
}

func (fs *feeds) unsubscribe(f *feed) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(fs.feeds, f)
}

// onQueue adds a change of a queue to all feeds.
func (fs *feeds) onQueue(was, is *catalog.Queue) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for f := range fs.feeds {
		f.note(was, is)
	}
}
