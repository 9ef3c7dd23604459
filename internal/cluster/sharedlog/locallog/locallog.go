// Package locallog keeps logs in a store on this machine: the engine of a
// cluster of one, which replicates nothing and needs no network. It guarantees
// what sharedlog.Log asks for, of one process that has the store open.
package locallog

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// Log is a log in a store. Its keys begin with a name of its own, so several
// logs can share one:
//
//	name 0 'e'           the extent: first, last, bytes
//	name 0 'r' position  a record
type Log struct {
	store  *store.Store
	prefix []byte

	mu      sync.Mutex // also holds commits in order
	extent  sharedlog.Extent
	changed chan struct{} // closed at the next append
	broken  error         // a commit has failed, so what is durable is not known
}

// readAtOnce bounds what one Read returns, in bytes, but for its first record.
const readAtOnce = 4 << 20

// Open returns the log of that name in a store. A log is opened once at a time.
// Names have no byte 0.
func Open(s *store.Store, name string) (*Log, error) {
	l := &Log{store: s, prefix: append([]byte(name), 0), changed: make(chan struct{})}
	l.extent.First = 1
	stored, err := s.Get(l.extentKey())
	if err != nil {
		return nil, err
	}
	if stored != nil {
		if len(stored) != 24 {
			return nil, errors.New("the extent of the log " + name + " is not readable")
		}
		l.extent = sharedlog.Extent{
			First: sharedlog.Position(binary.BigEndian.Uint64(stored)),
			Last:  sharedlog.Position(binary.BigEndian.Uint64(stored[8:])),
			Bytes: int64(binary.BigEndian.Uint64(stored[16:])),
		}
	}
	return l, nil
}

func (l *Log) extentKey() []byte { return append(slices.Clone(l.prefix), 'e') }

func (l *Log) recordKey(p sharedlog.Position) []byte {
	return binary.BigEndian.AppendUint64(append(slices.Clone(l.prefix), 'r'), uint64(p))
}

// commit makes changes and the new extent durable; l.mu is held.
func (l *Log) commit(e sharedlog.Extent, change func(*store.Txn)) error {
	if l.broken != nil {
		return l.broken
	}
	t := l.store.Begin()
	defer t.Release()
	change(t)
	stored := binary.BigEndian.AppendUint64(nil, uint64(e.First))
	stored = binary.BigEndian.AppendUint64(stored, uint64(e.Last))
	stored = binary.BigEndian.AppendUint64(stored, uint64(e.Bytes))
	t.Set(l.extentKey(), stored)
	if err := l.store.Commit(t); err != nil {
		l.broken = err
		return err
	}
	l.extent = e
	return nil
}

// Append is that of sharedlog.Log.
func (l *Log) Append(ctx context.Context, after sharedlog.Position, data []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return l.broken
	}
	if l.extent.Last != after {
		return sharedlog.ErrConflict
	}
	e := l.extent
	e.Last++
	e.Bytes += int64(len(data))
	if err := l.commit(e, func(t *store.Txn) { t.Set(l.recordKey(e.Last), data) }); err != nil {
		return err
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return nil
}

// Read is that of sharedlog.Log.
func (l *Log) Read(ctx context.Context, from sharedlog.Position) ([]sharedlog.Record, sharedlog.Extent, error) {
	if err := ctx.Err(); err != nil {
		return nil, sharedlog.Extent{}, err
	}
	// The lock is held while reading, so that nothing is trimmed meanwhile.
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.extent
	if from < e.First {
		return nil, e, sharedlog.ErrTrimmed
	}
	if from > e.Last {
		return nil, e, nil
	}
	var out []sharedlog.Record
	size := 0
	err := l.store.Scan(l.recordKey(from), l.recordKey(e.Last+1), func(_, value []byte) bool {
		out = append(out, sharedlog.Record{Position: from + sharedlog.Position(len(out)), Data: slices.Clone(value)})
		size += len(value)
		return size < readAtOnce
	})
	return out, e, err
}

// Follow is that of sharedlog.Log.
func (l *Log) Follow(ctx context.Context, from sharedlog.Position, f func(sharedlog.Record) error) error {
	return sharedlog.Follow(ctx, l, from, f)
}

// Changed returns a channel that is closed at the next append.
func (l *Log) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Trim is that of sharedlog.Log.
func (l *Log) Trim(ctx context.Context, to sharedlog.Position) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.extent
	to = min(to, e.Last)
	if to < e.First {
		return nil
	}
	err := l.store.Scan(l.recordKey(e.First), l.recordKey(to+1), func(_, value []byte) bool {
		e.Bytes -= int64(len(value))
		return true
	})
	if err != nil {
		return err
	}
	lo := l.recordKey(e.First)
	e.First = to + 1
	return l.commit(e, func(t *store.Txn) { t.DeleteRange(lo, l.recordKey(e.First)) })
}
