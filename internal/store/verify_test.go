package store_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/sluicemq/sluice/internal/store"
)

// disk is a directory of files that can be damaged.
type disk map[string][]byte

// image copies a store's files without closing it.
func image(t *testing.T, fs vfs.FS) disk {
	t.Helper()
	names, err := fs.List("db")
	if err != nil {
		t.Fatal(err)
	}
	d := make(disk)
	for _, name := range names {
		f, err := fs.Open("db/" + name)
		if errors.Is(err, os.ErrNotExist) {
			continue // superfluous, and removed meanwhile
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(f)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		d[name] = text
	}
	return d
}

// with returns a file system with the files of d, one of them changed.
func (d disk) with(t *testing.T, name string, text []byte) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll("db", 0o700); err != nil {
		t.Fatal(err)
	}
	for n, content := range d {
		if n == name {
			content = text
		}
		f, err := fs.Create("db/"+n, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Write(slices.Clone(content))
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

// files returns the names that match a pattern, in order.
func (d disk) files(pattern string) []string {
	var out []string
	for name := range d {
		if ok, _ := path.Match(pattern, name); ok {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// fill commits n transactions, each with a value of up to size bytes, and
// returns where in the newest log the last one begins.
func fill(t *testing.T, fs vfs.FS, s *store.Store, from, n, size int, rng *rand.Rand) (last int) {
	t.Helper()
	value := make([]byte, size)
	before, length := "", 0
	for i := range n {
		for at := range value {
			value[at] = byte(rng.Uint32())
		}
		set(t, s, fmt.Sprintf("k%06d", from+i), string(value[:rng.IntN(size)]))
		names, err := fs.List("db")
		if err != nil {
			t.Fatal(err)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".log") })
		newest := slices.Max(names)
		info, err := fs.Stat("db/" + newest)
		if err != nil {
			t.Fatal(err)
		}
		if last = length; newest != before {
			last = 0
		}
		before, length = newest, int(info.Size())
	}
	return last
}

// missing opens the store and returns how many of the first n keys are missing, or an error.
func missing(t *testing.T, fs vfs.FS, n int) (int, error) {
	t.Helper()
	if _, err := store.Verify(fs, "db"); err != nil {
		return 0, err // as Open would report, only sooner
	}
	s, err := store.Open("db", store.Options{FS: fs})
	if err != nil {
		return 0, err
	}
	absent := 0
	for i := range n {
		v, err := s.Get(fmt.Appendf(nil, "k%06d", i))
		if err != nil {
			return 0, errors.Join(err, s.Close())
		}
		if v == nil {
			absent++
		}
	}
	return absent, s.Close()
}

// ways are the ways in which a file is damaged from some byte on. They return where it is sound again.
var ways = map[string]func(text []byte, at int) int{
	"a bit flips":      func(text []byte, at int) int { text[at] ^= 0x10; return at + 1 },
	"a sector is zero": func(text []byte, at int) int { return spoil(text, at, 512, func(b []byte) { clear(b) }) },
	"a sector is older": func(text []byte, at int) int {
		return spoil(text, at, 512,
			func(b []byte) { copy(b, text[at/2:]) })
	},
	"a block is zero": func(text []byte, at int) int { return spoil(text, at, 32<<10, func(b []byte) { clear(b) }) },
	"a block is noise": func(text []byte, at int) int {
		return spoil(text, at, 32<<10, func(b []byte) { _, _ = rand.NewChaCha8([32]byte{byte(at)}).Read(b) })
	},
}

func spoil(text []byte, at, n int, change func([]byte)) int {
	end := min(at+n, len(text))
	change(text[at:end])
	return end
}

// Wherever a log is damaged, no loss goes unnoticed, unless the damage reaches to the beginning of the last commit or,
// in a closed log, to its very end. The first log of a store has chunks of the older form.
func TestDamagedLogIsRefused(t *testing.T) {
	for _, size := range []int{10, 400, 12_000} {
		for _, sittings := range []int{1, 2} {
			t.Run(fmt.Sprintf("%d bytes, log %d", size, sittings), func(t *testing.T) {
				t.Parallel()
				rng := rand.New(rand.NewPCG(uint64(size), 1))
				fs := vfs.NewMem()
				const n = 24
				last := 0
				var s *store.Store
				for range sittings {
					if s != nil {
						if err := s.Close(); err != nil {
							t.Fatal(err)
						}
					}
					s = open(t, "db", store.Options{FS: fs})
					last = fill(t, fs, s, 0, n, size, rng)
				}
				running := image(t, fs)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				closed := image(t, fs)
				logs := running.files("*.log")
				log := logs[len(logs)-1]
				if got, err := missing(t, running.with(t, "", nil), n); got != 0 || err != nil {
					t.Fatalf("undamaged: %d are missing, %v", got, err)
				}
				trailer := len(closed[log]) - len(running[log])
				for way, spoil := range ways {
					step := 1 + len(running[log])/30
					for at := 0; at < len(running[log]); at += step {
						for _, d := range []disk{running, closed} {
							text := slices.Clone(d[log])
							end := spoil(text, at)
							got, err := missing(t, d.with(t, log, text), n)
							unknowable := end > last
							if len(text) > len(running[log]) {
								unknowable = end > len(text)-trailer
							}
							var damage *store.Damage
							switch {
							case errors.As(err, &damage):
								if !store.IsCorruption(err) || !strings.HasSuffix(damage.File, log) ||
									damage.Offset > int64(at) {
									t.Errorf("%s at %d of %d: %v", way, at, len(text), err)
								}
							case err != nil, got > 0 && !unknowable:
								t.Errorf("%s at %d of %d: %d are missing, %v", way, at, len(text), got, err)
							}
						}
					}
				}
			})
		}
	}
}

// A closed log that is not the last one must be complete.
func TestOlderLogIsWhole(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, "db", store.Options{FS: fs})
	const n = 10
	fill(t, fs, s, 0, n, 10_000, rand.New(rand.NewPCG(1, 1)))
	running := image(t, fs)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	d := image(t, fs)
	log := d.files("*.log")[0]
	d["000999.log"] = nil // begun when the first was closed
	for _, test := range []struct {
		text []byte
		well bool
	}{
		{d[log], true}, {running[log], false}, {running[log][:len(running[log])-1], false},
		{running[log][:32<<10], false}, {nil, false}, {make([]byte, 1000), false},
	} {
		got, err := missing(t, d.with(t, log, test.text), n)
		named := store.IsCorruption(err) && strings.Contains(err.Error(), log)
		if test.well && (err != nil || got > 0) || !test.well && !named {
			t.Errorf("%d of %d bytes: %d are missing, %v", len(test.text), len(d[log]), got, err)
		}
	}
}

// Wherever the MANIFEST is damaged or ends, no loss goes unnoticed.
func TestDamagedManifestIsRefused(t *testing.T) {
	for _, flush := range []int{6, 1000} {
		for _, reopen := range []int{1000, 30} {
			t.Run(fmt.Sprintf("flush every %d, reopen after %d", flush, reopen), func(t *testing.T) {
				t.Parallel()
				damageManifest(t, flush, reopen)
			})
		}
	}
}

func damageManifest(t *testing.T, flush, reopen int) {
	fs := vfs.NewMem()
	s := open(t, "db", store.Options{FS: fs})
	rng := rand.New(rand.NewPCG(2, 1))
	const n = 60
	for i := range n {
		fill(t, fs, s, i, 1, 100, rng)
		if i == reopen {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, "db", store.Options{FS: fs})
		}
		if i%flush == flush-1 && i < n-3 {
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	d := image(t, fs)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []disk{d, image(t, fs)} {
		manifests := d.files("MANIFEST-*")
		name := manifests[len(manifests)-1]
		whole := d[name]
		if got, err := missing(t, d.with(t, "", nil), n); got != 0 || err != nil {
			t.Fatalf("undamaged: %d are missing, %v", got, err)
		}
		refused := 0
		judge := func(what string, at int, text []byte) {
			t.Helper()
			got, err := missing(t, d.with(t, name, text), n)
			switch {
			case err == nil && got == 0:
			case store.IsCorruption(err):
				refused++
			default:
				t.Errorf("%s at %d of %d: %d are missing, %v", what, at, len(whole), got, err)
			}
		}
		for at := 0; at < len(whole); at += 5 {
			judge("cut", at, whole[:at])
			for way, spoil := range ways {
				text := slices.Clone(whole)
				spoil(text, at)
				judge(way, at, text)
			}
		}
		if refused == 0 {
			t.Error("nothing was refused")
		}
	}
}

// The power fails at any moment at which a store changes its files, even while it recovers from the previous failure,
// with any part of the unsynced data reaching the disk. That must never look like damage.
func TestPowerLossAtAnyMoment(t *testing.T) {
	const sittings = 4
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 5))
		disk := vfs.NewCrashableMem()
		var known atomic.Int64 // transactions that have become durable
		for sitting := range sittings {
			at := int64(1 + rng.IntN(60)) // most of them while the store opens
			if rng.IntN(2) == 0 {
				at += int64(rng.IntN(150))
			}
			percent := []int{0, 100, rng.IntN(101)}[rng.IntN(3)]
			var operations, durable atomic.Int64
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
			s := open(t, "db", store.Options{FS: fs})
			first := known.Load()
			work := rand.New(rand.NewPCG(seed, uint64(sitting)))
			value := strings.Repeat("v", 100_000)
			for i := range int64(work.IntN(8)) {
				set(t, s, fmt.Sprintf("k%06d", first+i), value[:work.IntN(len(value))])
				known.Add(1)
				if work.IntN(4) == 0 {
					if err := s.Flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-off:
			default:
				after, percent = disk, 0 // it was closed gracefully
				durable.Store(known.Load())
			}
			if got, err := missing(t, after.CrashClone(vfs.CrashCloneCfg{}), int(durable.Load())); err != nil ||
				got > 0 {
				t.Fatalf("seed %d, sitting %d, operation %d: %d of %d are missing, %v", seed, sitting, at, got,
					durable.Load(), err)
			}
			known.Store(durable.Load())
			disk = after
		}
	}
}

// The power fails during a commit, which may be larger than many blocks, with any part of it reaching the disk. Verify
// must never report that as damage.
func TestPowerLossIsNoDamage(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 3))
		fs := vfs.NewCrashableMem()
		s := open(t, "db", store.Options{FS: fs})
		size := []int{100, 10_000, 100_000, 1_000_000}[rng.IntN(4)]
		value := make([]byte, size)
		for at := range value {
			value[at] = byte(rng.Uint32())
		}
		n := 0
		for losses := 0; losses < 4; {
			done := make(chan struct{})
			go func() {
				defer close(done)
				tx := s.Begin()
				defer tx.Release()
				tx.Set(fmt.Appendf(nil, "k%06d", n), value[:rng.IntN(size)])
				if err := s.Commit(tx); err != nil {
					t.Error(err)
				}
			}()
			if rng2 := rand.New(rand.NewPCG(seed, uint64(n))); rng2.IntN(8) > 0 {
				<-done
				n++
				continue
			} else {
				losses++
				for range rng2.IntN(200) {
					select {
					case <-done:
					default:
					}
				}
				after := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng2.IntN(101), RNG: rng2})
				<-done
				n++
				got, err := missing(t, after, n-1)
				if err != nil || got > 0 {
					t.Fatalf("seed %d, commit %d: %d are missing, %v", seed, n, got, err)
				}
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
