package cluster

import (
	"context"
	"sync"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
)

// rebindMux is a messenger whose handlers can be replaced. A replica may be closed and another of the same shard opened
// later, but a messenger accepts only one handler of a kind.
type rebindMux struct {
	messenger.Messenger

	mu       sync.Mutex
	handlers map[string]messenger.Handler
}

// Handle implements messenger.Messenger. Unlike there, it may be called again for a kind.
func (d *rebindMux) Handle(kind string, f messenger.Handler) {
	d.mu.Lock()
	_, known := d.handlers[kind]
	d.handlers[kind] = f
	d.mu.Unlock()
	if known {
		return
	}
	d.Messenger.Handle(kind, func(ctx context.Context, payload []byte) ([]byte, error) {
		d.mu.Lock()
		f := d.handlers[kind]
		d.mu.Unlock()
		return f(ctx, payload)
	})
}
