package control

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sluicemq/sluice/internal/store"
)

// Reader keeps the records below a prefix of the control store in memory. Its methods are called one at a time, and
// others see the effect of a call as a whole. Values are valid only during the call. A call must not change the control
// store, nor wait for a change of it.
type Reader interface {
	// Load replaces all records of the reader by these, which are in the order of their keys.
	Load(records iter.Seq2[string, []byte]) error
	// Apply applies the changes of one batch, in their order. The reader may have applied some of them already.
	Apply(changes []Change) error
}

// Change is the change of one key by a batch.
type Change struct {
	Key     string
	Value   []byte
	Removed bool // and has no value
}

type registration struct {
	prefix string
	reader Reader
}

// readerOf returns the index of the reader that a key belongs to, or -1.
func (c *Control) readerOf(key string) int {
	best := -1
	for i, r := range c.readers {
		if strings.HasPrefix(key, r.prefix) && (best < 0 || len(r.prefix) > len(c.readers[best].prefix)) {
			best = i
		}
	}
	return best
}

// load loads a reader from the store.
func (c *Control) load(i int) error {
	r := c.readers[i]
	var failed error
	err := r.reader.Load(func(yield func(string, []byte) bool) {
		failed = Records(c.store.Load(), r.prefix, func(key string, value []byte) bool {
			return c.readerOf(key) != i || yield(key, value)
		})
	})
	if err := errors.Join(failed, err); err != nil {
		return fmt.Errorf("read the control store: %w", err)
	}
	return nil
}

// Records calls f with the records of s whose keys begin with prefix, in the order
// of their keys, until it returns false.
func Records(s *store.Store, prefix string, f func(key string, value []byte) bool) error {
	lo, hi := []byte{1}, []byte{0xff}
	if prefix != "" {
		lo, hi = []byte(prefix), []byte(prefix+"\xff")
	}
	return s.Scan(lo, hi, func(k, v []byte) bool { return f(string(k), v) })
}

// isRecord distinguishes records from the keys that replication keeps in the store.
func isRecord(key []byte) bool { return len(key) > 0 && key[0] != 0 && key[0] != 0xff }
