package identity

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// writePrivate replaces the file at path whole, readable by its owner alone.
func writePrivate(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // it may be closed already
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// syncDirectory makes the name of a file in dir as durable as its content.
func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // where directories cannot be synced
		return d.Close()
	}
	return errors.Join(d.Sync(), d.Close())
}

// checkPrivate refuses a file that others than its owner can read.
func checkPrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 on it", path, info.Mode().Perm())
	}
	return nil
}
