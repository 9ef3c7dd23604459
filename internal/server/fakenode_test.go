package server

import (
	"context"
	"fmt"
	"iter"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// fakeNode is a node of a cluster with messages of its own.
type fakeNode struct {
	control *control.Control
	forward func(ctx context.Context, payload []byte) ([]byte, error)
	catchUp func(context.Context) error
	current func() error // nil: it is
	store   *store.Store
	shard   *shard.Shard
}

func joining(n *fakeNode) func(NodeEnv) (Node, error) {
	return func(NodeEnv) (Node, error) { return n, nil }
}

func (n *fakeNode) Control() *control.Control { return n.control }

func (n *fakeNode) Forward(ctx context.Context, payload []byte) ([]byte, error) {
	return n.forward(ctx, payload)
}

func (n *fakeNode) Serve(c *catalog.Catalog) Messages {
	var err error
	if n.store, err = store.OpenMemory(store.Options{}); err != nil {
		panic(err)
	}
	var configs []queue.Config
	for _, q := range c.All() {
		configs = append(configs, q.Config())
	}
	n.shard, err = shard.Open(shard.Options{Store: n.store, Configs: func() []queue.Config { return configs }})
	if err != nil {
		panic(err)
	}
	c.OnChange(func(old, new *catalog.Queue) {
		if new == nil {
			_ = n.shard.Drop(context.Background(), old.ID)
		} else {
			_ = n.shard.Configure(context.Background(), new.Config())
		}
	})
	return n.shard
}

func (n *fakeNode) Close(context.Context) error {
	if n.shard == nil {
		return nil
	}
	n.shard.Close()
	n.shard = nil
	return n.store.Close()
}

func (n *fakeNode) CatchUp(ctx context.Context) error             { return n.catchUp(ctx) }
func (n *fakeNode) Place(q, old *catalog.Queue)                   {}
func (n *fakeNode) Reclaim() error                                { return nil }
func (n *fakeNode) Low() bool                                     { return false }
func (n *fakeNode) Failed() <-chan struct{}                       { return nil }
func (n *fakeNode) Err() error                                    { return nil }
func (n *fakeNode) Snapshot(context.Context, string) (int, error) { return 1, nil }
func (n *fakeNode) Queues(string, string) []status.Queue          { return nil }
func (n *fakeNode) Status() status.Status                         { return status.Status{} }

// Current is that of Node.
func (n *fakeNode) Current() error {
	if n.current == nil {
		return nil
	}
	return n.current()
}

func (n *fakeNode) Drain(name string, drain bool) error { return n.note("drain/"+name, drain) }
func (n *fakeNode) Remove(name string) error            { return n.note("remove/"+name, true) }

// note changes the control store.
func (n *fakeNode) note(key string, on bool) error {
	return n.control.Change(func(tx *control.Tx) error {
		tx.Put("test/"+key, fmt.Appendf(nil, "%t", on))
		return nil
	})
}

// deaf reads the control store and keeps nothing.
type deaf struct{}

func (deaf) Load(iter.Seq2[string, []byte]) error { return nil }
func (deaf) Apply([]control.Change) error         { return nil }
