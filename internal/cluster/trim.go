package cluster

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

const (
	trimLeast = 1000 // records that are worth it
	// trimBound is how large a log may get because a live replica is behind; after
	// that it has to fetch a checkpoint.
	trimBound = 2 << 30
)

// trim forgets what the logs of the shards that this node owns hold and no replica needs
// any more.
func (h *host) trim() {
	again := time.NewTicker(trimInterval)
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
	if to < own.First+trimLeast {
		return
	}
	ctx, cancel := context.WithTimeout(h.ctx, trimInterval)
	defer cancel()
	if err := r.Trim(ctx, to); err != nil {
		h.log.Debug("log is not trimmed", "shard", name, "error", err)
	}
}
