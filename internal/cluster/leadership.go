package cluster

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// lead keeps the lead of a log on this node until ctx ends.
func (h *host) lead(ctx context.Context, log sharedlog.Log) {
	again := time.NewTicker(leadInterval)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
		once, cancel := context.WithTimeout(ctx, leadInterval/2)
		if err := h.engine.Lead(once, log, h.id.server()); err != nil && ctx.Err() == nil {
			h.log.Debug("log is led from another node", "error", err)
		}
		cancel()
	}
}

// leadFrom moves the lead of a log to a server, if that succeeds soon.
func (h *host) leadFrom(ctx context.Context, name string, log sharedlog.Log, server string) {
	ctx, cancel := context.WithTimeout(ctx, leadTimeout)
	defer cancel()
	if err := h.engine.Lead(ctx, log, server); err != nil {
		h.log.Debug("log is led from another node", "shard", name, "error", err)
	}
}
