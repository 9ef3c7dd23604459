package directory

import (
	"context"

	"github.com/sluicemq/sluice/internal/control"
)

// Tx is a change in progress. It collects records; the directory's answers are unchanged until the change is durable.
type Tx struct{ tx *control.Tx }

// Change makes a change of several records, all or none. f decides about it: it
// reads the directory, which does not change meanwhile; see
// control.Control.Change.
func (d *Directory) Change(ctx context.Context, f func(*Tx) error) error {
	return d.control.Change(ctx, func(tx *control.Tx) error { return f(&Tx{tx}) })
}

// PutEntity adds an entity or replaces the one with its id.
func (tx *Tx) PutEntity(e *Entity) { entityTable.Put(tx.tx, e.ID, e) }

// DeleteEntity removes an entity.
func (tx *Tx) DeleteEntity(e *Entity) {
	entityTable.Delete(tx.tx, e.ID)
	useTable.Delete(tx.tx, e.ID)
}

// PutKey adds an access key or replaces the one with its id.
func (tx *Tx) PutKey(k *Key) { keyTable.Put(tx.tx, k.ID, k) }

// DeleteKey removes an access key.
func (tx *Tx) DeleteKey(k *Key) {
	keyTable.Delete(tx.tx, k.ID)
	useTable.Delete(tx.tx, k.ID)
}

// PutPolicy adds a managed policy or replaces the one with its ARN.
func (tx *Tx) PutPolicy(m *Managed) { policyTable.Put(tx.tx, m.ARN(), m) }

// DeletePolicy removes a managed policy.
func (tx *Tx) DeletePolicy(m *Managed) { policyTable.Delete(tx.tx, m.ARN()) }

// SetAlias sets the alias of an account, or removes it with "".
func (tx *Tx) SetAlias(account, alias string) {
	if alias == "" {
		aliasTable.Delete(tx.tx, account)
		return
	}
	aliasTable.Put(tx.tx, account, &alias)
}
