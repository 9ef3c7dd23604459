package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

func memory(t *testing.T) *store.Store {
	t.Helper()
	s := storetest.Memory(t)
	return s
}

func describe(t *testing.T, batch []byte) (out []string, err error) {
	t.Helper()
	err = store.Changes(batch, func(c store.Change) error {
		out = append(out, fmt.Sprintf("%d %q %q %q", c.Kind, c.Key, c.Value, c.End))
		return nil
	})
	return out, err
}

func TestChangesAreThoseOfTheTransaction(t *testing.T) {
	s := memory(t)
	tx := s.Begin()
	defer tx.Release()
	if got, err := describe(t, tx.Bytes()); err != nil || got != nil {
		t.Errorf("of an empty transaction: %q, %v", got, err)
	}
	long := bytes.Repeat([]byte{'x'}, 300)
	tx.Set([]byte("b"), []byte("1"))
	tx.Set([]byte("e"), nil)
	tx.Delete([]byte("a"))
	tx.DeleteOnce([]byte("c"))
	tx.DeleteRange([]byte("d"), []byte("f"))
	tx.Set([]byte("b"), long)
	want := []string{
		fmt.Sprintf("%d %q %q %q", store.ChangeSet, "b", "1", ""),
		fmt.Sprintf("%d %q %q %q", store.ChangeSet, "e", "", ""),
		fmt.Sprintf("%d %q %q %q", store.ChangeDelete, "a", "", ""),
		fmt.Sprintf("%d %q %q %q", store.ChangeDeleteOnce, "c", "", ""),
		fmt.Sprintf("%d %q %q %q", store.ChangeDeleteRange, "d", "", "f"),
		fmt.Sprintf("%d %q %q %q", store.ChangeSet, "b", long, ""),
	}
	got, err := describe(t, tx.Bytes())
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	// Committed bytes begin with a sequence number.
	if err := s.Commit(tx); err != nil {
		t.Fatal(err)
	}
	if got, err := describe(t, tx.Bytes()); err != nil || !slices.Equal(got, want) {
		t.Errorf("after the commit: %q, %v", got, err)
	}

	stop := errors.New("enough")
	if err := store.Changes(tx.Bytes(), func(store.Change) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of f became %v", err)
	}
}

func FuzzChanges(f *testing.F) {
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		f.Fatal(err)
	}
	tx := s.Begin()
	tx.Set([]byte("k"), []byte("v"))
	tx.DeleteRange([]byte("k"), []byte("l"))
	whole := slices.Clone(tx.Bytes())
	tx.Release()
	for i := range whole {
		f.Add(whole[:i])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = store.Changes(b, func(store.Change) error { return nil })
	})
}

func TestChangesRefuseWhatIsCutShort(t *testing.T) {
	s := memory(t)
	tx := s.Begin()
	defer tx.Release()
	tx.Set([]byte("key"), []byte("value"))
	tx.DeleteRange([]byte("k"), []byte("l"))
	whole := tx.Bytes()
	for n := range whole {
		if _, err := describe(t, whole[:n]); !errors.Is(err, store.ErrNoBatch) {
			t.Errorf("truncated to %d of %d bytes: %v", n, len(whole), err)
		}
	}
}
