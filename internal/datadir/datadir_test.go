package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sluicemq/sluice/internal/formats"
)

// write creates files, or directories if their names end with a slash.
func write(t *testing.T, dir string, files map[string]os.FileMode) {
	t.Helper()
	for name, mode := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o700)
		} else {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err := errors.Join(err, os.Chmod(path, mode)); err != nil { // beyond the umask
			t.Fatal(err)
		}
	}
}

func refused(t *testing.T, dir string, words ...string) {
	t.Helper()
	err := Prepare(dir)
	if err == nil {
		t.Errorf("a server may use %s", dir)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not say %q", err, w)
		}
	}
}

func accepted(t *testing.T, dir string) {
	t.Helper()
	if err := Prepare(dir); err != nil {
		t.Error(err)
	}
}

func TestDirectoryIsMadePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "above", "data")
	accepted(t, dir)
	if info, err := os.Stat(dir); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]os.FileMode{"lost+found/": 0o700, ".hidden": 0o600})
	accepted(t, dir)
	write(t, dir, map[string]os.FileMode{"readme.txt": 0o600})
	refused(t, dir, dir, "not empty", "readme.txt", "--data")
	write(t, dir, map[string]os.FileMode{"a": 0o600, "b": 0o600, "c": 0o600})
	refused(t, dir, "a, b, c, ...")
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 6 {
		t.Errorf("a file was created in a foreign directory: %v, %v", entries, err)
	}
	for _, name := range names {
		ours := t.TempDir()
		write(t, ours, map[string]os.FileMode{"readme.txt": 0o600})
		if name == FormatFile {
			continue // it must contain a format
		}
		write(t, ours, map[string]os.FileMode{name: 0o600})
		accepted(t, ours)
	}
}

func TestFormat(t *testing.T) {
	dir := t.TempDir()
	f, err := ReadFormat(dir)
	if err != nil || f != (Format{Number: 1}) {
		t.Errorf("without a file: %+v, %v", f, err)
	}
	if err := Require(dir, 1, "2.0"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, FormatFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that needs nothing has a file: %v", err)
	}
	if err := Require(dir, formats.Newest+1, "2.0"); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"Prepare": Prepare(dir), "Require": Require(dir, formats.Newest+2, "3.0"),
	} {
		if !errors.Is(err, ErrTooNew) ||
			!strings.Contains(err.Error(),
				fmt.Sprintf("was written by Sluice 2.0, format %d; this program reads formats up to %d",
					formats.Newest+1, formats.Newest)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{"", "{", "null", `{"format":0}`, `{"format":-1}`, `{"format":"2"}`} {
		if err := os.WriteFile(filepath.Join(dir, FormatFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, dir, FormatFile, "does not contain the format")
	}
}

// The shards of a node need formats at the same time.
func TestFormatsAreRequiredAtOnce(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		var all sync.WaitGroup
		for number := range formats.Newest {
			for range 3 {
				all.Go(func() {
					if err := Require(dir, number+1, "2.0"); err != nil {
						t.Error(err)
					}
					if f, err := ReadFormat(dir); err != nil || f.Number < number+1 {
						t.Errorf("after %d was required the format is %d, %v", number+1, f.Number, err)
					}
				})
			}
		}
		all.Wait()
		if f, err := ReadFormat(dir); err != nil || f.Number != formats.Newest {
			t.Errorf("finally the format is %d, %v", f.Number, err)
		}
	}
}

func FuzzParseFormat(f *testing.F) {
	f.Add([]byte(`{"format":1}`))
	f.Add([]byte(`{"format":2,"version":"0.9"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := parseFormat(text); err == nil && got.Number < 1 {
			t.Errorf("%q is %+v", text, got)
		}
	})
}

func TestUnreachedFilesAreMadePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions work differently there")
	}
	dir := t.TempDir()
	write(t, dir, map[string]os.FileMode{
		"control/000001.log": 0o644, "control/CURRENT": 0o640, "shards/0001/000002.sst": 0o644, CredentialsFile: 0o600,
	})
	write(t, dir, map[string]os.FileMode{"shards/0001/": 0o755})
	// The stores' own directories are closed, the data directory is not.
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Join(dir, "control"), 0o700)); err != nil {
		t.Fatal(err)
	}
	accepted(t, dir)
	for _, name := range []string{"control/000001.log", "control/CURRENT", "shards/0001", "shards/0001/000002.sst"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode()&others != 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestReadableFilesAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions work differently there")
	}
	for _, name := range []string{"control/", "shards/0001/", "log/", "credentials", "node"} {
		dir := t.TempDir()
		write(t, dir, map[string]os.FileMode{"control/": 0o700, "shards/": 0o755})
		if name == "credentials" || name == "control/" {
			write(t, dir, map[string]os.FileMode{"shards/": 0o700})
		}
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, "/") {
			mode = 0o751
		}
		write(t, dir, map[string]os.FileMode{name: mode})
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		refused(t, dir, "can be read by others", "chmod ")
		// In a directory that is closed to others the same is harmless, except for keys.
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if name == CredentialsFile {
			refused(t, dir, "can be read by others", "chmod 600")
		} else {
			accepted(t, dir)
		}
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, "every user", "chmod o-w")
}

func TestTargetsOfLinksAreChecked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions work differently there")
	}
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, "shards")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	refused(t, dir, "shards")
	if err := os.Chmod(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	accepted(t, dir)
}
