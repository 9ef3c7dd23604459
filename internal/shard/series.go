package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Series returns the rows of a name from an instant up to, but not including, another, in order of time. It reads the
// store without the owner.
func (rs *readers) Series(_ context.Context, _ queue.ID, name string, from, to queue.Instant) ([]queue.Row, error) {
	return rs.rows(name, from, to, queue.Series)
}

// SizedSeries is Series of rows with their Sizes.
func (rs *readers) SizedSeries(
	_ context.Context, _ queue.ID, name string, from, to queue.Instant,
) ([]queue.Row, error) {
	return rs.rows(name, from, to, queue.SizedSeries)
}

func (rs *readers) rows(
	name string, from, to queue.Instant,
	read func(get func(key []byte) ([]byte, error), name string, from, to queue.Instant) ([]queue.Row, error),
) ([]queue.Row, error) {
	rs.enter()
	defer rs.leave()
	if rs.inbox.isClosed() {
		return nil, rs.inbox.ended()
	}
	r := rs.store.Reader()
	defer r.Close()
	return read(r.Get, name, from, to)
}

// SeriesNames returns names that begin with a prefix, follow another name, and have rows since an instant; see
// queue.SeriesNames.
func (rs *readers) SeriesNames(
	_ context.Context, prefix, after string, since queue.Instant,
) ([]queue.SeriesName, error) {
	rs.enter()
	defer rs.leave()
	if rs.inbox.isClosed() {
		return nil, rs.inbox.ended()
	}
	return queue.SeriesNames(rs.store, prefix, after, since)
}
