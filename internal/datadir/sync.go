package datadir

import (
	"errors"
	"os"
	"runtime"
)

// syncDir makes the names in a directory as durable as what the files hold.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // where directories cannot be synced
		return d.Close()
	}
	return errors.Join(d.Sync(), d.Close())
}
