package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/sluicemq/sluice/internal/store"
)

// applyTo makes the change of position p of an imaginary log: it sets its own key, and one that all changes share.
func applyTo(t *testing.T, s *store.Store, p uint64) {
	t.Helper()
	other := memory(t) // the epoch that wrote the log
	tx := other.Begin()
	defer tx.Release()
	tx.Set(fmt.Appendf(nil, "k%06d", p), []byte(strings.Repeat("v", int(p*7919%100_000))))
	tx.Set([]byte("last"), fmt.Append(nil, p))
	m := store.Mark{Position: p, Epoch: 1 + p/10, Hash: p * p, Owner: "node"}
	if err := s.Apply(tx.Bytes(), m); err != nil {
		t.Fatal(err)
	}
	if s.Mark() != m {
		t.Fatalf("the mark is %+v after %+v was applied", s.Mark(), m)
	}
}

// isFold checks that a store is exactly the result of the records up to its mark, and returns the mark.
func isFold(t *testing.T, s *store.Store) uint64 {
	t.Helper()
	m := s.Mark()
	p := m.Position
	if want := (store.Mark{Position: p, Epoch: 1 + p/10, Hash: p * p, Owner: "node"}); p > 0 && m != want {
		t.Errorf("the mark is %+v, want %+v", m, want)
	}
	n := uint64(0)
	err := s.Scan([]byte{0}, []byte{0xff}, func(k, v []byte) bool {
		switch {
		case string(k) == "last" && string(v) == fmt.Sprint(p):
		case string(k) == fmt.Sprintf("k%06d", n+1):
			n++
		default:
			t.Errorf("at position %d there is %q", p, k)
		}
		return true
	})
	if err != nil || n != p {
		t.Errorf("at position %d there are %d records, %v", p, n, err)
	}
	return p
}

// The power fails at any moment at which a store changes its files. Afterwards the store is at an earlier position, but
// not before the last flush.
func TestExternalStoreIsAlwaysAtAPosition(t *testing.T) {
	const sittings = 4
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 6))
		disk := vfs.NewCrashableMem()
		least, p := uint64(0), uint64(0)
		for sitting := range sittings {
			at := int64(1 + rng.IntN(60))
			if rng.IntN(2) == 0 {
				at += int64(rng.IntN(150))
			}
			percent := []int{0, 100, rng.IntN(101)}[rng.IntN(3)]
			var operations atomic.Int64
			var known, durable atomic.Uint64
			known.Store(least)
			var after *vfs.MemFS
			off := make(chan struct{})
			fs := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && operations.Add(1) == at {
					durable.Store(known.Load())
					after = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
					close(off)
				}
				return nil
			}))
			s := open(t, "db", store.Options{FS: fs, External: true})
			if p = isFold(t, s); p < least {
				t.Fatalf("seed %d, sitting %d: at position %d, and %d was durable", seed, sitting, p, least)
			}
			work := rand.New(rand.NewPCG(seed, uint64(sitting)))
			for range work.IntN(8) {
				p++
				applyTo(t, s, p)
				if work.IntN(4) == 0 {
					if err := s.Flush(); err != nil {
						t.Fatal(err)
					}
					if m, err := s.Durable(); err != nil || m.Position != p {
						t.Fatalf("after a flush at %d the store is durable up to %d, %v", p, m.Position, err)
					}
				}
				m, err := s.Durable()
				if err != nil {
					t.Fatal(err)
				}
				known.Store(m.Position)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-off:
			default:
				after = disk // it was closed gracefully
				durable.Store(p)
			}
			disk, least = after, durable.Load()
		}
	}
}

func TestExternalStoreIsChangedByItsLogOnly(t *testing.T) {
	s := open(t, "db", store.Options{FS: vfs.NewMem(), External: true})
	defer func() { _ = s.Close() }()
	if empty, err := s.Empty(); err != nil || !empty {
		t.Errorf("a new store reports empty: %v, %v", empty, err)
	}
	tx := s.Begin()
	defer tx.Release()
	tx.Set([]byte("k"), []byte("v"))
	if err := s.Commit(tx); !errors.Is(err, store.ErrExternal) {
		t.Errorf("a commit gave %v", err)
	}
	if err := s.CommitAt(tx, store.Mark{Position: 1}); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Get([]byte("k")); err != nil || string(v) != "v" {
		t.Errorf("got %q, %v", v, err)
	}
	if m, err := s.Durable(); err != nil || m != (store.Mark{}) {
		t.Errorf("without a flush, durable are %+v, %v", m, err)
	}
	if err := s.Apply([]byte("not the bytes of a transaction"), store.Mark{
		Position: 2,
	}); !errors.Is(err, store.ErrNoBatch) {
		t.Errorf("invalid changes were applied: %v", err)
	}
	if s.Mark().Position != 1 {
		t.Errorf("the mark is %+v", s.Mark())
	}
	if empty, err := s.Empty(); err != nil || empty {
		t.Errorf("a store with a key reports empty: %v, %v", empty, err)
	}
}

// A store with its own log switches to an external one, and back. Transactions that were committed in either mode
// survive, whenever the power fails.
func TestLogMovesOutAndIn(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		disk := vfs.NewCrashableMem()
		n, position := 0, uint64(0)
		check := func(s *store.Store, external bool, least int, leastPosition uint64) {
			t.Helper()
			got := 0
			for ; ; got++ {
				v, err := s.Get(fmt.Appendf(nil, "own%06d", got))
				if err != nil {
					t.Fatal(err)
				}
				if v == nil {
					break
				}
			}
			if got < least {
				t.Fatalf("seed %d: %d of %d commits are there", seed, got, least)
			}
			n = got
			if m := s.Mark(); !external && m != (store.Mark{}) || external && m.Position < leastPosition {
				t.Fatalf("seed %d: the mark is %+v, external %v; %d was durable", seed, m, external, leastPosition)
			}
			position = s.Mark().Position
		}
		durable, flushed := 0, uint64(0)
		for range 6 {
			external := rng.IntN(2) == 0
			if !external {
				flushed = 0
			}
			s := open(t, "db", store.Options{FS: disk, External: external})
			check(s, external, durable, flushed)
			for range rng.IntN(5) {
				if external {
					position++
					if err := s.Apply(nil, store.Mark{Position: position}); err != nil {
						t.Fatal(err)
					}
					continue
				}
				set(t, s, fmt.Sprintf("own%06d", n), strings.Repeat("x", rng.IntN(50_000)))
				n++
				durable = n
			}
			if rng.IntN(2) == 0 {
				if err := s.Flush(); err != nil {
					t.Fatal(err)
				}
				flushed = position
			}
			after := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(2) == 0 {
				disk = after
			} else {
				flushed = position
			}
		}
	}
}

func TestMarkIsOutOfTheWay(t *testing.T) {
	s := open(t, "db", store.Options{FS: vfs.NewMem(), External: true})
	defer func() { _ = s.Close() }()
	if err := s.Apply(nil, store.Mark{Position: 9}); err != nil {
		t.Fatal(err)
	}
	// A scan does not return the mark.
	err := s.Scan(nil, bytes.Repeat([]byte{0xff}, 8), func(k, _ []byte) bool {
		t.Errorf("a scan found %q", k)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}
