package cluster

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// trimBound is how large a log may get because a live replica is behind; after that it has to fetch a checkpoint.
const trimBound = 2 << 30

// Logs says how long the logs of shards hold what the replicas have flushed. A node that was away for longer gets a
// checkpoint.
type Logs struct {
	Flush time.Duration // from one flush of a replica's store to the next; 0 means 30 s
	Trim  time.Duration // from one trim of a log to the next; 0 means 5 s
	Least int           // records that are worth a trim; 0 means 1000
}

func (l *Logs) defaults() {
	if l.Trim == 0 {
		l.Trim = trimInterval
	}
	if l.Least == 0 {
		l.Least = trimLeast
	}
}

// trim forgets what the logs of the shards that this node owns hold and no replica needs
// any more.
func (h *host) trim() {
	again := time.NewTicker(h.o.Logs.Trim)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-h.ctx.Done():
			return
		}
		if !h.control.store.Elsewhere() {
			h.trimLog(controlShard, h.control.replica, h.records.nodeNames())
		}
		for _, l := range h.allLocals() {
			if l.serving.Load() != nil {
				h.trimLog(l.name, l.replica, h.records.shard(l.name).Replicas)
			}
		}
	}
}

func (h *host) trimLog(name string, r *replica.Replica, replicas []string) {
	live := h.members.view.live()
	var set []replica.Need
	for _, node := range replicas {
		s, ok := live[node].Shards[name]
		set = append(set, replica.Need{Durable: s.Durable, Live: ok && s.Error == ""})
	}
	own := r.Status()
	to := replica.TrimPoint(set, sharedlog.Extent{First: own.First, Last: own.Last, Bytes: own.Bytes}, trimBound)
	if to < own.First+sharedlog.Position(h.o.Logs.Least) {
		return
	}
	ctx, cancel := context.WithTimeout(h.ctx, h.o.Logs.Trim)
	defer cancel()
	if err := r.Trim(ctx, to); err != nil {
		h.log.Debug("log is not trimmed", "shard", name, "error", err)
	}
}
