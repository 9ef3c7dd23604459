package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// patience is longer than any event takes that these tests wait for.
const testTimeout = 30 * time.Second

// fault decides the result of an operation.
type fault func(op errorfs.Op) error

// faultyDisk is a disk with settable faults. It retries fast.
type faultyDisk struct {
	*Disk
	below *vfs.MemFS
	fault atomic.Pointer[fault]
	log   bytes.Buffer // read it only while the disk is idle
}

func newFaultyDisk() *faultyDisk {
	f := &faultyDisk{below: vfs.NewCrashableMem()}
	inject := func(op errorfs.Op) error {
		if fault := f.fault.Load(); fault != nil {
			return (*fault)(op)
		}
		return nil
	}
	f.Disk = NewDisk(errorfs.Wrap(f.below, errorfs.InjectorFunc(inject)), slog.New(slog.NewTextHandler(&f.log, nil)))
	f.retry, f.tableTimeout, f.guardTimeout = time.Millisecond, 20*time.Millisecond, 200*time.Millisecond
	return f
}

func (f *faultyDisk) set(fault fault) { f.fault.Store(&fault) }
func (f *faultyDisk) heal()           { f.fault.Store(nil) }

// durable returns the files that would remain after a loss of power.
func (f *faultyDisk) durable() *vfs.MemFS { return f.below.CrashClone(vfs.CrashCloneCfg{}) }

// on returns a fault for operations of these kinds.
func on(err error, kinds ...errorfs.OpKind) fault {
	return func(op errorfs.Op) error {
		for _, k := range kinds {
			if op.Kind == k {
				return err
			}
		}
		return nil
	}
}

// writing are the operations that a full or read-only disk refuses.
var writing = []errorfs.OpKind{
	errorfs.OpCreate, errorfs.OpLink, errorfs.OpRename, errorfs.OpReuseForWrite, errorfs.OpMkdirAll, errorfs.OpLock,
	errorfs.OpFileWrite, errorfs.OpFileWriteAt,
}

var syncing = []errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}

func (f *faultyDisk) open(t *testing.T) *Store {
	t.Helper()
	s, err := Open("db", Options{Disk: f.Disk})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(s *Store, key, value string) error {
	tx := s.Begin()
	defer tx.Release()
	tx.Set([]byte(key), []byte(value))
	return s.Commit(tx)
}

func within(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(testTimeout):
		t.Fatalf("%s: not after %s", what, testTimeout)
	}
}

