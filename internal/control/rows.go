package control

import (
	"context"

	"github.com/sluicemq/sluice/internal/store"
)

// Rows keeps in memory the records of a table that is the only one below its prefix, and needs no index. For other
// tables there is Set. Its methods are safe for concurrent use.
type Rows[K comparable, V any] struct{ set *Set[map[K]*V] }

// OpenRows reads the records of a table from the control store, and follows their changes. It is not a method of the
// table, because the program would then contain it for all tables.
func OpenRows[K comparable, V any](t *Table[K, V], c *Control, f Formats) (Rows[K, V], error) {
	r := Rows[K, V]{NewSet(SetOptions[map[K]*V]{Control: c, Prefix: t.Prefix, Formats: f, New: alone(t)})}
	return r, r.set.Register()
}

// CheckRows reads the records of a table that is the only one below its prefix, without changing them, and returns the
// problems found. An error means that the store could not be read.
func CheckRows[K comparable, V any](t *Table[K, V], s *store.Store) (problems []string, err error) {
	_, err = Check(s, t.Prefix, alone(t), func(_ string, bad error) { problems = append(problems, bad.Error()) })
	return problems, err
}

// alone returns a function that makes rows, and the table as the only kind of records.
func alone[K comparable, V any](t *Table[K, V]) func() (*map[K]*V, Kinds) {
	return func() (*map[K]*V, Kinds) {
		rows := new(map[K]*V)
		return rows, Kinds{t.Into(rows)}
	}
}

// Change makes a change; see Set.Change.
func (r Rows[K, V]) Change(ctx context.Context, f func(*Tx) error) error { return r.set.Change(ctx, f) }

// Get returns the row of a key, which the caller must not change, or nil if there is none.
func (r Rows[K, V]) Get(k K) *V {
	rows := r.set.RLock()
	defer r.set.RUnlock()
	return (*rows)[k]
}

// Where returns the rows for which keep reports true, in no particular order.
func (r Rows[K, V]) Where(keep func(*V) bool) []*V {
	rows := r.set.RLock()
	defer r.set.RUnlock()
	return Where(*rows, keep)
}

// Count returns how many keys are in a set.
func (r Rows[K, V]) Count(in func(K) bool) (n int) {
	rows := r.set.RLock()
	defer r.set.RUnlock()
	for k := range *rows {
		if in(k) {
			n++
		}
	}
	return n
}
