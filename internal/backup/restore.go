package backup

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sluicemq/sluice/internal/tool/durable"
)

// Restore creates the directory dir, which must not exist or be empty, with the files of a backup. They are durable
// when it returns nil; after an error there is no dir, unless it could not be made durable. ready is called before the
// directory gets its name, and may change its contents.
func Restore(r io.Reader, dir string, ready func(dir string, about About) error) (About, error) {
	about, err := restore(r, dir, ready)
	if err != nil {
		return about, fmt.Errorf("restore: %w", err)
	}
	return about, nil
}

func restore(r io.Reader, dir string, ready func(string, About) error) (about About, err error) {
	in := tar.NewReader(r)
	fill := func(create Create) error {
		if about, err = readAbout(in); err == nil {
			_, err = readFiles(in, create)
		}
		return err
	}
	err = MakeDir(dir, fill, func(half string) error { return ready(half, about) })
	return about, err
}

// Create creates a file of that name, which is durable after Close. The name is the clean path of a file below the data
// directory, with slashes.
type Create func(name string) (io.WriteCloser, error)

// MakeDir creates the directory dir, which must not exist or be empty, with the files that fill creates. It calls ready
// before the directory gets its name. After an error there is no dir, unless it could not be made durable.
func MakeDir(dir string, fill func(create Create) error, ready func(dir string) error) (err error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: name a directory that does not exist yet", dir)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	dir = filepath.Clean(dir)
	if err := makeParents(filepath.Dir(dir)); err != nil {
		return err
	}
	half := dir + ".restoring"
	if err := os.Mkdir(half, 0o700); errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists: another restore is running, or was interrupted; if none is running, remove it", half)
	} else if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(half))
		}
	}()
	if err := fill(func(name string) (io.WriteCloser, error) { return createFile(half, name) }); err != nil {
		return err
	}
	if err := ready(half); err != nil {
		return err
	}
	if err := syncDirs(half); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(half, dir); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(dir))
}

// makeParents creates a directory and its missing parents, durably.
func makeParents(dir string) error {
	if _, err := os.Stat(dir); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	above := filepath.Dir(dir)
	if err := makeParents(above); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return durable.SyncDir(above)
}

// createFile creates a file under dir that is durable after Close.
func createFile(dir, name string) (io.WriteCloser, error) {
	if !IsName(name) {
		return nil, fmt.Errorf("%w: there cannot be a file %q", ErrNoBackup, name)
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return syncedFile{f}, nil
}

type syncedFile struct{ *os.File }

func (f syncedFile) Close() error { return errors.Join(f.Sync(), f.File.Close()) }

// syncDirs makes the entries of dir and of all directories in it durable.
func syncDirs(dir string) error {
	return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return durable.SyncDir(path)
	})
}
