package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// leads keeps the lead of each log on the node that owns its shard, and moves it in a hand-over. No guarantee depends
// on where a lead is, so a move that fails is only logged.
type leads struct {
	*common
	members    *membership
	successors sync.Map // the next owners of the shards in a hand-over, by shard name
}

// keep keeps the lead of a log on this node until ctx ends.
func (l *leads) keep(ctx context.Context, log sharedlog.Log) {
	again := time.NewTicker(leadInterval)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
		once, cancel := context.WithTimeout(ctx, leadInterval/2)
		if err := l.engine.Lead(once, log, l.id.server()); err != nil && ctx.Err() == nil {
			l.log.Debug("log is led from another node", "error", err)
		}
		cancel()
	}
}

// move moves the lead of a log to a server, if that succeeds soon.
func (l *leads) move(ctx context.Context, name string, log sharedlog.Log, server string) {
	ctx, cancel := context.WithTimeout(ctx, leadTimeout)
	defer cancel()
	if err := l.engine.Lead(ctx, log, server); err != nil {
		l.log.Debug("log is led from another node", "shard", name, "error", err)
	}
}

// expect names the next owner of a shard in a hand-over, until over is called. It is "" if there is none.
func (l *leads) expect(name, successor string) (over func()) {
	l.successors.Store(name, successor)
	return func() { l.successors.Delete(name) }
}

// toSuccessor moves the lead of a shard's log to the node that will own the shard, during a hand-over. It runs after
// this node has stopped serving the shard and before another node may begin: an append in progress while the lead moves
// may lose its answer, and its caller would wait for seconds.
func (l *leads) toSuccessor(name string, log sharedlog.Log) {
	to, _ := l.successors.Load(name)
	if b, ok := l.members.view.live()[fmt.Sprint(to)]; ok {
		l.move(l.ctx, name, log, incarnation{Node: b.Node, ID: b.Incarnation}.server())
	}
}
