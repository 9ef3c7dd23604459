package identity

import (
	"fmt"
	"os"
)

// checkPrivate refuses a file that users other than its owner can read.
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
