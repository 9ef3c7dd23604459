package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/store"
)

// Readers of a closing store get the stored values, or ErrClosed. A read within a read does not prevent the store from
// closing.
func TestReadsWhileTheStoreIsClosed(t *testing.T) {
	t.Parallel()
	s, err := store.Open("store", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	tx := s.Begin()
	for i := range 100 {
		tx.Set(fmt.Appendf(nil, "k%02d", i), []byte("v"))
	}
	if err := s.Commit(tx); err != nil {
		t.Fatal(err)
	}
	tx.Release()
	get := func(key []byte) error {
		v, err := s.Get(key)
		if err == nil && string(v) != "v" {
			err = fmt.Errorf("%s is %q", key, v)
		}
		return err
	}
	reads := map[string]func() error{
		"Get": func() error { return get([]byte("k50")) },
		"Scan": func() error {
			var inner error
			err := s.Scan([]byte("k"), []byte("l"), func(k, _ []byte) bool { inner = get(k); return inner == nil })
			return errors.Join(err, inner)
		},
		"Reader": func() error {
			r := s.Reader()
			defer r.Close()
			_, err := r.Get([]byte("k50"))
			return errors.Join(err, r.Scan([]byte("k"), []byte("l"), func(_, _ []byte) bool { return true }))
		},
		"DiskUse": func() error { _, err := s.DiskUse([]byte("k"), []byte("l")); return err },
	}
	var begun, ended sync.WaitGroup
	for name, read := range reads {
		begun.Add(1)
		ended.Go(func() {
			for first := true; ; first = false {
				err := read()
				if first {
					begun.Done()
				}
				if err != nil {
					if !errors.Is(err, store.ErrClosed) {
						t.Errorf("%s: %v", name, err)
					}
					return
				}
			}
		})
	}
	begun.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	ended.Wait()
}
