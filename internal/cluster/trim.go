package cluster

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// trimBound is the maximum size of a log that waits for a live replica. A replica that is further behind has to fetch a
// checkpoint.
const trimBound = 2 << 30

// Logs sets how long the logs of shards keep records that the replicas have flushed. A node that was away longer gets a
// checkpoint.
type Logs struct {
	Flush time.Duration // interval of the flushes of a replica's store; 0 means 30 s
	Trim  time.Duration // interval of the trims of a log; 0 means 5 s
	Least int           // minimum number of records of a trim; 0 means 1000
}

func (l *Logs) defaults() {
	if l.Trim == 0 {
		l.Trim = trimInterval
	}
	if l.Least == 0 {
		l.Least = trimLeast
	}
}

// trimmer trims the logs of the shards that this node owns, by what all nodes say of their replicas.
type trimmer struct {
	*common
	members *membership
	control *controlShardReplica
	locals  *locals
}

// run removes from the logs of this node's shards the records that no replica needs any more.
func (t *trimmer) run() {
	again := time.NewTicker(t.o.Logs.Trim)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-t.ctx.Done():
			return
		}
		if !t.control.store.Elsewhere() {
			t.trimLog(controlShard, t.control.replica, t.records.nodeNames())
		}
		for _, l := range t.locals.all() {
			if l.serving.Load() != nil {
				t.trimLog(l.name, l.replica, t.records.shard(l.name).Replicas)
			}
		}
	}
}

func (t *trimmer) trimLog(name string, r *replica.Replica, replicas []string) {
	live := t.members.view.live()
	var set []replica.Need
	for _, node := range replicas {
		s, ok := live[node].Shards[name]
		set = append(set, replica.Need{Durable: s.Durable, Live: ok && s.Error == ""})
	}
	own := r.Status()
	to := replica.TrimPoint(set, sharedlog.Extent{First: own.First, Last: own.Last, Bytes: own.Bytes}, trimBound)
	if to < own.First+sharedlog.Position(t.o.Logs.Least) {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, t.o.Logs.Trim)
	defer cancel()
	if err := r.Trim(ctx, to); err != nil {
		t.log.Debug("log is not trimmed", "shard", name, "error", err)
	}
}
