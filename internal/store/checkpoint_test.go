package store_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/sluicemq/sluice/internal/store"
)

// transfer copies a checkpoint and its contents to their destination.
func transfer(t *testing.T, c *store.Checkpoint, in *store.Incoming) []store.File {
	t.Helper()
	files, err := c.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for at := int64(0); at < f.Size || at == 0; {
			data, err := c.ReadAt(f.Name, at, 1000)
			if err != nil {
				t.Fatal(err)
			}
			if err := in.WriteAt(f.Name, at, data); err != nil {
				t.Fatal(err)
			}
			at += max(1, int64(len(data)))
		}
		a, errA := c.Sum(f.Name)
		b, errB := in.Sum(f.Name)
		if errA != nil || errB != nil || a != b {
			t.Fatalf("%s is %x, %v there and %x, %v here", f.Name, a, errA, b, errB)
		}
	}
	return files
}

// A checkpoint of another store replaces a store. Whenever the power fails, the store is the old one or the new one,
// and the new one once Install has returned.
func TestStoreIsReplacedAsAWhole(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 8))
		source := open(t, "db", store.Options{FS: vfs.NewMem(), External: true})
		for p := range uint64(5) {
			applyTo(t, source, p+1)
		}
		checkpoint, err := source.Checkpoint("checkpoint")
		if err != nil {
			t.Fatal(err)
		}
		applyTo(t, source, 6) // is not in it

		crashable := vfs.NewCrashableMem()
		var after *vfs.MemFS
		var operations atomic.Int64
		var armed atomic.Bool
		at := int64(1 + rng.IntN(60))
		percent := rng.IntN(101)
		disk := store.NewDisk(errorfs.Wrap(crashable, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if armed.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && operations.Add(1) == at {
				after = crashable.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
			}
			return nil
		})), nil)
		s := open(t, "db", store.Options{Disk: disk, External: true})
		applyTo(t, s, 1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		armed.Store(true)
		in, err := store.Receive(disk, "db")
		if err != nil {
			t.Fatal(err)
		}
		if err := in.WriteAt("of-another", 0, []byte("checkpoint")); err != nil {
			t.Fatal(err)
		}
		if err := in.Reset(); err != nil {
			t.Fatal(err)
		}
		if err := in.Complete(transfer(t, checkpoint, in)); err != nil {
			t.Fatal(err)
		}
		if err := store.Install(disk, "db"); err != nil {
			t.Fatal(err)
		}
		armed.Store(false)

		installed := after == nil
		if installed {
			after = crashable.CrashClone(vfs.CrashCloneCfg{})
		}
		disk = store.NewDisk(after, nil)
		if err := store.Install(disk, "db"); err != nil {
			t.Fatal(err)
		}
		s = open(t, "db", store.Options{Disk: disk, External: true})
		if p := isFold(t, s); p != 5 && (installed || p != 1) {
			t.Errorf("seed %d: the store is at %d, installed %v", seed, p, installed)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := checkpoint.Remove(); err != nil {
			t.Fatal(err)
		}
		if err := source.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestIncompleteCheckpointIsRefused(t *testing.T) {
	source := open(t, "db", store.Options{FS: vfs.NewMem(), External: true})
	defer func() { _ = source.Close() }()
	applyTo(t, source, 1)
	c, err := source.Checkpoint("checkpoint")
	if err != nil {
		t.Fatal(err)
	}
	disk := store.NewDisk(vfs.NewMem(), nil)
	in, err := store.Receive(disk, "db")
	if err != nil {
		t.Fatal(err)
	}
	files := transfer(t, c, in)
	if err := in.Complete(append(files, store.File{Name: "missing"})); err == nil {
		t.Error("a checkpoint with a missing file is accepted")
	}
	files[0].Size++
	if err := in.Complete(files); err == nil {
		t.Error("a checkpoint with a short file is accepted")
	}
	for _, name := range []string{"../elsewhere", "/etc/passwd", "", ".", `a\b`} {
		if err := in.WriteAt(name, 0, nil); err == nil {
			t.Errorf("%q was written", name)
		}
		if _, err := c.ReadAt(name, 0, 10); err == nil {
			t.Errorf("%q was read", name)
		}
	}
	if err := store.RemoveCheckpoints(store.NewDisk(nil, nil), t.TempDir()+"/nothing/check"); err != nil {
		t.Error(err)
	}
}
