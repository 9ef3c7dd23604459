package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// announcement names the owner of a shard.
type announcement struct {
	Shard  string
	Holder replica.Holder
}

// placement returns where a queue is.
func (h *host) placement(id queue.ID) (router.Placement, bool) {
	cat := h.queues()
	if cat == nil {
		return router.Placement{}, false
	}
	q := cat.ByID(id)
	if q == nil {
		return router.Placement{}, false
	}
	var all []int // any shard may hold dead letters for it
	for i := range h.records.count() {
		all = append(all, i+1)
	}
	return router.PlacementOf(q, all), true
}

// owned returns a shard that this node owns, once the shard knows all queues that this node knows.
func (h *host) owned(number int) (remote.Shard, error) {
	l := h.local(shardName(number))
	if l == nil {
		return nil, fmt.Errorf("%w: shard %d is not kept here", shard.ErrNotBegun, number)
	}
	s := l.serving.Load()
	if s == nil {
		return nil, fmt.Errorf("%w: shard %d is not owned by this node", shard.ErrNotBegun, number)
	}
	if err := l.watchdog.condition().Err(); err != nil {
		return nil, fmt.Errorf("%w: shard %d: %w", shard.ErrNotBegun, number, err)
	}
	ctx, cancel := context.WithTimeout(h.ctx, feedTimeout)
	defer cancel()
	if err := errors.Join(h.queues().Watched(ctx), s.queues.wait(ctx)); err != nil {
		return nil, fmt.Errorf("%w: shard %d does not know of all queues yet: %w", shard.ErrNotBegun, number, err)
	}
	return ownedShard{s.shard, h.forwards}, nil
}

// owner returns the owner of a shard: the shard itself if this node owns it, otherwise the name of its node.
func (h *host) owner(number int) (here router.Shard, node string, err error) {
	name := shardName(number)
	if l := h.local(name); l != nil && l.serving.Load() != nil {
		here, err = h.owned(number)
		return here, h.o.Name, err
	}
	o, ok := h.members.view.owner(name)
	if !ok || o.Node == h.o.Name {
		return nil, "", fmt.Errorf("%w: shard %d has no owner", shard.ErrNotBegun, number)
	}
	if h.members.view.isSilent(o.Node) {
		return nil, "", fmt.Errorf(
			"%w: node %s, the owner of shard %d, is not heard of", shard.ErrNotBegun, o.Node, number,
		)
	}
	return nil, o.Node, nil
}

// deliver moves messages from this node's shards to others.
func (h *host) deliver(ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer) error {
	leave, err := h.forwards.pass(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return h.router.Deliver(ctx, id, from, messages)
}
