package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
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
		t.Errorf("an existing file is created again: %v", err)
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
		t.Errorf("a missing directory: %v", err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("there are %v, %v", all, err)
	}
}

// The remains of a killed process, which may hold secrets, are removed with the next change of the same file. Other
// files and an attempt under way are not touched.
func TestRemainsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{".secret.new-1", ".secret.new-2", ".other.new-1", "secret.new-1"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("key"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == ".secret.new-2" {
			continue
		}
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, put := range []func(string, []byte) error{Create, Replace} {
		if err := put(path, []byte("one")); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{".other.new-1", ".secret.new-2", "secret", "secret.new-1"}; !slices.Equal(names, want) {
		t.Errorf("there are %q, want %q", names, want)
	}
}
