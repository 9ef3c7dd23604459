package server

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// fakeNode is a node of a cluster with its own messages, which it stores as a single machine does.
type fakeNode struct {
	*alone  // nil until it serves
	control *control.Control
	forward func(ctx context.Context, payload []byte) ([]byte, error)
	catchUp func(context.Context) error
	current func() error  // nil: it is
	shift   time.Duration // of its clock
}

func joining(n *fakeNode) func(NodeEnv) (Node, error) {
	return func(NodeEnv) (Node, error) { return n, nil }
}

func (n *fakeNode) Control() *control.Control { return n.control }

func (n *fakeNode) Forward(ctx context.Context, payload []byte) ([]byte, error) {
	return n.forward(ctx, payload)
}

func (n *fakeNode) Serve(c *catalog.Catalog, deliver func(context.Context, *shard.Shard)) (Messages, error) {
	log := slog.New(slog.DiscardHandler)
	messages, err := store.OpenMemory(store.Options{})
	if err != nil {
		return nil, err
	}
	n.alone = &alone{
		disk: store.NewMemoryDisk(log), log: log, control: n.control, messages: messages,
		require: func(int) error { return nil }, cipher: func() queue.Cipher { return nil },
	}
	return n.alone.Serve(c, deliver)
}

func (n *fakeNode) Close(ctx context.Context) error {
	if n.alone == nil {
		return nil
	}
	served := n.alone
	n.alone = nil
	return served.Close(ctx)
}

// Ask implements Node: the only other node does not answer.
func (n *fakeNode) Ask(context.Context, []byte) (answers [][]byte, silent []string) {
	return nil, []string{"other"}
}

func (n *fakeNode) CatchUp(ctx context.Context) error { return n.catchUp(ctx) }

func (n *fakeNode) Current() error {
	if n.current == nil {
		return nil
	}
	return n.current()
}

func (n *fakeNode) Queues(string, string) []status.Queue { return nil }
func (n *fakeNode) Status() status.Status                { return status.Status{Cluster: "test", Node: "a"} }
func (n *fakeNode) CatchUpPause() time.Duration          { return 100 * time.Millisecond }
func (n *fakeNode) ClockShift() time.Duration            { return n.shift }
func (n *fakeNode) SharesKeys() bool                     { return true }
func (n *fakeNode) Drain(ctx context.Context, name string, drain bool) error {
	return n.note(ctx, "drain/"+name, drain)
}
func (n *fakeNode) Remove(ctx context.Context, name string) error {
	return n.note(ctx, "remove/"+name, true)
}

// note changes the control store.
func (n *fakeNode) note(ctx context.Context, key string, on bool) error {
	return n.control.Change(ctx, func(tx *control.Tx) error {
		tx.Put("test/"+key, fmt.Appendf(nil, "%t", on))
		return nil
	})
}

// nopReader reads the control store and keeps nothing.
type nopReader struct{}

func (nopReader) Load(iter.Seq2[string, []byte]) error { return nil }
func (nopReader) Apply([]control.Change) error         { return nil }
