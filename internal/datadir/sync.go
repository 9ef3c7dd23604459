package datadir

import (
	"errors"
	"os"
	"runtime"
)

// SyncDir makes the names in a directory as durable as what the files hold.
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
