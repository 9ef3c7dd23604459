package control

import "github.com/sluicemq/sluice/internal/store"

// Tx is a change that is being made. The readers' state in memory is as before until the change is committed.
//
// It can remove a range of keys only among those that are not records: readers learn of each
// record.
type Tx struct{ txn *store.Txn }

// Get returns the value of key as this change leaves it, or nil if there is none.
func (tx *Tx) Get(key string) ([]byte, error) { return tx.txn.Get([]byte(key)) }

// Put gives key a value.
func (tx *Tx) Put(key string, value []byte) { tx.txn.Set([]byte(key), value) }

// Delete removes key, present or not.
func (tx *Tx) Delete(key string) { tx.txn.Delete([]byte(key)) }

// DeleteRange removes the keys from lo up to hi, which begin with the byte 255: no reader has
// them. It panics if they are others.
func (tx *Tx) DeleteRange(lo, hi string) {
	if isRecord([]byte(lo)) || isRecord([]byte(hi)) {
		panic("control: a range of records cannot be removed")
	}
	tx.txn.DeleteRange([]byte(lo), []byte(hi))
}
