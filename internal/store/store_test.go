package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/store"
)

func open(t *testing.T, dir string, o store.Options) *store.Store {
	t.Helper()
	s, err := store.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func set(t *testing.T, s *store.Store, pairs ...string) {
	t.Helper()
	tx := s.Begin()
	defer tx.Release()
	for i := 0; i < len(pairs); i += 2 {
		tx.Set([]byte(pairs[i]), []byte(pairs[i+1]))
	}
	if err := s.Commit(tx); err != nil {
		t.Fatal(err)
	}
}

type reader interface {
	Get([]byte) ([]byte, error)
	Scan(lo, hi []byte, f func(k, v []byte) bool) error
}

func dump(t *testing.T, r reader) string {
	t.Helper()
	var b strings.Builder
	err := r.Scan([]byte("a"), []byte("z"), func(k, v []byte) bool {
		fmt.Fprintf(&b, "%s=%s ", k, v)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func TestCommittedSurvivesReopening(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, store.Options{})
	set(t, s, "a", "1", "b", "2")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, store.Options{})
	defer s.Close()
	if got := dump(t, s); got != "a=1 b=2" {
		t.Errorf("after reopening: %q", got)
	}
	if v, err := s.Get([]byte("c")); v != nil || err != nil {
		t.Errorf("absent key: %q, %v", v, err)
	}
}

func TestReader(t *testing.T) {
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	set(t, s, "a", "1", "b", "2", "bb", "22", "d", "4")
	if err := s.Reclaim(); err != nil { // some of it in a table, some not
		t.Fatal(err)
	}
	tx := s.Begin()
	defer tx.Release()
	tx.Delete([]byte("bb"))
	tx.Set([]byte("c"), []byte("3"))
	if err := s.Commit(tx); err != nil {
		t.Fatal(err)
	}
	r := s.Reader()
	defer r.Close()
	set(t, s, "a", "changed", "e", "5") // after the reader was made
	var kept [][]byte
	for _, want := range []struct{ key, value string }{
		{"a", "1"}, {"b", "2"}, {"bb", ""}, {"c", "3"}, {"cc", ""}, {"d", "4"}, {"e", ""}, {"b", "2"}, {"z", ""},
		{"a", "1"},
	} {
		v, err := r.Get([]byte(want.key))
		if err != nil || string(v) != want.value || (v == nil) != (want.value == "") {
			t.Errorf("%s is %q, %v; want %q", want.key, v, err, want.value)
		}
		kept = append(kept, v)
	}
	if got := string(bytes.Join(kept, nil)); got != "123421" {
		t.Errorf("the values have changed since they were read: %q", got)
	}
}

func TestTransactionSeesItsOwnChanges(t *testing.T) {
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	set(t, s, "b", "2", "c", "3", "d", "4", "e", "5")

	tx := s.Begin()
	tx.Set([]byte("a"), []byte("1"))
	tx.Delete([]byte("b"))
	tx.DeleteOnce([]byte("c"))
	tx.DeleteRange([]byte("d"), []byte("e"))
	if got := dump(t, tx); got != "a=1 e=5" {
		t.Errorf("inside: %q", got)
	}
	if got := dump(t, s); got != "b=2 c=3 d=4 e=5" {
		t.Errorf("outside, before the commit: %q", got)
	}
	if tx.Empty() || tx.Size() == 0 || len(tx.Bytes()) != tx.Size() {
		t.Errorf("empty %t, size %d, %d bytes", tx.Empty(), tx.Size(), len(tx.Bytes()))
	}
	if err := s.Commit(tx); err != nil {
		t.Fatal(err)
	}
	tx.Release()
	if got := dump(t, s); got != "a=1 e=5" {
		t.Errorf("after the commit: %q", got)
	}
}

func TestReleasedTransactionLeavesNothing(t *testing.T) {
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tx := s.Begin()
	tx.Set([]byte("a"), []byte("1"))
	tx.Release()
	if got := dump(t, s); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestDirectoryBelongsToOneProcess(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, store.Options{})
	defer s.Close()
	if _, err := store.Open(dir, store.Options{}); !errors.Is(err, store.ErrLocked) {
		t.Errorf("second open: %v, want ErrLocked", err)
	}
}

// The power fails after each of a number of commits, with any part of the unsynced data reaching the disk: all commits
// survive, each transaction whole or not at all. The directories above the store are new, too.
func TestPowerLoss(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 0))
		fs := vfs.NewCrashableMem()
		s := open(t, "data/shards/0001", store.Options{FS: fs})
		commits := 1 + rng.IntN(30)
		for i := range commits {
			set(t, s, fmt.Sprintf("k%03d", i), "x", fmt.Sprintf("l%03d", i), strings.Repeat("y", rng.IntN(5000)))
		}
		after := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}

		s = open(t, "data/shards/0001", store.Options{FS: after})
		for i := range commits {
			for _, key := range []string{"k", "l"} {
				if v, err := s.Get(fmt.Appendf(nil, "%s%03d", key, i)); v == nil || err != nil {
					t.Errorf("seed %d: commit %d of %d: %s is lost (%v)", seed, i, commits, key, err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTornTailIsRepaired(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "db", store.Options{FS: fs})
	set(t, s, "a", "1")
	set(t, s, "b", strings.Repeat("2", 1000))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := fs.List("db")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".log") {
			truncate(t, fs, "db/"+name, 500)
		}
	}
	s = open(t, "db", store.Options{FS: fs})
	defer s.Close()
	if got := dump(t, s); got != "a=1" {
		t.Errorf("got %q, want the commit before the torn one", got)
	}
}

func truncate(t *testing.T, fs vfs.FS, name string, drop int64) {
	t.Helper()
	f, err := fs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	kept := make([]byte, max(0, info.Size()-drop))
	if _, err := f.ReadAt(kept, 0); err != nil {
		t.Fatal(err)
	}
	f.Close()
	f, err = fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(kept); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}
