package control

import "github.com/sluicemq/sluice/internal/store"

// Tx is a change in progress. The readers' state in memory stays as it was until the change is committed.
//
// A Tx can remove ranges only of keys that are not records, because readers need each removed record.
type Tx struct{ txn *store.Txn }

// Get returns the value of key as this change leaves it, or nil if there is none.
func (tx *Tx) Get(key string) ([]byte, error) { return tx.txn.Get([]byte(key)) }

// Put sets the value of key.
func (tx *Tx) Put(key string, value []byte) { tx.txn.Set([]byte(key), value) }

// Delete removes key, if it exists.
func (tx *Tx) Delete(key string) { tx.txn.Delete([]byte(key)) }

// DeleteRange removes the keys from lo up to, but not including, hi. They must begin with the byte 255, so that no
// reader has them. Otherwise DeleteRange panics.
func (tx *Tx) DeleteRange(lo, hi string) {
	if isRecord([]byte(lo)) || isRecord([]byte(hi)) {
		panic("control: a range of records cannot be removed")
	}
	tx.txn.DeleteRange([]byte(lo), []byte(hi))
}
