package keyring

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// flipper is a key service that flips the bits of keys.
type flipper struct {
	err   error               // nil: it answers
	wrong func([]byte) []byte // changes its answers; nil: nothing does
	seals func([]byte) []byte // nil: flipped
	opens int
}

func (f *flipper) Seal(_ context.Context, _ string, key []byte) ([]byte, error) {
	if f.seals != nil {
		return f.seals(key), f.err
	}
	return flipped(key), f.err
}

func (f *flipper) Open(_ context.Context, _ string, sealed []byte) ([]byte, error) {
	f.opens++
	key := flipped(sealed)
	if f.wrong != nil {
		key = f.wrong(key)
	}
	return key, f.err
}

func flipped(b []byte) []byte {
	out := bytes.Clone(b)
	for i := range out {
		out[i] ^= 0xff
	}
	return out
}

// A sealed file has no plaintext key, can be read without the service, and opens only with the service.
func TestSealedFile(t *testing.T) {
	path, service := filepath.Join(t.TempDir(), "keys"), new(flipper)
	plain := New(now)
	sealed, err := plain.Seal(t.Context(), service)
	if err != nil || !sealed.Sealed() || plain.Sealed() {
		t.Fatal(sealed, err)
	}
	if err := sealed.Create(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r, err := Load(path)
		if err != nil || !r.Sealed() {
			t.Fatal(r, err)
		}
		if r, err = r.Rotate(now); err != nil {
			t.Fatal(err)
		}
		if err := r.Replace(path); err == nil || !strings.Contains(err.Error(), "--encryption-key-url") {
			t.Errorf("a file with a plaintext key beside sealed ones: %v", err)
		}
		if r, err = r.Seal(t.Context(), service); err != nil {
			t.Fatal(err)
		}
		if err := r.Replace(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	service.opens = 0
	locked, err := Load(path)
	if err != nil || len(locked.Keys()) != 3 || service.opens > 0 {
		t.Fatal(locked, err, service.opens)
	}
	r, err := locked.Open(t.Context(), service)
	if err != nil || r.Keys()[2].value != plain.First().value || r.First().ID() != locked.First().ID() {
		t.Fatal(r, err)
	}
	wrapped := r.First().Wrap(make([]byte, KeySize), nil)
	if _, err := r.First().Unwrap(wrapped, nil); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear, err := locked.Unseal(t.Context(), service)
	if err != nil || clear.Sealed() {
		t.Fatal(clear, err)
	}
	for _, k := range clear.Keys() {
		if !strings.Contains(string(clear.format()), k.digits()) || strings.Contains(string(text), k.digits()) {
			t.Errorf("%s is in the sealed file, or not in the other", k.ID())
		}
	}
	if again, err := parse(clear.format()); err != nil || again.Keys()[2].value != plain.First().value {
		t.Error(again, err)
	}
}

// A service that returns anything but the key is not trusted.
func TestServiceGivesAnotherKey(t *testing.T) {
	r, err := New(now).Seal(t.Context(), new(flipper))
	if err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]func([]byte) []byte{
		"another": func([]byte) []byte { return make([]byte, KeySize) },
		"short":   func(k []byte) []byte { return k[1:] },
		"nothing": func([]byte) []byte { return nil },
	} {
		if _, err := r.Open(t.Context(), &flipper{wrong: wrong}); !errors.Is(err, ErrNoAnswer) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Try(t.Context(), &flipper{err: ErrDenied}); !errors.Is(err, ErrDenied) || !IsRefusal(err) {
		t.Error(err)
	}
	if IsRefusal(ErrNoAnswer) || IsRefusal(nil) {
		t.Error("a missing answer counts as a refusal")
	}
}

// No file is written with keys that the service does not open, and none with a plaintext key instead.
func TestServiceSealsNothingUseful(t *testing.T) {
	for name, seals := range map[string]func([]byte) []byte{
		"nothing": func([]byte) []byte { return nil },
		"empty":   func([]byte) []byte { return []byte{} },
		"another": func([]byte) []byte { return make([]byte, KeySize) },
		"long":    func([]byte) []byte { return make([]byte, maxSealed+1) },
	} {
		if r, err := New(now).Seal(t.Context(), &flipper{seals: seals}); !errors.Is(err, ErrNoAnswer) {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	r, err := New(now).Seal(t.Context(), new(flipper))
	if err != nil {
		t.Fatal(err)
	}
	if r, err = r.Rotate(now); err != nil {
		t.Fatal(err)
	}
	other := &flipper{wrong: func(k []byte) []byte { return k[1:] }}
	if _, err := r.Seal(t.Context(), other); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("a new key is sealed by a service that does not open the others: %v", err)
	}
}

func TestDamagedSealedFiles(t *testing.T) {
	r, err := New(now).Seal(t.Context(), new(flipper))
	if err != nil {
		t.Fatal(err)
	}
	text := r.format()
	for n := range len(text) - 1 {
		if _, err := parse(text[:n]); err == nil {
			t.Errorf("%d of %d bytes are a file", n, len(text))
		}
	}
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		if got, err := parse(changed); err == nil && !bytes.Equal(got.format(), text) {
			t.Errorf("with another byte at %d the keys differ", i)
		}
	}
}
