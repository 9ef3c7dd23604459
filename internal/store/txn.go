package store

import (
	"strings"

	"github.com/cockroachdb/pebble/v2"
)

// A Txn collects changes. Its reads include these changes. It belongs to one goroutine.
//
// A failing read means that the store is damaged or gone.
//
// A commit inserts its changes into a sorted list, and finds the place of a key without a search if the key follows
// the one inserted before it. The engine changes several tables in turn, so each of the busiest has a batch of its own
// (a strand), which is appended to the main batch at the end. Invariants:
//
//   - The changes of one key keep their order: all of them are in one batch until the strands are appended.
//   - A range deletion may cover several tables. It comes after everything that was changed before it, because the
//     strands are appended first.
//   - An indexed transaction has no strands.
type Txn struct {
	db      *pebble.DB
	main    *pebble.Batch
	indexed bool
	strands [len(strandTables)]*pebble.Batch // nil or empty: no changes
}

// strandTables are the letters of the tables that have strands, as the engine's keys have them behind the eight bytes
// of a queue's id. The table of messages has none: its values are long, and need not be copied in the main batch.
const strandTables = "sxk"

// strandOf returns the strand of a key, or -1 for the main batch. A queue's id begins with a zero byte, or with 0x80
// in the part of the tables that all queues share; the catalog's keys begin with a letter.
func strandOf(key []byte) int {
	if len(key) <= 8 || key[0]&0x7f != 0 {
		return -1
	}
	return strings.IndexByte(strandTables, key[8])
}

// batchOf returns the batch for a change of key.
func (t *Txn) batchOf(key []byte) *pebble.Batch {
	i := strandOf(key)
	if i < 0 || t.indexed {
		return t.main
	}
	if t.strands[i] == nil {
		t.strands[i] = t.db.NewBatch()
	}
	return t.strands[i]
}

// batch returns the main batch with all changes.
func (t *Txn) batch() *pebble.Batch {
	for _, s := range t.strands {
		if s != nil && !s.Empty() {
			must(t.main.Apply(s, nil))
			s.Reset()
		}
	}
	return t.main
}

// reader returns the batch with an index of its keys. Most transactions read nothing, and indexing each change as it is
// made would cost half as much as the commit.
func (t *Txn) reader() *pebble.Batch {
	if !t.indexed {
		indexed := t.db.NewIndexedBatch()
		must(indexed.Apply(t.batch(), nil))
		must(t.main.Close())
		t.main, t.indexed = indexed, true
	}
	return t.main
}

// Get returns the value of key, or nil if there is none.
func (t *Txn) Get(key []byte) ([]byte, error) { return copyOut(t.reader().Get(key)) }

// Set sets the value of key.
func (t *Txn) Set(key, value []byte) { must(t.batchOf(key).Set(key, value, nil)) }

// Delete removes key, whether or not it exists.
func (t *Txn) Delete(key []byte) { must(t.batchOf(key).Delete(key, nil)) }

// DeleteOnce removes a key that was set exactly once since it was last absent. It is cheaper than Delete: the two
// records cancel out as soon as they meet.
func (t *Txn) DeleteOnce(key []byte) { must(t.batchOf(key).SingleDelete(key, nil)) }

// DeleteRange removes all keys from lo up to but not including hi, at a cost
// that does not depend on their number.
func (t *Txn) DeleteRange(lo, hi []byte) { must(t.batch().DeleteRange(lo, hi, nil)) }

// Scan calls f with the keys from lo up to but not including hi, in order,
// until f returns false. The slices are valid during the call only. f may
// change t; the scan does not see those changes.
func (t *Txn) Scan(lo, hi []byte, f func(key, value []byte) bool) error {
	return scan(t.reader(), lo, hi, f)
}

// Empty reports whether t holds no change.
func (t *Txn) Empty() bool {
	for _, s := range t.strands {
		if s != nil && !s.Empty() {
			return false
		}
	}
	return t.main.Empty()
}

// Size returns the length of Bytes.
func (t *Txn) Size() int {
	n := t.main.Len()
	for _, s := range t.strands {
		if s != nil {
			n += s.Len() - batchHeader
		}
	}
	return n
}

// Bytes returns the changes as one string, valid until Release or the next change.
func (t *Txn) Bytes() []byte { return t.batch().Repr() }

// Release frees the memory of t, which must not be used afterwards.
func (t *Txn) Release() {
	must(t.main.Close())
	for _, s := range t.strands {
		if s != nil {
			must(s.Close())
		}
	}
}

// must handles the errors of calls that fail only because of a bug, such as a write to a batch that is already
// committed.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
