package doctor_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/doctor"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

const messages = 60 // in all

// directory creates a data directory with two queues and messages in several states, some of them in tables and the
// rest in the log.
func directory(t *testing.T) doctor.Directory {
	t.Helper()
	dir := t.TempDir()
	d := doctor.Directory{
		Dir:         dir,
		Credentials: filepath.Join(dir, "credentials"), MasterKey: filepath.Join(dir, "master.key"),
		Control: filepath.Join(dir, "control"),
		Shards:  []doctor.Shard{{Number: 1, Dir: filepath.Join(dir, "shards/0001")}},
	}
	if _, err := identity.LoadCredentials(d.Credentials, []string{"000000000000"}); err != nil {
		t.Fatal(err)
	}
	for sitting := range 2 {
		work(t, d, func(c *catalog.Catalog, s *shard.Shard) {
			for _, name := range []string{"jobs", "orders.fifo"} {
				n := catalog.Name{Account: "000000000000", Region: "us-east-1", Queue: name}
				a := catalog.Attributes{
					RetentionSeconds: 3600, VisibilitySeconds: 30, FIFO: strings.HasSuffix(name, ".fifo"),
				}
				var q *catalog.Queue
				err := c.Change(t.Context(), func(tx *catalog.Tx) (err error) {
					q, err = tx.Create(n, a, nil, time.Now())
					return err
				})
				if err != nil && !errors.Is(err, catalog.ErrExists) {
					t.Fatal(err)
				}
				if err := s.Configure(t.Context(), q.Config()); err != nil {
					t.Fatal(err)
				}
				for i := range messages / 4 {
					m := queue.Outgoing{Body: strings.Repeat("body", 500), Dedup: fmt.Sprint(sitting, i)}
					if a.FIFO || i%2 == 0 {
						m.Group = fmt.Sprint("g", i%3)
					}
					if _, err := s.Send(t.Context(), q.ID, []queue.Outgoing{m}); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := s.Receive(t.Context(), q.ID, queue.Receive{Max: 3}, 0); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	return d
}

// work opens a data directory as a server does, and closes it.
func work(t *testing.T, d doctor.Directory, do func(*catalog.Catalog, *shard.Shard)) {
	t.Helper()
	records, messages := open(t, d.Control), open(t, d.Shards[0].Dir)
	ctl := control.New(control.Options{Store: records})
	if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(catalog.Options{Control: ctl})
	if err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(shard.Options{Store: messages, Configs: func() (configs []queue.Config) {
		for _, q := range c.All() {
			configs = append(configs, q.Config())
		}
		return configs
	}})
	if err != nil {
		t.Fatal(err)
	}
	do(c, s)
	s.Close()
	if err := errors.Join(records.Close(), messages.Close()); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// edit changes records of a store.
func edit(t *testing.T, dir string, change func(s *store.Store, tx *store.Txn)) {
	t.Helper()
	s := open(t, dir)
	tx := s.Begin()
	change(s, tx)
	err := s.Commit(tx)
	tx.Release()
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// fingerprint returns the contents of a directory.
func fingerprint(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || entry.IsDir() {
			out[path] = info.Mode().String()
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = fmt.Sprintf("%s %x", info.Mode(), sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// examine examines the directory, which must stay unchanged.
func examine(t *testing.T, d doctor.Directory) *doctor.Report {
	t.Helper()
	dir := filepath.Dir(d.Control)
	before := fingerprint(t, dir)
	r, err := doctor.Examine(t.Context(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	after := fingerprint(t, dir)
	for path := range after {
		if before[path] != after[path] {
			t.Errorf("%s has changed", path)
		}
	}
	if len(before) != len(after) {
		t.Errorf("there were %d files and are %d", len(before), len(after))
	}
	return r
}

func find(t *testing.T, r *doctor.Report, name string) *doctor.Check {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(c *doctor.Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no check of %s", name)
	}
	return r.Checks[i]
}

// newest returns the last of the files that match a pattern.
func newest(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %v, %v", pattern, names, err)
	}
	return slices.Max(names)
}

// spoil flips a bit in a file, at this fraction of its length.
func spoil(t *testing.T, file string, part float64) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[int(part*float64(len(text)))] ^= 0x10
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSoundDirectory(t *testing.T) {
	d := directory(t)
	r := examine(t, d)
	if !r.Sound || len(find(t, r, "messages tables").Counts) == 0 {
		t.Errorf("%+v", r)
	}
	for _, c := range r.Checks {
		if len(c.Problems) > 0 || c.Skipped != "" || c.Note != "" {
			t.Errorf("%+v", c)
		}
	}
	for _, want := range []struct {
		check string
		doctor.Count
	}{
		{"credentials", doctor.Count{Of: "accounts", N: 1}}, {"catalog", doctor.Count{Of: "queues", N: 2}},
		{"format", doctor.Count{Of: "format", N: 1}},
		{"queues", doctor.Count{Of: "queues", N: 2}}, {"queues", doctor.Count{Of: "messages", N: messages}},
	} {
		if !slices.Contains(find(t, r, want.check).Counts, want.Count) {
			t.Errorf("%+v: %+v", want, find(t, r, want.check).Counts)
		}
	}
	if tables := find(t, r, "messages tables").Counts; tables[0].N == 0 {
		t.Error("no data has reached a table")
	}
}

// A torn end of the log is not damage, and the doctor does not repair it.
func TestTornEndIsSound(t *testing.T) {
	d := directory(t)
	log := newest(t, d.Shards[0].Dir+"/*.log")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, text[:len(text)-100], 0o600); err != nil {
		t.Fatal(err)
	}
	if r := examine(t, d); !r.Sound {
		t.Errorf("%+v", r)
	}
}

func TestDamageIsNamed(t *testing.T) {
	tests := map[string]struct {
		check, word string // the place and the text of the finding
		damage      func(t *testing.T, d doctor.Directory)
	}{
		"readable keys": {"credentials", "chmod 600", func(t *testing.T, d doctor.Directory) {
			if err := os.Chmod(d.Credentials, 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		"damaged format": {"format", "does not contain the format", func(t *testing.T, d doctor.Directory) {
			if err := os.WriteFile(filepath.Join(d.Dir, "format"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
		"no keys": {"credentials", "missing", func(t *testing.T, d doctor.Directory) {
			if err := os.Remove(d.Credentials); err != nil {
				t.Fatal(err)
			}
		}},
		"no catalog": {"control logs", "no store", func(t *testing.T, d doctor.Directory) {
			if err := os.RemoveAll(d.Control); err != nil {
				t.Fatal(err)
			}
		}},
		"log": {"messages logs", ".log is damaged at byte", func(t *testing.T, d doctor.Directory) {
			spoil(t, newest(t, d.Shards[0].Dir+"/*.log"), 0.5)
		}},
		"end of the log": {"messages logs", ".log is damaged at byte", func(t *testing.T, d doctor.Directory) {
			spoil(t, newest(t, d.Shards[0].Dir+"/*.log"), 0.98)
		}},
		"manifest": {"messages logs", "MANIFEST", func(t *testing.T, d doctor.Directory) {
			spoil(t, newest(t, d.Shards[0].Dir+"/MANIFEST-*"), 0.9)
		}},
		"table": {"messages tables", ".sst is damaged", func(t *testing.T, d doctor.Directory) {
			spoil(t, newest(t, d.Shards[0].Dir+"/*.sst"), 0.3)
		}},
		"lost table": {"messages logs", "MANIFEST", func(t *testing.T, d doctor.Directory) {
			if err := os.Remove(newest(t, d.Shards[0].Dir+"/*.sst")); err != nil {
				t.Fatal(err)
			}
		}},
		"short table": {"messages logs", "MANIFEST", func(t *testing.T, d doctor.Directory) {
			if err := os.Truncate(newest(t, d.Shards[0].Dir+"/*.sst"), 100); err != nil {
				t.Fatal(err)
			}
		}},
		"catalog record": {"catalog", "queue/", func(t *testing.T, d doctor.Directory) {
			edit(t, d.Control, func(_ *store.Store, tx *store.Txn) { tx.Set([]byte("queue/{}"), []byte("{")) })
		}},
		"lost secret": {"catalog", "secret", func(t *testing.T, d doctor.Directory) {
			edit(t, d.Control, func(_ *store.Store, tx *store.Txn) { tx.Delete([]byte("receipt-secret")) })
		}},
		"lost message": {"queues", "missing", func(t *testing.T, d doctor.Directory) {
			edit(t, d.Shards[0].Dir, func(s *store.Store, tx *store.Txn) {
				err := s.Scan([]byte{0}, []byte{1}, func(k, _ []byte) bool {
					if k[8] != 'm' {
						return true
					}
					tx.Delete(slices.Clone(k))
					return false
				})
				if err != nil {
					t.Fatal(err)
				}
			})
		}},
		"stray key": {"leftovers", "stray", func(t *testing.T, d doctor.Directory) {
			edit(t, d.Shards[0].Dir, func(_ *store.Store, tx *store.Txn) { tx.Set([]byte{0, 1}, nil) })
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := directory(t)
			test.damage(t, d)
			r := examine(t, d)
			c := find(t, r, test.check)
			if r.Sound || len(c.Problems) == 0 || !strings.Contains(strings.Join(c.Problems, "\n"), test.word) {
				t.Errorf("found %+v", c)
			}
		})
	}
}

// Data of a queue whose deletion was interrupted is not damage. Neither is data of an unlisted queue. The doctor
// distinguishes the two by the tombstone.
func TestLeftoversAreHarmless(t *testing.T) {
	d := directory(t)
	edit(t, d.Control, func(s *store.Store, tx *store.Txn) {
		err := s.Scan([]byte("queue/"), []byte("queue0"), func(k, _ []byte) bool {
			tx.Delete(slices.Clone(k))
			return false
		})
		if err != nil {
			t.Fatal(err)
		}
	})
	r := examine(t, d)
	left := find(t, r, "leftovers")
	if !r.Sound || !strings.Contains(left.Note, "neither listed nor known to be deleted (ids 1)") ||
		left.Counts[0].N != 0 || left.Counts[1].N != 1 {
		t.Errorf("not listed: %+v", left)
	}
	edit(t, d.Control, func(_ *store.Store, tx *store.Txn) { tx.Set([]byte("tombstones/0"), []byte("[[1,1]]")) })
	r = examine(t, d)
	left = find(t, r, "leftovers")
	if !r.Sound || !strings.Contains(left.Note, "deleted queues") || len(left.Counts) != 1 || left.Counts[0].N != 1 {
		t.Errorf("deleted: %+v", left)
	}
}

func TestNotExamined(t *testing.T) {
	d := directory(t)
	s := open(t, d.Shards[0].Dir)
	if _, err := doctor.Examine(t.Context(), d, nil); !errors.Is(err, store.ErrLocked) {
		t.Errorf("with a server running: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := doctor.Examine(ctx, d, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	d.Control, d.Shards[0].Dir = t.TempDir()+"/a", t.TempDir()+"/b"
	if _, err := doctor.Examine(t.Context(), d, nil); err == nil {
		t.Error("nothing was found to be sound")
	}
}

// This program cannot check the data of a newer one.
func TestNewerFormatIsNotExamined(t *testing.T) {
	d := directory(t)
	if err := datadir.Require(d.Dir, 99, "9.9"); err != nil {
		t.Fatal(err)
	}
	if _, err := doctor.Examine(t.Context(), d, nil); !errors.Is(err, datadir.ErrTooNew) ||
		!strings.Contains(err.Error(), "Sluice 9.9") {
		t.Errorf("%v", err)
	}
}
