package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// others are the permissions that the group and all others have of a file.
const others fs.FileMode = 0o077

// makePrivate makes the directory readable for the owner of the process only. Files that others could not reach,
// because a directory above them is closed to them, lose the permissions of others: embedded stores make files that all
// users could read if the directory were open. Files that others could reach are refused, because they may have been
// read.
func makePrivate(dir string) error {
	if runtime.GOOS == "windows" { // where permissions are not these
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("every user of this machine can replace the files in %s (mode %04o); "+
			"run chmod o-w on it", dir, info.Mode().Perm())
	}
	return closeDir(dir, info.Mode()&others != 0)
}

// closeDir does it for what is in one directory; reachable says that others can
// get there.
func closeDir(dir string, reachable bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process removes what it no longer needs
	} else if err != nil {
		return err
	}
	for _, e := range entries {
		if err := closeEntry(filepath.Join(dir, e.Name()), e, reachable); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// isSecret reports whether a file holds keys. The server makes such files for its own
// user alone: if the operator has changed that, the operator has to know of it.
func isSecret(name string) bool { return name == CredentialsFile || name == MasterKeyFile }

func closeEntry(path string, e fs.DirEntry, reachable bool) error {
	if e.Type()&fs.ModeSymlink != 0 {
		reachable = true // the directories above its target are unknown
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	open := info.Mode()&others != 0
	switch {
	case open && (reachable || isSecret(e.Name())):
		how := "600"
		if info.IsDir() {
			how = "-R go="
		}
		return fmt.Errorf("%s can be read by others (mode %04o); run chmod %s on it", path, info.Mode().Perm(), how)
	case open:
		if err := os.Chmod(path, info.Mode().Perm()&^others); err != nil {
			return err
		}
	}
	if e.IsDir() {
		return closeDir(path, reachable && open)
	}
	return nil
}
