package control

import "github.com/sluicemq/sluice/internal/store"

// Tx is a change that is being made. What readers have in memory is as before
// until it is committed.
//
// It has no way to remove a range of keys: readers are told of each key.
type Tx struct{ txn *store.Txn }

// Get returns the value of key as this change leaves it, or nil if there is none.
func (tx *Tx) Get(key string) ([]byte, error) { return tx.txn.Get([]byte(key)) }

// Put gives key a value.
func (tx *Tx) Put(key string, value []byte) { tx.txn.Set([]byte(key), value) }

// Delete removes key, present or not.
func (tx *Tx) Delete(key string) { tx.txn.Delete([]byte(key)) }
