package router

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// States returns the state of a queue on each of its shards.
func (r *Router) States(ctx context.Context, id queue.ID) ([]shard.State, error) {
	p, err := r.place(id)
	if err != nil {
		return nil, err
	}
	lists, err := gather(p.Shards, func(n int) ([]shard.State, error) {
		list, err := call(ctx, r.owners, n, func(ctx context.Context, s Shard) ([]shard.State, error) {
			return s.States(ctx, id)
		})
		for i := range list {
			list[i].Shard = n
			_, list[i].Node, _ = r.Owner(n)
		}
		return list, err
	})
	return slices.Concat(lists...), err
}

// Groups lists the groups of a FIFO queue from all its shards, ordered by the age of their first messages, oldest
// first.
func (r *Router) Groups(ctx context.Context, id queue.ID, g queue.Groups) (queue.GroupsResult, error) {
	p, err := r.place(id)
	if err != nil {
		return queue.GroupsResult{}, err
	}
	shards := slices.Sorted(slices.Values(p.Shards))
	lists, err := gather(shards, func(n int) (queue.GroupsResult, error) {
		own := queue.Groups{After: queue.GroupsCursor{{Position: g.After.At(n)}}, Max: g.Max}
		return call(ctx, r.owners, n, func(ctx context.Context, s Shard) (queue.GroupsResult, error) {
			return s.Groups(ctx, id, own)
		})
	})
	if err != nil {
		return queue.GroupsResult{}, err
	}
	return mergeGroups(shards, lists, g), nil
}

// mergeGroups merges the pages of several shards. A shard with further groups may have any group behind the last one of
// its page, so the merged page ends at the earliest of these.
func mergeGroups(shards []int, lists []queue.GroupsResult, g queue.Groups) (page queue.GroupsResult) {
	end := queue.Instant(math.MaxInt64)
	var heads []groupOn
	for i, list := range lists {
		last := queue.Instant(0)
		for _, group := range list.Groups {
			heads = append(heads, groupOn{group, i})
			last = group.Sent
		}
		if list.More {
			page.More, end = true, min(end, last)
		}
	}
	slices.SortStableFunc(heads, func(a, b groupOn) int { return cmp.Compare(a.Sent, b.Sent) })
	taken := make([]int, len(shards))
	for _, head := range heads {
		if len(page.Groups) == g.Max || head.Sent > end {
			page.More = true
			break
		}
		page.Groups = append(page.Groups, head.Group)
		taken[head.list]++
	}
	if !page.More {
		return page
	}
	for i, list := range lists {
		at := queue.ShardPosition{Shard: shards[i], Position: g.After.At(shards[i])}
		switch n := taken[i]; {
		case n == len(list.Groups) && list.More:
			at.Position = list.Next.At(0)
		case n > 0:
			at.Position = list.Groups[n-1].Head
		}
		page.Next = append(page.Next, at)
	}
	return page
}

// groupOn is a group in one of several lists.
type groupOn struct {
	queue.Group
	list int
}
