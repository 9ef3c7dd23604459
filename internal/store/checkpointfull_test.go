package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// A disk that becomes full during a checkpoint ends the checkpoint, not the store.
func TestCheckpointOnAFullDisk(t *testing.T) {
	for _, kind := range writing {
		d := newFaultyDisk()
		s := d.open(t)
		if err := put(s, "before", "1"); err != nil {
			t.Fatal(err)
		}
		d.set(func(op errorfs.Op) error {
			if op.Kind == kind && strings.Contains(op.Path, "checkpoint") {
				return syscall.ENOSPC
			}
			return nil
		})
		_, err := s.Checkpoint("checkpoint")
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v: %v", kind, err)
		}
		d.heal()
		if err := put(s, "after", "1"); err != nil {
			t.Fatal(err)
		}
		if d.Lifetime().Err() != nil {
			t.Errorf("%v: the disk was given up", kind)
		}
		if _, err := s.Checkpoint("another"); err != nil {
			t.Errorf("%v: %v", kind, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		again, err := Open("another", Options{Disk: d.Disk})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := again.Get([]byte("after")); v == nil || err != nil {
			t.Errorf("%v: %v", kind, err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A checkpoint contains no overwritten logs, and little of the MANIFEST, however much was written.
func TestCheckpointIsSmall(t *testing.T) {
	d := newFaultyDisk()
	s := d.open(t)
	value := strings.Repeat("v", 64<<10)
	for round := range 6 {
		for i := range 20 {
			if err := put(s, fmt.Sprint("key", i), value); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		c, err := s.Checkpoint(fmt.Sprint("checkpoint", round))
		if err != nil {
			t.Fatal(err)
		}
		files, err := c.Files()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f.Name, ".log") && f.Size > 1000 {
				t.Errorf("round %d: %s has %d bytes", round, f.Name, f.Size)
			}
		}
		if _, err := Verify(s.fs, fmt.Sprint("checkpoint", round)); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
