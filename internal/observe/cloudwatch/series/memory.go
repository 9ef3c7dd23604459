package series

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Memory keeps series in memory, for tests. Its methods are safe for concurrent use.
type Memory struct {
	mu  sync.Mutex
	all []memorySeries // in order
}

type memorySeries struct {
	id     ID
	points []Point // in order of time, one a minute
}

var _ Reader = (*Memory)(nil)

// Add adds points to a series. Points of the same minute are merged.
func (m *Memory) Add(id ID, points ...Point) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i, found := slices.BinarySearchFunc(m.all, id, func(s memorySeries, id ID) int { return s.id.Compare(id) })
	if !found {
		m.all = slices.Insert(m.all, i, memorySeries{id: id})
	}
	s := &m.all[i]
	for _, p := range points {
		p.Time = p.Time.UTC().Truncate(Minute)
		at, known := slices.BinarySearchFunc(s.points, p.Time, func(p Point, t time.Time) int {
			return p.Time.Compare(t)
		})
		if known {
			s.points[at] = s.points[at].Merge(p)
		} else {
			s.points = slices.Insert(s.points, at, p)
		}
	}
}

// Read implements Reader.
func (m *Memory) Read(_ context.Context, id ID, from, to time.Time, period time.Duration) ([]Point, error) {
	return Group(m.within(id, from.Truncate(Minute), to), from.Truncate(Minute), period), nil
}

// ReadSamples implements Reader.
func (m *Memory) ReadSamples(_ context.Context, id ID, from, to time.Time, period time.Duration) ([]Point, error) {
	points := m.within(id, from.Truncate(Minute), to)
	for i, p := range points {
		points[i] = p.WithSamples(nil)
	}
	return Group(points, from.Truncate(Minute), period), nil
}

// within returns the points of a window.
func (m *Memory) within(id ID, from, to time.Time) []Point {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.all {
		if s.id.Equal(id) {
			return slices.DeleteFunc(slices.Clone(s.points), func(p Point) bool {
				return p.Time.Before(from) || !p.Time.Before(to)
			})
		}
	}
	return nil
}

// List implements Reader.
func (m *Memory) List(_ context.Context, f Filter) ([]ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []ID
	for _, s := range m.all {
		if n := len(s.points); f.Matches(s.id) && n > 0 && !s.points[n-1].Time.Before(f.Since) {
			out = append(out, s.id)
		}
	}
	return out, nil
}
