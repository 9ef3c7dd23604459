package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Series returns the rows of a name from an instant up to, but not including, another, in order of time. It reads the
// store without the owner.
func (s *Shard) Series(_ context.Context, _ queue.ID, name string, from, to queue.Instant) ([]queue.Row, error) {
	return s.rows(name, from, to, queue.Series)
}

// SizedSeries is Series of rows with their Sizes.
func (s *Shard) SizedSeries(_ context.Context, _ queue.ID, name string, from, to queue.Instant) ([]queue.Row, error) {
	return s.rows(name, from, to, queue.SizedSeries)
}

func (s *Shard) rows(
	name string, from, to queue.Instant,
	read func(get func(key []byte) ([]byte, error), name string, from, to queue.Instant) ([]queue.Row, error),
) ([]queue.Row, error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.isClosed() {
		return nil, s.ended()
	}
	r := s.store.Reader()
	defer r.Close()
	return read(r.Get, name, from, to)
}

// SeriesNames returns names that begin with a prefix, follow another name, and have rows since an instant; see
// queue.SeriesNames.
func (s *Shard) SeriesNames(_ context.Context, prefix, after string, since queue.Instant) ([]queue.SeriesName, error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.isClosed() {
		return nil, s.ended()
	}
	return queue.SeriesNames(s.store, prefix, after, since)
}

func (s *Shard) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}
