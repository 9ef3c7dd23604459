package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Begin notes that a server uses the directory dir. It reports whether the server before it did not End: it was killed,
// or the machine lost power.
//
// The note is for people: no data depends on it, so it is not synced. A loss of power right after Begin or End can make
// the next report wrong.
func Begin(dir string) (crashed bool, err error) {
	f, err := os.OpenFile(filepath.Join(dir, RunningFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("note that the data directory is in use: %w", err)
	}
	return false, f.Close()
}

// End notes that the server has stopped in order.
func End(dir string) error {
	if err := os.Remove(filepath.Join(dir, RunningFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("note that the data directory is not in use any more: %w", err)
	}
	return nil
}
