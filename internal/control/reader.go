package control

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sluicemq/sluice/internal/store"
)

// Reader keeps in memory what the control store has under a prefix. It learns
// one thing at a time, and takes it in at once as far as others can see. Values
// are valid during the call only, and a call must not change the control store,
// nor wait for a change of it.
type Reader interface {
	// Load replaces all that the reader has by these records, which come in the
	// order of their keys.
	Load(records iter.Seq2[string, []byte]) error
	// Apply takes in the changes of one batch, in their order. The reader may have some of them already.
	Apply(changes []Change) error
}

// Change is what a batch has done to one key.
type Change struct {
	Key     string
	Value   []byte
	Removed bool // and has no value
}

type registration struct {
	prefix string
	reader Reader
}

// readerOf returns whose a key is, or -1.
func (c *Control) readerOf(key string) int {
	best := -1
	for i, r := range c.readers {
		if strings.HasPrefix(key, r.prefix) && (best < 0 || len(r.prefix) > len(c.readers[best].prefix)) {
			best = i
		}
	}
	return best
}

// load has a reader read what is in the store.
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

// isRecord tells records from keys that replication keeps in the store.
func isRecord(key []byte) bool { return len(key) > 0 && key[0] != 0 && key[0] != 0xff }
