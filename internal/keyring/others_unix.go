//go:build unix

package keyring

import (
	"io/fs"
	"syscall"
)

// others returns the permissions that the file of keys must not give.
func others(info fs.FileInfo) fs.FileMode {
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid == 0 {
		return 0o037
	}
	return 0o077
}
