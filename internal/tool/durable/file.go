// Package durable writes small files that survive a crash: a file is there whole and synced, or not at all.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Replace writes the file at path, and replaces an existing one. Only its owner can read it.
func Replace(path string, text []byte) error { return write(path, text, os.Rename) }

// Create writes the file at path, which only its owner can read. If there is one, the error is fs.ErrExist.
func Create(path string, text []byte) error { return write(path, text, giveName) }

// write writes a file beside path, and lets put give it its name.
func write(path string, text []byte, put func(from, to string) error) (err error) {
	begins := "." + filepath.Base(path) + ".new-"
	if err := removeOld(filepath.Dir(path), begins); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), begins+"*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = put(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it may have its name already
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// leftAfter is how long after its last change a file without its final name belongs to a process that was killed.
const leftAfter = time.Minute

// removeOld removes what killed processes have left of earlier attempts: it may hold secrets.
func removeOld(dir, begins string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), begins) {
			continue
		}
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) > leftAfter {
			err = os.Remove(filepath.Join(dir, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// giveName gives a file a name that no other has: unlike a rename, a link replaces nothing. If the file system has no
// links, a file that is created at the same moment may be replaced.
func giveName(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(err, os.Remove(from))
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, err)
	}
	return os.Rename(from, to)
}

// SyncDir makes the names in a directory as durable as the contents of its files.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // where directories cannot be synced
		return d.Close()
	}
	return errors.Join(d.Sync(), d.Close())
}
