package router

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// rowsAtOnce is the period for which one call asks a shard for rows: an answer must fit into a message.
const rowsAtOnce = queue.Instant(15 * 24 * time.Hour / time.Millisecond)

// sizedAtOnce is likewise the period for rows with their sizes, which are far longer.
const sizedAtOnce = queue.Instant(24 * time.Hour / time.Millisecond)

// Series returns the rows of a name from an instant up to but not including another, in order of time. It asks the
// shards of a queue, or all shards if id is 0: a deleted queue may have been on any shard, and a recreated one on
// others than before.
func (r *Router) Series(ctx context.Context, id queue.ID, name string, from, to queue.Instant) ([]queue.Row, error) {
	read := func(ctx context.Context, s Shard, from, to queue.Instant) ([]queue.Row, error) {
		return s.Series(ctx, id, name, from, to)
	}
	return r.rows(ctx, id, from, to, rowsAtOnce, read)
}

// SizedSeries is Series of rows with their Sizes. A node that runs an older program leaves them out.
func (r *Router) SizedSeries(
	ctx context.Context, id queue.ID, name string, from, to queue.Instant,
) ([]queue.Row, error) {
	read := func(ctx context.Context, s Shard, from, to queue.Instant) ([]queue.Row, error) {
		return s.SizedSeries(ctx, id, name, from, to)
	}
	return r.rows(ctx, id, from, to, sizedAtOnce, read)
}

// rows reads rows of the shards of a queue, some at once.
func (r *Router) rows(
	ctx context.Context, id queue.ID, from, to, atOnce queue.Instant,
	read func(ctx context.Context, s Shard, from, to queue.Instant) ([]queue.Row, error),
) ([]queue.Row, error) {
	shards, err := r.seriesShards(id)
	if err != nil {
		return nil, err
	}
	lists, err := gather(shards, func(n int) ([]queue.Row, error) {
		var rows []queue.Row
		for at := from; at < to; at += atOnce - at%atOnce { // aligned: rows of an hour must not be divided
			some, err := call(ctx, r.owners, n, func(ctx context.Context, s Shard) ([]queue.Row, error) {
				return read(ctx, s, at, min(to, at+atOnce-at%atOnce))
			})
			if err != nil {
				return nil, err
			}
			rows = append(rows, some...)
		}
		return rows, nil
	})
	if err != nil {
		return nil, err
	}
	return mergeRows(lists), nil
}

// seriesShards returns the shards that may have series.
func (r *Router) seriesShards(id queue.ID) ([]int, error) {
	if id != 0 {
		p, err := r.place(id)
		return p.Shards, err
	}
	var all []int
	for n := range r.Shards() {
		all = append(all, n+1)
	}
	return all, nil
}

// mergeRows adds the rows of several shards that are of the same time.
func mergeRows(lists [][]queue.Row) []queue.Row {
	if len(lists) == 1 {
		return lists[0]
	}
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b queue.Row) int { return cmp.Compare(a.Time, b.Time) })
	var out []queue.Row
	for i := range all {
		if last := len(out) - 1; last >= 0 && out[last].Time == all[i].Time {
			out[last].Add(&all[i])
		} else {
			out = append(out, all[i])
		}
	}
	return out
}

// SeriesNames returns names that begin with a prefix, come after another name, and have
// rows since an instant on any shard. They are in order, and if there are
// queue.NamesAtOnce there may be more.
func (r *Router) SeriesNames(
	ctx context.Context, prefix, after string, since queue.Instant,
) ([]queue.SeriesName, error) {
	shards, err := r.seriesShards(0)
	if err != nil {
		return nil, err
	}
	lists, err := gather(shards, func(n int) ([]queue.SeriesName, error) {
		return call(ctx, r.owners, n, func(ctx context.Context, s Shard) ([]queue.SeriesName, error) {
			return s.SeriesNames(ctx, prefix, after, since)
		})
	})
	if err != nil {
		return nil, err
	}
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b queue.SeriesName) int { return cmp.Compare(a.Name, b.Name) })
	var out []queue.SeriesName
	for _, n := range all {
		last := len(out) - 1
		if last < 0 || out[last].Name != n.Name {
			out = append(out, n)
			continue
		}
		out[last].Last, out[last].Fair = max(out[last].Last, n.Last), out[last].Fair || n.Fair
	}
	return out[:min(len(out), queue.NamesAtOnce)], nil
}
