package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Mark records how much of an external log a store has applied. It is stored in the same batch as the last changes. So
// a store is always exactly the result of the records up to Position.
type Mark struct {
	Position uint64
	// Epoch and Owner come from the record at Position. The owner writes the log.
	Epoch uint64
	Owner string
	// Hash is a hash over all applied records: stores with the same Position have the same Hash.
	Hash uint64
}

// markKey is behind all other keys: the engine's keys begin with a queue's number, in eight bytes, which never reaches
// this one, and the catalog's keys with a letter.
var markKey = []byte("\xff\xff\xff\xff\xff\xff\xff\xffmark")

const (
	markVersion = 1
	markLength  = 1 + 3*8 // and the owner
)

func (m Mark) encode() []byte {
	b := make([]byte, 0, markLength+len(m.Owner))
	b = append(b, markVersion)
	b = binary.BigEndian.AppendUint64(b, m.Position)
	b = binary.BigEndian.AppendUint64(b, m.Epoch)
	b = binary.BigEndian.AppendUint64(b, m.Hash)
	return append(b, m.Owner...)
}

// decodeMark decodes a mark. Empty input is the mark of a store that has applied nothing.
func decodeMark(b []byte) (Mark, error) {
	if b == nil {
		return Mark{}, nil
	}
	if len(b) < markLength || b[0] != markVersion {
		return Mark{}, fmt.Errorf("the mark of the external log cannot be read: %x", b)
	}
	return Mark{
		Position: binary.BigEndian.Uint64(b[1:]),
		Epoch:    binary.BigEndian.Uint64(b[9:]),
		Hash:     binary.BigEndian.Uint64(b[17:]),
		Owner:    string(b[25:]),
	}, nil
}

// ErrExternal reports a change to a store with an external log that was not a record of that log.
var ErrExternal = errors.New("the log of this store is elsewhere")

// ErrTooLong reports that a transaction is too long for a commit. Nothing was changed.
var ErrTooLong = errors.New("the transaction is too long")

// ErrDeposed reports that this process may no longer change the store, because another node writes its log. Whether a
// change in progress was made is unknown here.
var ErrDeposed = errors.New("the log of this store is written by another node")

// errNotExternal reports that a store has its own log.
var errNotExternal = errors.New("the store has no external log")

// loadMark reads the mark when the store is opened. A store that is opened with its own log loses its mark, because its
// next changes are not in the external log.
func (s *Store) loadMark(readOnly bool) error {
	value, err := copyOut(s.db.Get(markKey))
	if err != nil {
		return err
	}
	mark, err := decodeMark(value)
	if err != nil {
		return err
	}
	if !s.external && !readOnly && value != nil {
		if err := s.db.Delete(markKey, s.write); err != nil {
			return fmt.Errorf("forget the external log: %w", err)
		}
		mark = Mark{}
	}
	s.mark.Store(&mark)
	return nil
}

// Mark returns how much of the external log has been applied.
func (s *Store) Mark() Mark { return *s.mark.Load() }

// Durable returns the mark up to which everything is certainly on stable storage: if the process dies now, the next one
// finds the store there or later.
func (s *Store) Durable() (Mark, error) {
	if last := s.durable.Load(); last != nil && *last == s.Mark() { // nothing was applied since
		return *last, nil
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: markKey, OnlyReadGuaranteedDurable: true})
	if err != nil {
		return Mark{}, fmt.Errorf("read: %w", err)
	}
	var value []byte
	if it.First() {
		value, err = it.ValueAndErr()
	}
	mark, decodeErr := decodeMark(value)
	if err := errors.Join(err, decodeErr, it.Close()); err != nil {
		return Mark{}, fmt.Errorf("read: %w", err)
	}
	s.durable.Store(&mark)
	return mark, nil
}

// Apply makes the changes of another store's transaction, given as its Bytes, and stores in the same batch that the log
// is applied up to m. The changes are visible at once, and durable with the next Flush. A crash before that loses them
// together with the mark, and the log still has them. changes may be nil for a record without changes.
func (s *Store) Apply(changes []byte, m Mark) error {
	batch := s.db.NewBatchWithSize(len(changes) + len(markKey) + markLength + len(m.Owner) + 16)
	if len(changes) > 0 {
		// The batch would panic on invalid bytes.
		if err := Changes(changes, func(Change) error { return nil }); err != nil {
			return errors.Join(err, batch.Close())
		}
		// The batch becomes the owner of the slice and writes to it.
		own := append(make([]byte, 0, cap(batch.Repr())), changes...)
		if err := batch.SetRepr(own); err != nil {
			return errors.Join(fmt.Errorf("%w: %w", ErrNoBatch, err), batch.Close())
		}
	}
	return errors.Join(s.commitAt(batch, m), batch.Close())
}

// CommitAt is Apply for a transaction of this store. Do not read the Bytes of t afterwards.
func (s *Store) CommitAt(t *Txn, m Mark) error { return s.commitAt(t.batch, m) }

func (s *Store) commitAt(batch *pebble.Batch, m Mark) error {
	if !s.external {
		return errNotExternal
	}
	s.committing.Lock()
	defer s.committing.Unlock()
	must(batch.Set(markKey, m.encode(), nil))
	if err := batch.Commit(pebble.NoSync); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	s.mark.Store(&m)
	return nil
}

// Flush makes everything committed and applied durable in tables, as happens by itself when the memory for it is full.
func (s *Store) Flush() error {
	if err := s.db.Flush(); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// Empty reports whether the store has no data. The mark does not count.
func (s *Store) Empty() (bool, error) {
	empty := true
	err := s.Scan(nil, markKey, func(_, _ []byte) bool { empty = false; return false })
	return empty, err
}
