package backup

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sluicemq/sluice/internal/durable"
)

// Restore makes the directory dir, which must not be there or be empty, with the files of a backup. They are durable
// when it returns nil; after an error there is no dir, unless the error is that it could not be made durable. Before
// there is one, ready is called with the directory that will be it and may change what is in it.
func Restore(r io.Reader, dir string, ready func(dir string, about About) error) (About, error) {
	about, err := restore(r, dir, ready)
	if err != nil {
		return about, fmt.Errorf("restore: %w", err)
	}
	return about, nil
}

func restore(r io.Reader, dir string, ready func(string, About) error) (about About, err error) {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return about, fmt.Errorf("%s is not empty: name a directory that is not there yet", dir)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return about, err
	}
	dir = filepath.Clean(dir)
	if err := makeParents(filepath.Dir(dir)); err != nil {
		return about, err
	}
	half := dir + ".restoring"
	if err := os.Mkdir(half, 0o700); errors.Is(err, os.ErrExist) {
		return about, fmt.Errorf("%s is there: another restore is under way, or was cut short; if none is, remove it", half)
	} else if err != nil {
		return about, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(half))
		}
	}()
	in := tar.NewReader(r)
	if about, err = readAbout(in); err != nil {
		return about, err
	}
	if _, err := readFiles(in, func(name string) (io.WriteCloser, error) { return createFile(half, name) }); err != nil {
		return about, err
	}
	if err := ready(half, about); err != nil {
		return about, err
	}
	if err := syncDirs(half); err != nil {
		return about, err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return about, err
	}
	if err := os.Rename(half, dir); err != nil {
		return about, err
	}
	return about, durable.SyncDir(filepath.Dir(dir))
}

// makeParents makes a directory, and those above it that are not there, durably.
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

// createFile makes a file under dir that is durable when it has been closed.
func createFile(dir, name string) (io.WriteCloser, error) {
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
