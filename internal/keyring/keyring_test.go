package keyring

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 23, 16, 0, 0, 0, time.UTC)

func create(t *testing.T) (path string, r *Ring) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "keys")
	r = New(now)
	if err := r.Create(path); err != nil {
		t.Fatal(err)
	}
	return path, r
}

func TestFileKeepsKeys(t *testing.T) {
	path, r := create(t)
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	for range 3 {
		var err error
		if r, err = r.Rotate(now); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Replace(path); err != nil {
		t.Fatal(err)
	}
	got, err := Load(path)
	if err != nil || len(got.Keys()) != 4 {
		t.Fatal(got, err)
	}
	for i, k := range got.Keys() {
		if want := r.Keys()[i]; k.ID() != want.ID() || k.value != want.value || !k.made.Equal(want.made) {
			t.Errorf("key %d is %s, not %s", i, k.ID(), want.ID())
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Error("files are left:", entries, err)
	}
}

func TestCreateReplacesNothing(t *testing.T) {
	path, r := create(t)
	if err := New(now).Create(path); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
	if got, err := Load(path); err != nil || got.First().ID() != r.First().ID() {
		t.Error(got, err)
	}
}

func TestWrapping(t *testing.T) {
	k, other := generate(now), generate(now)
	data := bytes.Repeat([]byte{7}, KeySize)
	wrapped := k.Wrap(data, []byte("queue 1"))
	if len(wrapped) != WrappedSize || bytes.Contains(wrapped, data) {
		t.Errorf("%x", wrapped)
	}
	if got, err := k.Unwrap(wrapped, []byte("queue 1")); err != nil || !bytes.Equal(got, data) {
		t.Error(got, err)
	}
	refused := func(what string, k *Key, wrapped []byte, use string) {
		t.Helper()
		if _, err := k.Unwrap(wrapped, []byte(use)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("another key", other, wrapped, "queue 1")
	refused("another use", k, wrapped, "queue 2")
	refused("truncated", k, wrapped[:20], "queue 1")
	refused("empty", k, nil, "queue 1")
	for i := range wrapped {
		changed := bytes.Clone(wrapped)
		changed[i] ^= 1
		refused("changed", k, changed, "queue 1")
	}
}

// Each prefix of a file is refused, and each file with one changed byte has the same keys or is refused.
func TestDamagedFiles(t *testing.T) {
	r := New(now)
	r, _ = r.Prepare(now)
	text := r.format()
	for n := range len(text) - 1 {
		if _, err := parse(text[:n]); err == nil {
			t.Errorf("%d of %d bytes are a file", n, len(text))
		}
	}
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		got, err := parse(changed)
		if err == nil && !bytes.Equal(got.format(), text) {
			t.Errorf("with another byte at %d the keys differ", i)
		}
		if err != nil && strings.Contains(err.Error(), "want a line") && i > len(text)-10 {
			t.Error(err)
		}
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	path, r := create(t)
	text := string(r.format())
	lines := strings.SplitAfter(text, "\n")
	for name, c := range map[string]struct{ text, says string }{
		"empty":      {"", "does not begin with"},
		"other file": {"-----BEGIN PRIVATE KEY-----\n", "does not begin with"},
		"no end":     {strings.Join(lines[:len(lines)-2], ""), "truncated"},
		"no key":     {header + "\n" + lines[len(lines)-2], "sum"},
		"more":       {text + "key\n", "behind its end"},
		"bad key":    {header + "\nkey x\n", "want a line"},
		"large":      {strings.Repeat("#", maxFile+1), "more than"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), c.says) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.text {
			t.Errorf("%s: the file was changed: %v", name, err)
		}
	}
	if _, err := Load(path + "x"); !errors.Is(err, ErrNoFile) {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	root := os.Getuid() == 0
	for _, c := range []struct {
		mode      os.FileMode
		owner     int
		ok, needs bool // needs root
	}{
		{0o400, os.Getuid(), true, false}, {0o644, os.Getuid(), false, false}, {0o604, os.Getuid(), false, false},
		{0o440, os.Getuid(), root, false}, {0o640, 0, true, true}, {0o660, 0, false, true}, {0o640, 1, false, true},
	} {
		if c.needs && !root {
			continue
		}
		if err := errors.Join(os.Chown(path, c.owner, -1), os.Chmod(path, c.mode)); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %04o, owner %d: %v", c.mode, c.owner, err)
		}
	}
}

func TestRotation(t *testing.T) {
	r := New(now)
	old := r.First()
	prepared, err := r.Prepare(now)
	if err != nil || prepared.First() != old || len(prepared.Keys()) != 2 {
		t.Fatal(prepared, err)
	}
	if _, err := prepared.Prepare(now); err == nil {
		t.Error("a second key is prepared")
	}
	rotated, err := prepared.Rotate(now)
	if err != nil || rotated.First() != prepared.Keys()[1] || len(rotated.Keys()) != 2 {
		t.Fatal(rotated, err)
	}
	again, err := rotated.Rotate(now)
	if err != nil || len(again.Keys()) != 3 || again.Keys()[1] != rotated.First() {
		t.Fatal(again, err)
	}
	if again.Find(old.Short()) != old || again.ByID(old.ID()) != old || r.Find(again.First().Short()) != nil ||
		r.ByID("") != nil {
		t.Error("keys are not found by their ids")
	}
}

func TestRemove(t *testing.T) {
	r, err := New(now).Rotate(now)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = r.Prepare(now); err != nil {
		t.Fatal(err)
	}
	first, old, prepared := r.Keys()[0], r.Keys()[1], r.Keys()[2]
	for id, says := range map[string]string{
		first.ID(): "rotate first", prepared.ID(): "is prepared", "x": "there is no key",
	} {
		if _, err := r.Remove(id); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", id, err)
		}
	}
	left, err := r.Remove(old.ID())
	if err != nil || len(left.Keys()) != 2 || left.First() != first || left.Keys()[1] != prepared ||
		len(r.Keys()) != 3 {
		t.Error(left, err)
	}
}

func FuzzParse(f *testing.F) {
	r := New(now)
	f.Add(r.format())
	r, _ = r.Rotate(now)
	f.Add(r.format())
	f.Add([]byte(header + "\nend 00\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(text)
		if err != nil {
			return
		}
		again, err := parse(r.format())
		if err != nil || len(again.keys) != len(r.keys) || again.First().value != r.First().value {
			t.Errorf("%q: %v", text, err)
		}
	})
}
