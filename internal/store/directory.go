package store

import (
	"errors"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// orderedFS is a file system in which a new MANIFEST is in its directory for
// good before anything else is. Pebble makes the MANIFEST and then a marker that
// names it, and syncs the directory once for both; a file system that does not
// keep the order of such changes could keep the marker and lose the MANIFEST.
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

// Unwrap is how Pebble gets at what is below.
func (fs orderedFS) Unwrap() vfs.FS { return fs.FS }
