package directory

import (
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/sluicemq/sluice/internal/store"
)

// Tx is a change that is being made. It collects records; what the directory
// itself gives out is unchanged until the change is durable.
type Tx struct {
	d     *Directory
	txn   *store.Txn
	apply []func() // to what is in memory
}

// Change makes a change of several records, all or none. f decides about it: it
// reads the directory, which nobody else changes meanwhile, and if it returns an
// error, nothing is changed and Change returns that error. If the disk is or
// gets stuck, the error is a *store.StuckError, and a change that has begun still
// goes on to its end.
func (d *Directory) Change(f func(*Tx) error) error {
	condition := d.store.Disk().Condition()
	if err := condition.Err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	failed := make(chan any, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				failed <- fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
		}()
		d.changing.Lock()
		defer d.changing.Unlock()
		if condition.Err() != nil {
			return // nobody waits for it any more
		}
		done <- d.change(f)
	}()
	select {
	case err := <-done:
		return err
	case p := <-failed:
		panic(p)
	case <-condition.Stuck():
		return condition.Err()
	}
}

func (d *Directory) change(f func(*Tx) error) error {
	tx := &Tx{d: d, txn: d.store.Begin()}
	defer tx.txn.Release()
	if err := f(tx); err != nil {
		return err
	}
	if tx.txn.Empty() {
		return nil
	}
	if err := d.store.Commit(tx.txn); err != nil {
		return fmt.Errorf("change directory: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, apply := range tx.apply {
		apply()
	}
	clear(d.standing)
	return nil
}

func (tx *Tx) set(key string, v any, apply func()) {
	tx.txn.Set([]byte(key), encode(v))
	tx.apply = append(tx.apply, apply)
}

func (tx *Tx) delete(key string, apply func()) {
	tx.txn.Delete([]byte(key))
	tx.apply = append(tx.apply, apply)
}

// PutEntity adds an entity or replaces the one with its id.
func (tx *Tx) PutEntity(e *Entity) {
	tx.set(keyEntity+e.ID, e, func() { tx.d.putEntity(e) })
}

// DeleteEntity removes an entity.
func (tx *Tx) DeleteEntity(e *Entity) {
	tx.delete(keyEntity+e.ID, func() {
		delete(tx.d.entities, e.ID)
		delete(tx.d.names, nameOf(e.Kind, e.Account, e.Name))
	})
}

// PutKey adds an access key or replaces the one with its id.
func (tx *Tx) PutKey(k *Key) { tx.set(keyKey+k.ID, k, func() { tx.d.keys[k.ID] = k }) }

// DeleteKey removes an access key.
func (tx *Tx) DeleteKey(k *Key) {
	tx.delete(keyKey+k.ID, func() { delete(tx.d.keys, k.ID) })
	tx.txn.Delete([]byte(keyUse + k.ID))
}

// PutPolicy adds a managed policy or replaces the one with its ARN.
func (tx *Tx) PutPolicy(m *Managed) {
	arn := m.ARN()
	tx.set(keyPolicy+arn, m, func() { tx.d.managed[arn] = m })
}

// DeletePolicy removes a managed policy.
func (tx *Tx) DeletePolicy(m *Managed) {
	arn := m.ARN()
	tx.delete(keyPolicy+arn, func() { delete(tx.d.managed, arn) })
}

// SetAlias gives an account an alias, or takes it with "".
func (tx *Tx) SetAlias(account, alias string) {
	if alias == "" {
		tx.delete(keyAlias+account, func() { delete(tx.d.aliases, account) })
		return
	}
	tx.set(keyAlias+account, alias, func() { tx.d.aliases[account] = alias })
}

// encode is for values of this package, all of which have a JSON form.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
