package store

import (
	"io"
	"os"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// scarce is the free space below which files are not preallocated. Pebble allocates 35 MiB for each log in advance and
// keeps five old ones for reuse: most of a small disk.
const scarce = 2 << 30

// diskFS is the file system of a Disk as Pebble sees it: one that is never full. Reads go directly to the file system
// below.
type diskFS struct {
	vfs.FS
	disk *Disk
}

func (d *Disk) vfs() vfs.FS { return &diskFS{FS: d.fs, disk: d} }

func (d *Disk) scarce(name string) bool {
	free, _, err := d.Free(name)
	return err == nil && free < scarce
}

// isTable reports whether a file is a table, which Pebble can write again.
func isTable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

// expendable reports whether the store can continue without a file: a table, or a part of a checkpoint.
func (d *Disk) expendable(name string) bool {
	if isTable(name) {
		return true
	}
	_, inside := d.checkpoints.Load(d.fs.PathDir(name))
	_, itself := d.checkpoints.Load(name)
	return inside || itself
}

// open opens a file that will be written.
func (fs *diskFS) open(name string, op func() (vfs.File, error)) (f vfs.File, err error) {
	err = fs.disk.try(fs.disk.expendable(name), func() error {
		f, err = op()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &diskFile{File: f, name: name, disk: fs.disk, table: fs.disk.expendable(name)}, nil
}

func (fs *diskFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.open(name, func() (vfs.File, error) { return fs.FS.Create(name, category) })
}

func (fs *diskFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return fs.open(name, func() (vfs.File, error) { return fs.FS.OpenReadWrite(name, category, o...) })
}

// ReuseForWrite creates a new file if space is scarce.
func (fs *diskFS) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if fs.disk.scarce(old) {
		if err := fs.Remove(old); err != nil {
			return nil, err
		}
		return fs.Create(name, category)
	}
	return fs.open(name, func() (vfs.File, error) { return fs.FS.ReuseForWrite(old, name, category) })
}

// OpenDir opens a directory, to be synced.
func (fs *diskFS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &diskFile{File: f, name: name, disk: fs.disk, table: fs.disk.expendable(name)}, nil
}

func (fs *diskFS) Link(old, name string) error {
	return fs.disk.try(fs.disk.expendable(name), func() error { return fs.FS.Link(old, name) })
}

func (fs *diskFS) Rename(old, name string) error {
	return fs.disk.try(fs.disk.expendable(name), func() error { return fs.FS.Rename(old, name) })
}

func (fs *diskFS) MkdirAll(dir string, perm os.FileMode) error {
	return fs.disk.try(fs.disk.expendable(dir), func() error { return fs.FS.MkdirAll(dir, perm) })
}

func (fs *diskFS) Lock(name string) (lock io.Closer, err error) {
	err = fs.disk.try(false, func() error {
		lock, err = fs.FS.Lock(name)
		return err
	})
	return lock, err
}

func (fs *diskFS) Remove(name string) error {
	fs.disk.blockIfDead()
	return fs.FS.Remove(name)
}

func (fs *diskFS) RemoveAll(name string) error {
	fs.disk.blockIfDead()
	return fs.FS.RemoveAll(name)
}

func (fs *diskFS) Unwrap() vfs.FS { return fs.FS }

// diskFile is a file open for writing, or a directory.
type diskFile struct {
	vfs.File
	name  string
	disk  *Disk
	table bool // or another file that is expendable
}

// Preallocate is a hint. It is ignored when space is scarce.
func (f *diskFile) Preallocate(at, length int64) error {
	f.disk.blockIfDead()
	if f.disk.scarce(f.name) {
		return nil
	}
	return f.File.Preallocate(at, length)
}

// Write continues at the byte at which the disk refused to accept more.
func (f *diskFile) Write(p []byte) (n int, err error) {
	err = f.disk.write(f.table, func() error {
		m, err := f.File.Write(p[n:])
		n += m
		return err
	})
	return n, err
}

func (f *diskFile) WriteAt(p []byte, at int64) (n int, err error) {
	err = f.disk.write(f.table, func() error {
		m, err := f.File.WriteAt(p[n:], at+int64(n))
		n += m
		return err
	})
	return n, err
}

func (f *diskFile) Sync() error { return f.disk.sync(f.table, f.File.Sync) }

func (f *diskFile) SyncData() error { return f.disk.sync(f.table, f.File.SyncData) }

func (f *diskFile) SyncTo(length int64) (all bool, err error) {
	err = f.disk.sync(f.table, func() error {
		all, err = f.File.SyncTo(length)
		return err
	})
	return all, err
}
