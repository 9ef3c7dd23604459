package sharedlog

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Memory is an engine in memory: logs and leases for tests and for data that is not stored. The zero value is not
// usable; see NewMemory.
type Memory struct {
	now func() time.Time
	ttl time.Duration

	mu     sync.Mutex
	logs   map[string]*MemoryLog
	leases map[string]*memoryLease
}

// NewMemory returns an engine with leases of length ttl by the clock now, which
// is time.Now if it is nil.
func NewMemory(ttl time.Duration, now func() time.Time) *Memory {
	if now == nil {
		now = time.Now
	}
	return &Memory{now: now, ttl: ttl, logs: make(map[string]*MemoryLog), leases: make(map[string]*memoryLease)}
}

// Log returns the log of that name, which is empty at first.
func (m *Memory) Log(name string) *MemoryLog {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[name]
	if l == nil {
		l = &MemoryLog{first: 1, changed: make(chan struct{})}
		m.logs[name] = l
	}
	return l
}

// MemoryLog is a log in memory.
type MemoryLog struct {
	mu      sync.Mutex
	first   Position
	records [][]byte
	bytes   int64
	changed chan struct{} // closed at the next append
}

// readAtOnce limits the result of one Read in bytes, except for its first record.
const readAtOnce = 4 << 20

func (l *MemoryLog) extent() Extent {
	return Extent{First: l.first, Last: l.first + Position(len(l.records)) - 1, Bytes: l.bytes}
}

// Append implements Log.
func (l *MemoryLog) Append(ctx context.Context, after Position, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.extent().Last != after {
		return ErrConflict
	}
	l.records = append(l.records, slices.Clone(data))
	l.bytes += int64(len(data))
	close(l.changed)
	l.changed = make(chan struct{})
	return nil
}

// Read implements Log.
func (l *MemoryLog) Read(ctx context.Context, from Position) ([]Record, Extent, error) {
	if err := ctx.Err(); err != nil {
		return nil, Extent{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.extent()
	if from < e.First {
		return nil, e, ErrTrimmed
	}
	var out []Record
	for size := 0; from <= e.Last && size < readAtOnce; from++ {
		data := l.records[from-e.First]
		out = append(out, Record{from, data})
		size += len(data)
	}
	return out, e, nil
}

// Follow implements Log.
func (l *MemoryLog) Follow(ctx context.Context, from Position, f func(Record) error) error {
	for {
		changed := l.next() // before reading, so that no append is missed
		records, _, err := l.Read(ctx, from)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := f(r); err != nil {
				return err
			}
			from = r.Position + 1
		}
		if len(records) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// next returns a channel that is closed at the next append.
func (l *MemoryLog) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Trim implements Log.
func (l *MemoryLog) Trim(ctx context.Context, to Position) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.records) > 0 && l.first <= to {
		l.bytes -= int64(len(l.records[0]))
		l.records[0] = nil
		l.records = l.records[1:]
		l.first++
	}
	return nil
}

type memoryLease struct {
	engine *Memory
	name   string
	value  []byte
	until  time.Time
}

// TTL implements Leases.
func (m *Memory) TTL() time.Duration { return m.ttl }

// Take implements Leases.
func (m *Memory) Take(ctx context.Context, name string, value []byte) (Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.leases[name]; l != nil && m.now().Before(l.until) {
		return nil, ErrHeld
	}
	l := &memoryLease{engine: m, name: name, value: slices.Clone(value), until: m.now().Add(m.ttl)}
	m.leases[name] = l
	return l, nil
}

// List implements Leases.
func (m *Memory) List(ctx context.Context) (map[string][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[string][]byte)
	for name, l := range m.leases {
		if m.now().Before(l.until) {
			out[name] = l.value
		}
	}
	return out, nil
}

// Renew implements Lease.
func (l *memoryLease) Renew(ctx context.Context, value []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m := l.engine
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leases[l.name] != l || !m.now().Before(l.until) {
		return ErrLost
	}
	l.value = slices.Clone(value)
	l.until = m.now().Add(m.ttl)
	return nil
}

// Release implements Lease.
func (l *memoryLease) Release(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m := l.engine
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leases[l.name] == l {
		delete(m.leases, l.name)
	}
	return nil
}
