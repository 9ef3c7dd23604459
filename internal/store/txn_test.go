package store_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/sluicemq/sluice/internal/store"
)

// engineKey returns a key like the engine's: a queue's id, the letter of a table, and more.
func engineKey(queue uint64, table, more byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, queue), table, more)
}

// randomChange makes the same change in tx and in a map with the expected contents of the store.
func randomChange(r *rand.Rand, tx *store.Txn, want map[string]string) {
	const tables = "!msxkg"
	some := func() []byte {
		queue := []uint64{1, 2, 1 << 63}[r.IntN(3)]
		return engineKey(queue, tables[r.IntN(len(tables))], byte(r.IntN(4)))
	}
	key := some()
	switch r.IntN(8) {
	case 0:
		tx.Delete(key)
		delete(want, string(key))
	case 1:
		hi := some()
		if bytes.Compare(key, hi) > 0 {
			key, hi = hi, key
		}
		tx.DeleteRange(key, hi)
		for k := range want {
			if k >= string(key) && k < string(hi) {
				delete(want, k)
			}
		}
	default:
		value := string([]byte{byte(r.IntN(256))})
		tx.Set(key, []byte(value))
		want[string(key)] = value
	}
}

func sameAs(t *testing.T, r reader, want map[string]string) {
	t.Helper()
	got := make(map[string]string)
	err := r.Scan(nil, []byte{0xff}, func(k, v []byte) bool { got[string(k)] = string(v); return true })
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d keys, want %d", len(got), len(want))
	}
	for k, v := range want {
		if got[k] != v {
			t.Fatalf("key %q is %q, want %q", k, got[k], v)
		}
	}
}

func TestChangesOfManyTables(t *testing.T) {
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := rand.New(rand.NewPCG(1, 2))
	want := make(map[string]string)
	for range 500 {
		tx := s.Begin()
		changes, readAt := r.IntN(20), r.IntN(40)
		for i := range changes {
			randomChange(r, tx, want)
			if i == readAt {
				sameAs(t, tx, want)
			}
			if tx.Empty() {
				t.Fatal("a transaction with changes is empty")
			}
		}
		if size := tx.Size(); size != len(tx.Bytes()) {
			t.Fatalf("Size is %d, Bytes are %d", size, len(tx.Bytes()))
		}
		if err := s.Commit(tx); err != nil {
			t.Fatal(err)
		}
		tx.Release()
		sameAs(t, s, want)
	}
}
