package store

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// orderedFS is a file system that makes a new MANIFEST durable in its directory before any later change. Pebble creates
// the MANIFEST and then a marker that names it, and syncs the directory once for both. A file system that does not keep
// the order of such changes could keep the marker and lose the MANIFEST.
type orderedFS struct{ vfs.FS }

func (fs orderedFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := fs.FS.Create(name, c)
	if err != nil || !strings.HasPrefix(fs.PathBase(name), "MANIFEST-") {
		return f, err
	}
	if err := syncDir(fs.FS, fs.PathDir(name)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Unwrap returns the file system below, for Pebble.
func (fs orderedFS) Unwrap() vfs.FS { return fs.FS }

// frozenFS is a file system that refuses all changes.
type frozenFS struct{ vfs.FS }

var errFrozen = errors.New("the store was opened to be read only")

// Create and the following methods refuse changes.
func (frozenFS) Create(string, vfs.DiskWriteCategory) (vfs.File, error) { return nil, errFrozen }
func (frozenFS) Link(string, string) error                              { return errFrozen }
func (frozenFS) Remove(string) error                                    { return errFrozen }
func (frozenFS) RemoveAll(string) error                                 { return errFrozen }
func (frozenFS) Rename(string, string) error                            { return errFrozen }
func (frozenFS) MkdirAll(string, os.FileMode) error                     { return errFrozen }
func (frozenFS) OpenReadWrite(string, vfs.DiskWriteCategory, ...vfs.OpenOption) (vfs.File, error) {
	return nil, errFrozen
}
func (frozenFS) ReuseForWrite(string, string, vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, errFrozen
}

// Lock locks an existing file. If there is none, no server has ever run, and on a read-only medium none can be running.
func (fs frozenFS) Lock(name string) (io.Closer, error) {
	if _, err := fs.Stat(name); errors.Is(err, os.ErrNotExist) {
		return io.NopCloser(nil), nil
	}
	lock, err := fs.FS.Lock(name)
	if errors.Is(err, syscall.EROFS) {
		return io.NopCloser(nil), nil
	}
	return lock, err
}

// Unwrap returns the file system below, for Pebble.
func (fs frozenFS) Unwrap() vfs.FS { return fs.FS }
