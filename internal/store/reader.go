package store

import (
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// A Reader reads the data that was committed when it was created, with less work per key than Store.Get. It belongs to
// one goroutine. Close it soon: it keeps the space of data that is deleted meanwhile.
type Reader struct {
	it     *pebble.Iterator
	leave  func()
	broken error
}

// Reader returns a reader. If its creation fails, its Get returns the error.
func (s *Store) Reader() *Reader {
	if !s.gate.enter() {
		return &Reader{broken: ErrClosed}
	}
	it, err := s.db.NewIter(nil)
	if err != nil {
		s.gate.leave()
	}
	return &Reader{it, s.gate.leave, err}
}

// Get returns the value of key, or nil if there is none. It is fastest with keys in
// ascending order.
func (r *Reader) Get(key []byte) ([]byte, error) {
	value, err := r.Borrow(key)
	return slices.Clone(value), err
}

// Borrow is Get without a copy: the value is valid until the next call of the reader, and must not be changed.
func (r *Reader) Borrow(key []byte) ([]byte, error) {
	if r.broken != nil {
		return nil, fmt.Errorf("read: %w", r.broken)
	}
	// To Pebble's default comparer each key is its own prefix, so this finds the key or nothing, and may use the Bloom
	// filters.
	if !r.it.SeekPrefixGE(key) {
		if err := r.it.Error(); err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
		return nil, nil
	}
	value, err := r.it.ValueAndErr()
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return value, nil
}

// Scan calls f with the keys from lo up to but not including hi, in order, until f
// returns false. The slices are valid during the call only. f may use the reader.
func (r *Reader) Scan(lo, hi []byte, f func(key, value []byte) bool) error {
	if r.broken != nil {
		return fmt.Errorf("scan: %w", r.broken)
	}
	it, err := r.it.Clone(pebble.CloneOptions{IterOptions: &pebble.IterOptions{LowerBound: lo, UpperBound: hi}})
	if err != nil {
		return fmt.Errorf("scan: %w", err)
	}
	return each(it, f)
}

// Close releases the reader. Values that its Get has returned stay valid.
func (r *Reader) Close() {
	if r.broken == nil {
		_ = r.it.Close() // Get has returned the errors of reads
		r.leave()
	}
}

// DiskUse returns approximately how many bytes the keys from lo up to hi take in tables on the disk. Recent writes are
// still in the log, not in a table.
func (s *Store) DiskUse(lo, hi []byte) (uint64, error) {
	if !s.gate.enter() {
		return 0, ErrClosed
	}
	defer s.gate.leave()
	n, err := s.db.EstimateDiskUsage(lo, hi)
	if err != nil {
		return 0, fmt.Errorf("estimate the use of the disk: %w", err)
	}
	return n, nil
}
