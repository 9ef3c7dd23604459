package control

import (
	"context"

	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// Rows keeps in memory the records of a table that is the only one below its prefix, in the order of their keys. For
// other tables there is Set. Its methods are safe for concurrent use.
type Rows[K comparable, V any] struct{ set *Set[rows[K, V]] }

type rows[K comparable, V any] struct {
	of   map[K]*V
	keys *sortedlist.List[K]
}

// OpenRows reads the records of a table from the control store, and follows their changes. It is not a method of the
// table, because the program would then contain it for all tables.
func OpenRows[K comparable, V any](
	t *Table[K, V], order func(a, b K) int, c *Control, f Formats,
) (Rows[K, V], error) {
	r := Rows[K, V]{NewSet(SetOptions[rows[K, V]]{Control: c, Prefix: t.Prefix, Formats: f, New: alone(t, order)})}
	return r, r.set.Register()
}

// CheckRows reads the records of a table that is the only one below its prefix, without changing them, and returns the
// problems found. An error means that the store could not be read.
func CheckRows[K comparable, V any](t *Table[K, V], s *store.Store) (problems []string, err error) {
	unordered := func(_, _ K) int { return 0 } // no range is read
	_, err = Check(s, t.Prefix, alone(t, unordered), func(_ string, bad error) {
		problems = append(problems, bad.Error())
	})
	return problems, err
}

// alone returns a function that makes rows, and the table as the only kind of records.
func alone[K comparable, V any](t *Table[K, V], order func(a, b K) int) func() (*rows[K, V], Kinds) {
	return func() (*rows[K, V], Kinds) {
		r := &rows[K, V]{keys: sortedlist.New(order)}
		return r, Kinds{t.Into(&r.of, r.sort)}
	}
}

// sort keeps the keys in order.
func (r *rows[K, V]) sort(k K, _, is *V) error {
	if is == nil {
		r.keys.Delete(k)
	} else {
		r.keys.Put(k)
	}
	return nil
}

// Change makes a change; see Set.Change.
func (r Rows[K, V]) Change(ctx context.Context, f func(*Tx) error) error { return r.set.Change(ctx, f) }

// Get returns the row of a key, which the caller must not change, or nil if there is none.
func (r Rows[K, V]) Get(k K) *V {
	rows := r.set.RLock()
	defer r.set.RUnlock()
	return rows.of[k]
}

// Range returns the rows from a key on, in order, up to the first whose key is not in the range.
func (r Rows[K, V]) Range(from K, in func(K) bool) (out []*V) {
	rows := r.set.RLock()
	defer r.set.RUnlock()
	for k := range rows.keys.Range(from, in) {
		out = append(out, rows.of[k])
	}
	return out
}
