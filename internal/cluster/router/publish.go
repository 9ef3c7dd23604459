package router

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// publishBytes limits the records of publications in one commit: a third of the maximum size of a log's record.
const publishBytes = 4 << 20

// Publish accepts publications to one topic. It commits publications to a FIFO topic on the shard of the topic's
// internal queue. Publications to a standard topic are committed together on one shard: the one that serves most of the
// copies, or another one if that has no owner. Any shard can move copies to the shards of their queues. If they are too
// long for one commit, because the topic has tens of thousands of subscriptions, it commits them in parts: after an
// error, some subscriptions may still receive them.
func (r *Router) Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error) {
	if len(publications) == 0 {
		return nil, nil
	}
	if topic := publications[0].Topic; topic != 0 {
		return r.publishInOrder(ctx, topic, publications)
	}
	for _, part := range queue.Divide(publications, publishBytes) {
		if err := r.publishTogether(ctx, part); err != nil {
			return nil, err
		}
	}
	out := make([]queue.Published, len(publications))
	for i := range publications {
		out[i].ID = publications[i].ID
	}
	return out, nil
}

// publishTogether publishes to a standard topic, in one commit.
func (r *Router) publishTogether(ctx context.Context, publications []queue.Publication) error {
	order := r.nearest(publications)
	if counts := slices.ContainsFunc(publications, func(p queue.Publication) bool {
		return p.Count != nil
	}); len(order) == 0 && counts {
		order = r.anywhere() // no queue receives the messages, but the publication counts
	}
	if len(order) == 0 { // there is no subscription whose queue exists
		return nil
	}
	_, err := retryUntilOwned(ctx, r.owners, order, func() (published []queue.Published, err error) {
		for _, n := range order {
			published, err = callOnce(ctx, r.owners, n, publishTo(publications))
			if !errors.Is(err, shard.ErrNotBegun) {
				break
			}
		}
		return published, err
	})
	return err
}

func publishTo(publications []queue.Publication) func(context.Context, Shard) ([]queue.Published, error) {
	return func(ctx context.Context, s Shard) ([]queue.Published, error) { return s.Publish(ctx, publications) }
}

// publishInOrder publishes to a FIFO topic.
func (r *Router) publishInOrder(
	ctx context.Context, topic queue.ID, publications []queue.Publication,
) ([]queue.Published, error) {
	p, err := r.place(topic)
	if err != nil {
		return nil, err
	}
	parts := divide(publications, func(x *queue.Publication) int { return p.home(x.Group) })
	out := make([]queue.Published, len(publications))
	err = firstSerious(each(parts, func(part part) error {
		published, err := call(ctx, r.owners, part.shard, publishTo(pick(publications, part)))
		for k := range published {
			out[part.entries[k]] = published[k]
		}
		return err
	}))
	if err != nil {
		return nil, err
	}
	return out, nil
}

// nearest returns the shards in the order in which publications to a standard topic try them: those that serve most of
// the copies first, among equals those of this node. Shards whose owner may have died come last.
func (r *Router) nearest(publications []queue.Publication) []int {
	served := make(map[int]int)
	for i := range publications {
		for k := range publications[i].Copies {
			c := &publications[i].Copies[k]
			p, err := r.place(c.Queue)
			if err != nil {
				continue // the queue was deleted
			}
			for _, n := range p.all() {
				served[n] += 0 // it can accept the copy
			}
			if p.FIFO {
				served[p.home(c.Message.Group)]++
				continue
			}
			for _, n := range p.Sends {
				served[n]++
			}
		}
	}
	return r.inOrder(slices.Collect(maps.Keys(served)), served)
}

// anywhere returns all shards in the order of nearest.
func (r *Router) anywhere() []int {
	all := make([]int, r.Shards())
	for i := range all {
		all[i] = i + 1
	}
	return r.inOrder(all, nil)
}
