package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestFilesAreWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	is := func(want string) {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil || string(text) != want {
			t.Errorf("it is %q, %v, not %q", text, err, want)
		}
	}
	if err := Create(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	is("one")
	if err := Create(path, []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there is made again: %v", err)
	}
	is("one")
	if err := Replace(path, []byte("three")); err != nil {
		t.Fatal(err)
	}
	is("three")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode != 0o600 {
		t.Errorf("its mode is %04o", mode)
	}
	if err := Replace(filepath.Join(dir, "none", "secret"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("there are %v, %v", all, err)
	}
}
