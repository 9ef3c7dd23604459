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

// routing tells the router where queues and shards are, and forwards messages between shards.
//
//   - A shard that is here is returned only when it knows all queues that this node knows, and can be written.
//   - Messages between shards pass the forward barrier.
type routing struct {
	*common
	members  *membership
	locals   *locals
	queues   *feeds
	forwards *forwardBarrier
	router   *router.Router // set before the node serves
}

// placement returns where a queue is.
func (r *routing) placement(id queue.ID) (router.Placement, bool) {
	cat := r.queues.catalog()
	if cat == nil {
		return router.Placement{}, false
	}
	q := cat.ByID(id)
	if q == nil {
		return router.Placement{}, false
	}
	var all []int // any shard may hold dead letters for it
	for i := range r.records.count() {
		all = append(all, i+1)
	}
	return router.PlacementOf(q, all), true
}

// owned returns a shard that this node owns, once the shard knows all queues that this node knows.
func (r *routing) owned(number int) (remote.Shard, error) {
	l := r.locals.of(shardName(number))
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
	ctx, cancel := context.WithTimeout(r.ctx, feedTimeout)
	defer cancel()
	if err := errors.Join(r.queues.catalog().Watched(ctx), s.queues.wait(ctx)); err != nil {
		return nil, fmt.Errorf("%w: shard %d does not know of all queues yet: %w", shard.ErrNotBegun, number, err)
	}
	return ownedShard{s.shard, r.forwards}, nil
}

// owner returns the owner of a shard: the shard itself if this node owns it, otherwise the name of its node.
func (r *routing) owner(number int) (here router.Shard, node string, err error) {
	name := shardName(number)
	if l := r.locals.of(name); l != nil && l.serving.Load() != nil {
		here, err = r.owned(number)
		return here, r.o.Name, err
	}
	o, ok := r.members.view.owner(name)
	if !ok || o.Node == r.o.Name {
		return nil, "", fmt.Errorf("%w: shard %d has no owner", shard.ErrNotBegun, number)
	}
	if r.members.view.isSilent(o.Node) {
		return nil, "", fmt.Errorf(
			"%w: node %s, the owner of shard %d, is not heard of", shard.ErrNotBegun, o.Node, number,
		)
	}
	return nil, o.Node, nil
}

// owns reports whether this node owns a shard.
func (r *routing) owns(number int) bool {
	l := r.locals.of(shardName(number))
	return l != nil && l.serving.Load() != nil
}

// deliver moves messages from this node's shards to others.
func (r *routing) deliver(ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer) error {
	leave, err := r.forwards.pass(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return r.router.Deliver(ctx, id, from, messages)
}
