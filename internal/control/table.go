package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// Table declares a kind of record: where its records are in the control store, and how they are read and written. K is
// the type of keys, V the type of rows in memory.
//
// A Table holds no records. Into assigns them a place in memory, which a Set fills.
type Table[K comparable, V any] struct {
	// Prefix begins the keys of all records of the table, and of no others.
	Prefix string
	// Key converts a K to and from the text behind Prefix.
	Key Key[K]
	// Format is the format that a program needs to read the table, one of package formats. 0 means any.
	Format int
	// Read decodes a value, which is valid only during the call. A nil Read decodes JSON.
	Read func(k K, value []byte) (*V, error)
	// Write encodes a value for Read. A nil Write encodes JSON.
	Write func(*V) []byte
}

// ErrUnknown means that a key belongs to no table.
var ErrUnknown = errors.New("unknown key, written by a newer program")

// KeyOf returns the key of a record.
func (t *Table[K, V]) KeyOf(k K) string { return t.Prefix + t.Key.Text(k) }

// Get returns a record as a change leaves it, or nil if there is none. A Set has the records before the change.
func (t *Table[K, V]) Get(tx *Tx, k K) (*V, error) {
	value, err := tx.Get(t.KeyOf(k))
	if value == nil || err != nil {
		return nil, err
	}
	v, err := t.decode(k, value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.KeyOf(k), err)
	}
	return v, nil
}

// Put adds a record or replaces it.
func (t *Table[K, V]) Put(tx *Tx, k K, v *V) { tx.Put(t.KeyOf(k), t.encode(v)) }

// Delete removes a record, if it exists.
func (t *Table[K, V]) Delete(tx *Tx, k K) { tx.Delete(t.KeyOf(k)) }

// Any reports whether a store has records of the table.
func (t *Table[K, V]) Any(s *store.Store) (found bool, err error) {
	err = Records(s, t.Prefix, func(string, []byte) bool {
		found = true
		return false
	})
	return found, err
}

func (t *Table[K, V]) encode(v *V) []byte {
	if t.Write != nil {
		return t.Write(v)
	}
	return Encode(v)
}

func (t *Table[K, V]) decode(k K, value []byte) (*V, error) {
	if t.Read != nil {
		return t.Read(k, value)
	}
	v := new(V)
	return v, json.Unmarshal(value, v)
}

// Encode returns a record as JSON. It panics if the type cannot be encoded: types of records are declared in this
// program, not by clients.
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// Key converts a K to and from its text in the key of a record.
type Key[K any] struct {
	Text  func(K) string
	Parse func(string) (K, error) // its error says that a newer program has written the key
}

// Text returns the Key of a string, which is its own text.
var Text = Key[string]{
	Text:  func(s string) string { return s },
	Parse: func(s string) (string, error) { return s, nil },
}

// Alone is the Key of a table with one record: Prefix is its whole key.
var Alone = Key[struct{}]{
	Text: func(struct{}) string { return "" },
	Parse: func(s string) (struct{}, error) {
		if s != "" {
			return struct{}{}, ErrUnknown
		}
		return struct{}{}, nil
	},
}

// Only returns the record of a table whose Key is Alone, or the zero value if there is none.
func Only[V any](rows map[struct{}]*V) (v V) {
	if is := rows[struct{}{}]; is != nil {
		return *is
	}
	return v
}

// JSON returns the Key of a K whose text is JSON.
func JSON[K any]() Key[K] {
	return Key[K]{
		Text: func(k K) string { return string(Encode(k)) },
		Parse: func(s string) (k K, err error) {
			err = json.Unmarshal([]byte(s), &k)
			return k, err
		},
	}
}

// Hook receives each change of a record: old is nil if the record is new, is is nil if it was removed. It maintains
// what is derived from the records, in the same R of a Set as the rows, and sets fields of a new record that are not
// stored. It is called before the rows have the record, with the Set's lock held if the R is in use. An error refuses
// the record. A removal cannot be refused.
type Hook[K comparable, V any] func(k K, old, is *V) error

// Into makes rows, and returns the Kind that fills them with the records of the table. Each hook is called for each
// record.
func (t *Table[K, V]) Into(rows *map[K]*V, hooks ...Hook[K, V]) Kind {
	*rows = make(map[K]*V)
	return &kind[K, V]{Table: t, rows: *rows, hooks: hooks}
}

// Kind is a table with a place for its rows.
type Kind interface {
	has(key string) bool
	format() int
	put(key string, value []byte) error
	remove(key string)
	len() int
}

// Kinds are the tables of a Set.
type Kinds []Kind

type kind[K comparable, V any] struct {
	*Table[K, V]
	rows  map[K]*V
	hooks []Hook[K, V]
}

func (t *kind[K, V]) has(key string) bool { return strings.HasPrefix(key, t.Prefix) }
func (t *kind[K, V]) format() int         { return t.Format }
func (t *kind[K, V]) len() int            { return len(t.rows) }

func (t *kind[K, V]) put(key string, value []byte) error {
	k, err := t.Key.Parse(key[len(t.Prefix):])
	if err != nil {
		return err
	}
	v, err := t.decode(k, value)
	if err != nil {
		return err
	}
	if err := t.tell(k, t.rows[k], v); err != nil {
		return err
	}
	t.rows[k] = v
	return nil
}

func (t *kind[K, V]) remove(key string) {
	k, err := t.Key.Parse(key[len(t.Prefix):])
	old := t.rows[k]
	if err != nil || old == nil {
		return // it was not taken in
	}
	delete(t.rows, k)
	_ = t.tell(k, old, nil) // nothing is refused
}

func (t *kind[K, V]) tell(k K, old, is *V) error {
	for _, f := range t.hooks {
		if err := f(k, old, is); err != nil {
			return err
		}
	}
	return nil
}

// of returns the table that a key belongs to, or nil.
func (all Kinds) of(key string) Kind {
	for _, t := range all {
		if t.has(key) {
			return t
		}
	}
	return nil
}

// Put adds or replaces a row. The error begins with the key.
func (all Kinds) Put(key string, value []byte) error {
	t, err := all.of(key), ErrUnknown
	if t != nil {
		err = t.put(key, value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// Apply applies a change. It ignores the removal of an unknown record: newer programs also remove records of kinds that
// this program does not know.
func (all Kinds) Apply(ch Change) error {
	if !ch.Removed {
		return all.Put(ch.Key, ch.Value)
	}
	if t := all.of(ch.Key); t != nil {
		t.remove(ch.Key)
	}
	return nil
}

// Where returns the rows for which keep returns true, in no particular order.
func Where[K comparable, V any](rows map[K]*V, keep func(*V) bool) (out []*V) {
	for _, v := range rows {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

// InOrder returns the hook that keeps the rows of a table in a sorted list.
func InOrder[K comparable, V any](list *sortedlist.List[*V]) Hook[K, V] {
	return func(_ K, old, is *V) error {
		if old != nil {
			list.Delete(old)
		}
		if is != nil {
			list.Put(is)
		}
		return nil
	}
}
