// Package storetest opens stores for the tests of packages that keep records.
package storetest

import (
	"testing"

	"github.com/sluicemq/sluice/internal/store"
)

// Memory returns an empty store in memory, which is closed when the test ends.
func Memory(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
