package directory

import (
	"context"
	"encoding/json"

	"github.com/sluicemq/sluice/internal/control"
)

// Tx is a change that is being made. It collects records; what the directory
// itself gives out is unchanged until the change is durable.
type Tx struct{ tx *control.Tx }

// Change makes a change of several records, all or none. f decides about it: it
// reads the directory, which does not change meanwhile; see
// control.Control.Change.
func (d *Directory) Change(ctx context.Context, f func(*Tx) error) error {
	return d.control.Change(ctx, func(tx *control.Tx) error { return f(&Tx{tx}) })
}

// PutEntity adds an entity or replaces the one with its id.
func (tx *Tx) PutEntity(e *Entity) { tx.tx.Put(keyEntity+e.ID, encode(e)) }

// DeleteEntity removes an entity.
func (tx *Tx) DeleteEntity(e *Entity) {
	tx.tx.Delete(keyEntity + e.ID)
	tx.tx.Delete(keyUse + e.ID)
}

// PutKey adds an access key or replaces the one with its id.
func (tx *Tx) PutKey(k *Key) { tx.tx.Put(keyKey+k.ID, encode(k)) }

// DeleteKey removes an access key.
func (tx *Tx) DeleteKey(k *Key) {
	tx.tx.Delete(keyKey + k.ID)
	tx.tx.Delete(keyUse + k.ID)
}

// PutPolicy adds a managed policy or replaces the one with its ARN.
func (tx *Tx) PutPolicy(m *Managed) { tx.tx.Put(keyPolicy+m.ARN(), encode(m)) }

// DeletePolicy removes a managed policy.
func (tx *Tx) DeletePolicy(m *Managed) { tx.tx.Delete(keyPolicy + m.ARN()) }

// SetAlias gives an account an alias, or takes it with "".
func (tx *Tx) SetAlias(account, alias string) {
	if alias == "" {
		tx.tx.Delete(keyAlias + account)
		return
	}
	tx.tx.Put(keyAlias+account, encode(alias))
}

// encode is for values of this package, all of which have a JSON form.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