func expect(t *testing.T, fs vfs.FS, keys ...string) {
	t.Helper()
	s, err := Open("db", Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, key := range keys {
		if v, err := s.Get([]byte(key)); v == nil || err != nil {
			t.Errorf("%s is lost (%v)", key, err)
		}
	}
}

func TestCommitOutlastsADiskThatRefusesWrites(t *testing.T) {
	for err, reason := range map[syscall.Errno]string{
		syscall.ENOSPC: "it is full", syscall.EDQUOT: "the quota is used up", syscall.EROFS: "it is read-only",
	} {
		t.Run(reason, func(t *testing.T) {
			d := newFaultyDisk()
			s := d.open(t)
			if err := put(s, "before", "1"); err != nil {
				t.Fatal(err)
			}
			d.set(on(err, writing...))
			before := d.Writable()
			done := make(chan error, 1)
			go func() { done <- put(s, "during", "1") }()
			within(t, "blocked", before.Blocked())
			blocked, ok := errors.AsType[*BlockedError](before.Err())
			if !ok || blocked.Reason != reason || !errors.Is(blocked, err) {
				t.Errorf("blocked by %v", before.Err())
			}
			if d.Writable().Err() == nil || d.Lifetime().Err() != nil {
				t.Errorf("now %v, permanently %v", d.Writable().Err(), d.Lifetime().Err())
			}
			select {
			case err := <-done:
				t.Errorf("the commit ends while the disk is blocked: %v", err)
			case <-time.After(20 * time.Millisecond):
			}
			d.heal()
			if err := <-done; err != nil {
				t.Errorf("the commit ends with %v", err)
			}
			expect(t, d.durable(), "before", "during")
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if err := d.Writable().Err(); err != nil {
				t.Errorf("finally %v", err)
			}
			log := d.log.String()
			if strings.Count(log, reason) == 0 || strings.Count(log, "level=ERROR") != 1 ||
				strings.Count(log, "written again") != 1 {
				t.Errorf("logged %s", log)
			}
		})
	}
}

// Whichever writes are refused, and whenever, no data is lost or mixed up.
func TestDiskThatIsOftenFull(t *testing.T) {
	for seed := range uint64(10) {
		d := newFaultyDisk()
		s := d.open(t)
		var n atomic.Uint64
		refuse := on(syscall.ENOSPC, writing...)
		d.set(func(op errorfs.Op) error {
			if rand.New(rand.NewPCG(seed, n.Add(1))).IntN(3) == 0 {
				return refuse(op)
			}
			return nil
		})
		var keys []string
		for i := range 60 {
			key := fmt.Sprintf("k%03d", i)
			if err := put(s, key, strings.Repeat(key, 1000)); err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
			if i%20 == 10 {
				if err := s.Reclaim(); err != nil { // tables are written, too
					t.Fatal(err)
				}
			}
		}
		expect(t, d.durable(), keys...)
		d.heal()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		expect(t, d.durable(), keys...)
	}
}

// halfFile writes half of the data and reports a full disk, every other time.
type halfFile struct {
	vfs.File
	turn int
}

func (f *halfFile) Write(p []byte) (int, error) {
	if f.turn++; f.turn%2 == 0 {
		return f.File.Write(p)
	}
	n, err := f.File.Write(p[:len(p)/2])
	return n, errors.Join(err, syscall.ENOSPC)
}

func TestShortWriteIsContinued(t *testing.T) {
	d := newFaultyDisk()
	below, err := d.below.Create("log", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	f := &diskFile{File: &halfFile{File: below}, disk: d.Disk}
	var want []byte
	for i := range 20 {
		part := bytes.Repeat([]byte{byte('a' + i)}, 1+i*100)
		want = append(want, part...)
		if n, err := f.Write(part); n != len(part) || err != nil {
			t.Fatalf("%d of %d bytes, %v", n, len(part), err)
		}
	}
	r, err := d.below.Open("log")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("written %q, want %q (%v)", got, want, err)
	}
}

// A table that finds no space is dropped, which frees its space for other files, and is written again later.
func TestTableIsGivenUp(t *testing.T) {
	d := newFaultyDisk()
	s := d.open(t)
	if err := put(s, "a", "1"); err != nil {
		t.Fatal(err)
	}
	removed := make(chan struct{}, 1000)
	d.set(func(op errorfs.Op) error {
		switch {
		case !isTable(op.Path):
		case op.Kind == errorfs.OpRemove:
			removed <- struct{}{}
		case op.Kind == errorfs.OpFileWrite:
			return syscall.ENOSPC
		}
		return nil
	})
	before := d.Writable()
	if err := s.Reclaim(); err != nil {
		t.Fatal(err)
	}
	within(t, "blocked", before.Blocked())
	within(t, "removal of the table", removed)
	if err := put(s, "b", "1"); err != nil {
		t.Errorf("the log has space and a commit fails: %v", err)
	}
	d.heal()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	expect(t, d.durable(), "a", "b")
}

// After a failed sync the kernel may have dropped the written data, so no later success repairs it.
func TestFailedDiskIsGivenUp(t *testing.T) {
	for name, fault := range map[string]fault{
		"sync":              on(syscall.EIO, syncing...),
		"sync without room": on(syscall.ENOSPC, syncing...),
		"write":             on(syscall.EIO, errorfs.OpFileWrite),
	} {
		t.Run(name, func(t *testing.T) {
			d := newFaultyDisk()
			s := d.open(t)
			if err := put(s, "before", "1"); err != nil {
				t.Fatal(err)
			}
			d.set(fault)
			done := make(chan error, 1)
			go func() { done <- put(s, "during", "1") }()
			within(t, "failed", d.Lifetime().Blocked())
			d.heal()
			after := d.durable()
			select {
			case err := <-done:
				t.Errorf("the commit ends with %v", err)
			case <-time.After(20 * time.Millisecond):
			}
			if err := d.Writable().Err(); err == nil || !strings.Contains(err.Error(), "a write has failed") {
				t.Errorf("the condition is %v", err)
			}
			if _, ok := errors.AsType[*BlockedError](s.Close()); !ok {
				t.Error("closed without an error")
			}
			expect(t, after, "before")
			if log := d.log.String(); strings.Count(log, "level=ERROR") != 1 {
				t.Errorf("logged %s", log)
			}
		})
	}
}

func TestCloseDoesNotWaitForABlockedDisk(t *testing.T) {
	d := newFaultyDisk()
	s := d.open(t)
	if err := put(s, "before", "1"); err != nil {
		t.Fatal(err)
	}
	d.set(on(syscall.ENOSPC, writing...))
	before := d.Writable()
	go func() { _ = put(s, "during", "1") }()
	within(t, "blocked", before.Blocked())
	if _, ok := errors.AsType[*BlockedError](s.Close()); !ok {
		t.Error("closed without an error")
	}
	if d.Lifetime().Err() == nil {
		t.Error("the disk is not given up")
	}
	d.heal()
	expect(t, d.durable(), "before")
}

func TestOpenDoesNotWaitForABlockedDisk(t *testing.T) {
	for name, errno := range map[string]syscall.Errno{"full": syscall.ENOSPC, "read-only": syscall.EROFS} {
		for _, kind := range writing {
			d := newFaultyDisk()
			if err := d.open(t).Close(); err != nil {
				t.Fatal(err)
			}
			d.Disk = NewDisk(d.fs, nil)
			d.guardTimeout = 20 * time.Millisecond
			d.set(on(errno, kind))
			s, err := Open("db", Options{Disk: d.Disk})
			blocked, ok := errors.AsType[*BlockedError](err)
			if ok && !strings.Contains(blocked.Reason, name) {
				t.Errorf("%v: %v", kind, err)
			}
			if err == nil { // it has no need for this kind
				d.heal()
				err = s.Close()
			}
			if err != nil && !ok || kind == errorfs.OpLock && !ok || errors.Is(err, ErrLocked) {
				t.Errorf("%v: %v", kind, err)
			}
		}
	}
}
