package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/wal"
)

// Checkpoint is a store in the state of one moment, in its own directory. Most of its files are hard links to those of
// the store, so it takes little space at first.
type Checkpoint struct{ files }

// files are the files of one directory.
type files struct {
	fs  vfs.FS
	dir string
}

// File is a file of a checkpoint.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Checkpoint creates a checkpoint of everything committed, in a directory that does not exist yet. Remove it when it is
// no longer needed. If the disk is full, it returns an error and leaves no checkpoint.
func (s *Store) Checkpoint(dir string) (*Checkpoint, error) {
	if err := s.Flush(); err != nil {
		return nil, err
	}
	s.disk.checkpoints.Store(dir, true)
	defer s.disk.checkpoints.Delete(dir)
	err := s.db.Checkpoint(dir)
	if err == nil {
		err = s.trimLogs(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return &Checkpoint{files{s.fs, dir}}, nil
}

// trimLogs removes the bytes behind the end of the logs in a checkpoint. Pebble writes a new log over an old one that
// it no longer needs, so the rest of a copied log may come from the old one.
func (s *Store) trimLogs(dir string) error {
	logs, err := wal.Scan(wal.Dir{FS: s.fs, Dirname: dir})
	if err != nil {
		return err
	}
	for _, log := range logs {
		_, file := log.SegmentLocation(0)
		if err := s.trimLog(file, uint32(log.Num)); err != nil {
			return err
		}
	}
	return nil
}

// trimLog writes the valid part of a log to a new file, and replaces the log with it.
func (s *Store) trimLog(file string, number uint32) error {
	scan := scanner{isLog: true, number: number}
	var l Logs
	e, err := l.scan(s.fs, file, &scan)
	if err != nil || e.bad < 0 || e.vouched {
		return err
	}
	return s.keepHead(file, e.bad)
}

// keepHead truncates a file of a checkpoint.
func (s *Store) keepHead(file string, length int64) (err error) {
	from, err := s.fs.Open(file, vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	short := file + ".short"
	to, err := s.fs.Create(short, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.CopyN(to, from, length)
	if err := errors.Join(err, to.Sync(), to.Close()); err != nil {
		return err
	}
	return errors.Join(s.fs.Rename(short, file), syncDir(s.fs, s.fs.PathDir(file)))
}

// Files returns the files of the checkpoint.
func (c *Checkpoint) Files() ([]File, error) { return c.list() }

// Remove removes the checkpoint.
func (c *Checkpoint) Remove() error { return c.fs.RemoveAll(c.dir) }

// RemoveCheckpoints removes the checkpoints that a crashed process has left in directories whose names begin with
// prefix.
func RemoveCheckpoints(d *Disk, prefix string) error {
	fs := d.vfs()
	names, err := fs.List(fs.PathDir(prefix))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		if strings.HasPrefix(name, fs.PathBase(prefix)) {
			err = errors.Join(err, fs.RemoveAll(fs.PathJoin(fs.PathDir(prefix), name)))
		}
	}
	return err
}

func (f *files) list() ([]File, error) {
	names, err := f.fs.List(f.dir)
	if err != nil {
		return nil, err
	}
	var out []File
	for _, name := range names {
		info, err := f.fs.Stat(f.fs.PathJoin(f.dir, name))
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			out = append(out, File{Name: name, Size: info.Size()})
		}
	}
	return out, nil
}

// errFileName reports that no file of a checkpoint can have a name.
var errFileName = errors.New("not the name of a file")

// path refuses names outside the checkpoint; they may come from another machine.
func (f *files) path(name string) (string, error) {
	if name == "" || name[0] == '.' || strings.ContainsAny(name, `/\:`) {
		return "", fmt.Errorf("%w: %q", errFileName, name)
	}
	return f.fs.PathJoin(f.dir, name), nil
}

// ReadAt reads n bytes of a file, from a position on; fewer at its end.
func (f *files) ReadAt(name string, at int64, n int) ([]byte, error) {
	path, err := f.path(name)
	if err != nil {
		return nil, err
	}
	file, err := f.fs.Open(path)
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	n, err = file.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], errors.Join(err, file.Close())
}

// Sum returns a hash of a file's contents.
func (f *files) Sum(name string) (uint64, error) {
	path, err := f.path(name)
	if err != nil {
		return 0, err
	}
	file, err := f.fs.Open(path, vfs.SequentialReadsOption)
	if err != nil {
		return 0, err
	}
	h := xxhash.New()
	_, err = io.Copy(h, file)
	return h.Sum64(), errors.Join(err, file.Close())
}

// Incoming is a checkpoint of another store in transfer. It will replace the store in a directory.
type Incoming struct {
	files
	store string // the directory of the store
}

// Names next to the directory of a store: of an incomplete checkpoint, and of a complete one that replaces the store as
// soon as the store is closed.
const (
	incoming = ".incoming"
	complete = ".complete"
)

// Receive begins to receive a checkpoint for the store in dir, which may be open. Files received earlier are still
// there; Reset removes them.
func Receive(d *Disk, dir string) (*Incoming, error) {
	in := &Incoming{files{d.vfs(), dir + incoming}, dir}
	return in, makeDir(in.fs, in.dir)
}

// Reset removes the files received so far.
func (in *Incoming) Reset() error {
	return errors.Join(in.fs.RemoveAll(in.dir), in.fs.MkdirAll(in.dir, 0o700))
}

// Size returns how much of a file was received.
func (in *Incoming) Size(name string) (int64, error) {
	path, err := in.path(name)
	if err != nil {
		return 0, err
	}
	info, err := in.fs.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// WriteAt writes data to a file, which is created if necessary.
func (in *Incoming) WriteAt(name string, at int64, data []byte) error {
	path, err := in.path(name)
	if err != nil {
		return err
	}
	file, err := in.fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(data, at)
	return errors.Join(err, file.Close())
}

// Complete states that all files were received. It verifies them and makes them durable. From then on, Install can
// replace the store with them.
func (in *Incoming) Complete(want []File) error {
	if _, err := Verify(in.fs, in.dir); err != nil {
		return err
	}
	have, err := in.list()
	if err != nil {
		return err
	}
	if len(have) != len(want) {
		return fmt.Errorf("the checkpoint has %d files, %d have come", len(want), len(have))
	}
	for _, f := range want {
		if n, err := in.Size(f.Name); err != nil {
			return err
		} else if n != f.Size {
			return fmt.Errorf("%s has %d bytes, %d have come", f.Name, f.Size, n)
		}
		file, err := in.fs.OpenReadWrite(in.fs.PathJoin(in.dir, f.Name), vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			return err
		}
	}
	if err := syncDir(in.fs, in.dir); err != nil {
		return err
	}
	if err := in.fs.RemoveAll(in.store + complete); err != nil {
		return err
	}
	if err := in.fs.Rename(in.dir, in.store+complete); err != nil {
		return err
	}
	return syncDir(in.fs, in.fs.PathDir(in.store))
}

// Install replaces the store in dir, which must be closed, with a complete checkpoint. Call it before opening a store
// with an external log, because an earlier call may have been interrupted.
func Install(d *Disk, dir string) error {
	fs := d.vfs()
	if _, err := fs.Stat(dir + complete); errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("replace store: %w", err)
	}
	// From here on the old store may be incomplete: after an interruption, the new one is still in its place.
	if err := fs.RemoveAll(dir); err != nil {
		return fmt.Errorf("replace store: %w", err)
	}
	if err := fs.Rename(dir+complete, dir); err != nil {
		return fmt.Errorf("replace store: %w", err)
	}
	if err := syncDir(fs, fs.PathDir(dir)); err != nil {
		return fmt.Errorf("replace store: %w", err)
	}
	return nil
}

// removed is the name of a store whose removal may have been interrupted.
const removed = ".removed"

// Exists reports whether any part of a store is in dir.
func Exists(d *Disk, dir string) (bool, error) {
	for _, path := range []string{dir, dir + removed} {
		_, err := d.vfs().Stat(path)
		if !errors.Is(err, os.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// Remove removes the store in dir, which must be closed, and any checkpoint that would replace it. After an
// interruption there is either no store or the previous one.
func Remove(d *Disk, dir string) error {
	fs := d.vfs()
	for _, path := range []string{dir + incoming, dir + complete, dir + removed} {
		if err := fs.RemoveAll(path); err != nil {
			return fmt.Errorf("remove store: %w", err)
		}
	}
	if _, err := fs.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := fs.Rename(dir, dir+removed); err != nil {
		return fmt.Errorf("remove store: %w", err)
	}
	return errors.Join(syncDir(fs, fs.PathDir(dir)), fs.RemoveAll(dir+removed))
}
