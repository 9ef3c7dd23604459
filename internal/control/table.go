package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicemq/sluice/internal/store"
)

// Table declares a kind of record: where its records are in the control store, and how they are read and written. K
// is what a record is found by, V is what memory has of it.
//
// A Table holds no records. Into gives them a place in memory, which a Set fills.
type Table[K comparable, V any] struct {
	// Prefix begins the keys of all records of the table, and of no others.
	Prefix string
	// Key says how a K stands behind Prefix.
	Key Key[K]
	// Format is what a program has to read that reads the table, one of package formats; 0: every program reads it.
	Format int
	// Read reads a value, which is valid during the call only. Nil reads JSON.
	Read func(k K, value []byte) (*V, error)
	// Write makes what Read reads. Nil writes JSON.
	Write func(*V) []byte
}

// ErrUnknown says that a key is one of no table.
var ErrUnknown = errors.New("unknown key, written by a newer program")

// KeyOf returns the key of a record.
func (t *Table[K, V]) KeyOf(k K) string { return t.Prefix + t.Key.Text(k) }

// Get returns a record as a change leaves it, or nil if there is none. A Set has the records in memory.
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

// Delete removes a record, present or not.
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

// Encode returns the JSON of a value that has one: of a record, whose type is declared here and not by a client. It
// panics if there is none.
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// Key says how a K stands in the key of a record.
type Key[K any] struct {
	Text  func(K) string
	Parse func(string) (K, error) // its error says that a newer program has written the key
}

// Text is the Key of what stands there as it is.
var Text = Key[string]{
	Text:  func(s string) string { return s },
	Parse: func(s string) (string, error) { return s, nil },
}

// Alone is the Key of the only record of a table: Prefix is its whole key.
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

// JSON returns the Key of what stands there as JSON.
func JSON[K any]() Key[K] {
	return Key[K]{
		Text: func(k K) string { return string(Encode(k)) },
		Parse: func(s string) (k K, err error) {
			err = json.Unmarshal([]byte(s), &k)
			return k, err
		},
	}
}

// Hook learns that a record is another one: old is nil if there was none, is is nil if it was removed. It keeps what is
// derived from the records, in the same R of a Set as the rows, and of a new record what is not stored. It is called
// before the rows have the record, with the Set's lock held if the R is in use. Its error refuses the record; a removal
// cannot be refused.
type Hook[K comparable, V any] func(k K, old, is *V) error

// Into makes rows, and returns how the records of the table get there. Each hook learns of each record.
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

// Put takes in a record. Its error begins with the key.
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

// Apply takes in a change. It ignores the removal of a record that it does not know: a newer program removes records of
// its own kinds, too, where there may be none.
func (all Kinds) Apply(ch Change) error {
	if !ch.Removed {
		return all.Put(ch.Key, ch.Value)
	}
	if t := all.of(ch.Key); t != nil {
		t.remove(ch.Key)
	}
	return nil
}

// Where returns the rows for which keep is true, in no order.
func Where[K comparable, V any](rows map[K]*V, keep func(*V) bool) (out []*V) {
	for _, v := range rows {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}
