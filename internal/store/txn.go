package store

import "github.com/cockroachdb/pebble/v2"

// A Txn collects changes. Its reads include these changes. It belongs to one goroutine.
//
// A failing read means that the store is damaged or gone.
type Txn struct {
	db      *pebble.DB
	batch   *pebble.Batch
	indexed bool
}

// reader returns the batch with an index of its keys. Most transactions read nothing, and indexing each change as it is
// made would cost half as much as the commit.
func (t *Txn) reader() *pebble.Batch {
	if !t.indexed {
		indexed := t.db.NewIndexedBatch()
		must(indexed.Apply(t.batch, nil))
		must(t.batch.Close())
		t.batch, t.indexed = indexed, true
	}
	return t.batch
}

// Get returns the value of key, or nil if there is none.
func (t *Txn) Get(key []byte) ([]byte, error) { return copyOut(t.reader().Get(key)) }

// Set sets the value of key.
func (t *Txn) Set(key, value []byte) { must(t.batch.Set(key, value, nil)) }

// Delete removes key, whether or not it exists.
func (t *Txn) Delete(key []byte) { must(t.batch.Delete(key, nil)) }

// DeleteOnce removes a key that was set exactly once since it was last absent. It is cheaper than Delete: the two
// records cancel out as soon as they meet.
func (t *Txn) DeleteOnce(key []byte) { must(t.batch.SingleDelete(key, nil)) }

// DeleteRange removes all keys from lo up to but not including hi, at a cost
// that does not depend on their number.
func (t *Txn) DeleteRange(lo, hi []byte) { must(t.batch.DeleteRange(lo, hi, nil)) }

// Scan calls f with the keys from lo up to but not including hi, in order,
// until f returns false. The slices are valid during the call only. f may
// change t; the scan does not see those changes.
func (t *Txn) Scan(lo, hi []byte, f func(key, value []byte) bool) error {
	return scan(t.reader(), lo, hi, f)
}

// Empty reports whether t holds no change.
func (t *Txn) Empty() bool { return t.batch.Empty() }

// Size returns the length of Bytes.
func (t *Txn) Size() int { return t.batch.Len() }

// Bytes returns the changes as one string, valid until Release.
func (t *Txn) Bytes() []byte { return t.batch.Repr() }

// Release frees the memory of t, which must not be used afterwards.
func (t *Txn) Release() { must(t.batch.Close()) }

// must handles the errors of calls that fail only because of a bug, such as a write to a batch that is already
// committed.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
