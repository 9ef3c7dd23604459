package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// ChangeKind is the kind of a change.
type ChangeKind uint8

// The kinds of changes, as the methods of Txn make them.
const (
	ChangeSet ChangeKind = iota + 1
	ChangeDelete
	ChangeDeleteOnce
	ChangeDeleteRange
)

// Change is one change of a batch. Its slices are parts of the batch.
type Change struct {
	Kind  ChangeKind
	Key   []byte // the first key of a range
	Value []byte // of ChangeSet
	End   []byte // of ChangeDeleteRange: the first key behind the range
}

// ErrNoBatch reports that bytes are not a valid batch.
var ErrNoBatch = errors.New("not a batch of changes")

// Changes calls f with the changes of a batch, as Txn.Bytes returns it, until f returns an error. The changes of a key
// come in the order in which they were made. Invalid bytes give ErrNoBatch, possibly after some calls of f: a caller
// that must apply all changes or none collects them first.
func Changes(batch []byte, f func(Change) error) error {
	if len(batch) < batchHeader {
		return fmt.Errorf("%w: it has %d bytes", ErrNoBatch, len(batch))
	}
	rest := batch[batchHeader:]
	left := binary.LittleEndian.Uint32(batch[batchHeader-4:])
	for ; left > 0 && len(rest) > 0; left-- {
		c, more, ok := nextChange(rest)
		if !ok {
			break
		}
		if err := f(c); err != nil {
			return err
		}
		rest = more
	}
	if left > 0 || len(rest) > 0 {
		return fmt.Errorf(
			"%w: at byte %d of %d, %d changes missing", ErrNoBatch, len(batch)-len(rest), len(batch), left,
		)
	}
	return nil
}

// nextChange reads a change from the front of b.
func nextChange(b []byte) (c Change, rest []byte, ok bool) {
	kind := pebble.InternalKeyKind(b[0])
	if c.Key, rest, ok = nextString(b[1:]); !ok {
		return c, nil, false
	}
	switch kind {
	case pebble.InternalKeyKindSet:
		c.Kind = ChangeSet
		c.Value, rest, ok = nextString(rest)
	case pebble.InternalKeyKindDelete:
		c.Kind = ChangeDelete
	case pebble.InternalKeyKindSingleDelete:
		c.Kind = ChangeDeleteOnce
	case pebble.InternalKeyKindRangeDelete:
		c.Kind = ChangeDeleteRange
		c.End, rest, ok = nextString(rest)
	default: // Txn makes no others
		return c, nil, false
	}
	return c, rest, ok
}

func nextString(b []byte) (s, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, false
	}
	b = b[size:]
	return b[:n:n], b[n:], true
}
