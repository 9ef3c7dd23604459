package bucket_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/bucket"
)

func open(t *testing.T, dir string) *bucket.Directory {
	t.Helper()
	d, err := bucket.OpenDirectory(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// A stored object can be read and listed, and nothing else is in the directory.
func TestDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := open(t, dir)
	if err := os.Mkdir(filepath.Join(dir, "audit"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	signed := bucket.Object{Body: []byte("two"), Metadata: map[string]string{"signature": "abc"}}
	for key, o := range map[string]bucket.Object{
		"p/AWSLogs/1/a.json.gz": {Body: []byte("one")}, "p/AWSLogs/1/b.json.gz": signed, "p/AWSLogs/2/c.json.gz": {},
		"top": {Body: []byte("3")},
	} {
		for range 2 { // the second replaces the first
			if err := d.Put(ctx, "audit", key, o); err != nil {
				t.Fatal(err)
			}
		}
	}
	o, err := d.Get(ctx, "audit", "p/AWSLogs/1/b.json.gz")
	if err != nil || string(o.Body) != "two" || !maps.Equal(o.Metadata, signed.Metadata) {
		t.Errorf("got %+v, %v", o, err)
	}
	if _, err := d.Get(ctx, "audit", "p/AWSLogs/1/z"); !errors.Is(err, bucket.ErrNoObject) {
		t.Errorf("a missing object: %v", err)
	}
	for prefix, want := range map[string]string{
		"p/AWSLogs/1": "p/AWSLogs/1/a.json.gz p/AWSLogs/1/b.json.gz", "p/AWSLogs/1/b": "p/AWSLogs/1/b.json.gz",
		"none/": "", "q/r/": "",
		"": "p/AWSLogs/1/a.json.gz p/AWSLogs/1/b.json.gz p/AWSLogs/2/c.json.gz top",
	} {
		keys, err := d.List(ctx, "audit", prefix)
		if got := strings.Join(keys, " "); err != nil || got != want {
			t.Errorf("below %q: %s, %v, want %s", prefix, got, err, want)
		}
	}
	files, err := os.ReadDir(filepath.Join(dir, "audit", "p", "AWSLogs", "1"))
	if err != nil || len(files) != 3 {
		t.Errorf("the directory has %v, %v", files, err)
	}
}

// No name leads out of the directory.
func TestDirectoryKeepsInside(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	dir := filepath.Join(outside, "trails")
	for _, name := range []string{"audit", "audit/real"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"linked", "audit/out"} {
		if err := os.Symlink(outside, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	d := open(t, dir)
	ctx := t.Context()
	body := bucket.Object{Body: []byte("x"), Metadata: map[string]string{"a": "b"}}
	for _, key := range []string{"", "..", "../x", "a/../../x", "/x", "a//b", "./x", "a\x00b", `a\b`, "c:x", "out/x",
		strings.Repeat("x", 300), strings.Repeat("x/", 600) + "x"} {
		if err := d.Put(ctx, "audit", key, body); err == nil {
			t.Errorf("%q was written", key)
		}
		if _, err := d.Get(ctx, "audit", key); err == nil {
			t.Errorf("%q was read", key)
		}
	}
	for _, name := range []string{"", "..", "...", "a", "linked", "nowhere", "audit/real", "UPPER", "a..b", "1.2.3.4",
		"-abc", strings.Repeat("a", 64)} {
		if err := d.Put(ctx, name, "x", body); err == nil {
			t.Errorf("the bucket %q was written", name)
		}
		if _, err := d.List(ctx, name, ""); err == nil {
			t.Errorf("the bucket %q was listed", name)
		}
	}
	for _, prefix := range []string{"../", "..", "../../x", "out/"} {
		if keys, err := d.List(ctx, "audit", prefix); err == nil && len(keys) > 0 {
			t.Errorf("below %q: %v", prefix, keys)
		}
	}
	left, err := os.ReadDir(outside)
	if err != nil || len(left) != 1 {
		t.Errorf("outside are %v, %v", left, err)
	}
}

func FuzzCheckKey(f *testing.F) {
	for _, key := range []string{"a/b", "../a", "a/./b",
		"AWSLogs/111122223333/CloudTrail/us-east-1/2026/11/22/x.json.gz"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		if bucket.CheckKey(key) == nil && (!filepath.IsLocal(key) || slices.Contains(strings.Split(key, "/"), "..")) {
			t.Errorf("%q is a key", key)
		}
	})
}
