package store_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/store"
)

func TestRemovedStoreIsEmpty(t *testing.T) {
	disk := store.NewDisk(vfs.NewMem(), nil)
	exists := func(want bool) {
		t.Helper()
		if is, err := store.Exists(disk, "shards/0001"); err != nil || is != want {
			t.Errorf("the store exists: %t, %v; want %t", is, err, want)
		}
	}
	exists(false)
	for range 2 {
		s, err := store.Open("shards/0001", store.Options{Disk: disk})
		if err != nil {
			t.Fatal(err)
		}
		tx := s.Begin()
		if old, err := tx.Get([]byte("k")); err != nil || old != nil {
			t.Errorf("a removed store still has %q, %v", old, err)
		}
		tx.Set([]byte("k"), []byte("v"))
		if err := s.Commit(tx); err != nil {
			t.Fatal(err)
		}
		tx.Release()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		exists(true)
		if err := store.Remove(disk, "shards/0001"); err != nil {
			t.Fatal(err)
		}
		exists(false)
	}
	if err := store.Remove(disk, "shards/0001"); err != nil {
		t.Errorf("removed again: %v", err)
	}
}
