package repository

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/datadir"
)

// memory is a place in memory whose changes can fail.
type memory struct {
	mu      sync.Mutex
	objects map[string]string
	// fail is called before each change with its number and key, and returns whether the change fails before or after
	// it was made.
	fail    func(change int, key string) (before, after error)
	changes int
	reads   int // of objects
	// unlisted is the key of an object that lists omit.
	unlisted string
}

func newMemory() *memory { return &memory{objects: make(map[string]string)} }

func (m *memory) change(key string, change func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.changes++
	if m.fail == nil {
		return change()
	}
	before, after := m.fail(m.changes, key)
	if before != nil {
		return before
	}
	return errors.Join(change(), after)
}

func (m *memory) List(_ context.Context, prefix string) (list []bucket.Listed, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(m.objects)) {
		if strings.HasPrefix(key, prefix) && key != m.unlisted {
			list = append(list, bucket.Listed{Key: key, Size: int64(len(m.objects[key]))})
		}
	}
	return list, nil
}

func (m *memory) Open(_ context.Context, key string) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	text, ok := m.objects[key]
	if !ok {
		return nil, bucket.ErrNoObject
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (m *memory) Put(_ context.Context, key string, c *bucket.Content) error {
	f, err := c.Open()
	if err != nil {
		return err
	}
	text, err := io.ReadAll(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if sha256.Sum256(text) != c.SHA256 || int64(len(text)) != c.Size {
		return errors.New("another digest")
	}
	return m.change(key, func() error { m.objects[key] = string(text); return nil })
}

func (m *memory) Create(_ context.Context, key string, body []byte) error {
	return m.change(key, func() error {
		if _, there := m.objects[key]; there {
			return bucket.ErrExists
		}
		m.objects[key] = string(body)
		return nil
	})
}

func (m *memory) Delete(_ context.Context, keys ...string) error {
	for _, key := range keys {
		if err := m.change(key, func() error { delete(m.objects, key); return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Clean(context.Context) error { return nil }
func (m *memory) Close() error                { return nil }

var start = time.Date(2026, 11, 23, 10, 15, 0, 0, time.UTC)

// files are the files of a directory, by name.
type files map[string]string

// make creates a directory with the files.
func (f files) make(dir string) error {
	for name, text := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// dir creates a directory with files.
func dir(t *testing.T, f files) string {
	t.Helper()
	to := t.TempDir()
	if err := f.make(to); err != nil {
		t.Fatal(err)
	}
	return to
}

// history is a data directory at some moments: each has a table that is new, one from the previous moment, and a file
// that changes in place.
func history(n int) (out []files) {
	for i := range n {
		out = append(out, files{
			"credentials":                              "secret",
			fmt.Sprintf("shards/0001/%06d.sst", i):     table(i),
			fmt.Sprintf("shards/0001/%06d.sst", i+1):   table(i + 1),
			"control/MANIFEST-000001":                  strings.Repeat("edit", i),
			fmt.Sprintf("control/marker.%d.empty", i):  "",
			fmt.Sprintf("shards/0001/%06d.log", 2*i+1): fmt.Sprint("commits ", i),
		})
	}
	return out
}

// table is the content of a table. Odd ones compress.
func table(i int) string {
	return fmt.Sprint("table ", i, strings.Repeat(fmt.Sprint(" row of ", i), i%2*1000))
}

// placeOf returns the place of files in the history.
func placeOf(f files) int {
	for i := range len(f) * 10 {
		if _, ok := f[fmt.Sprintf("control/marker.%d.empty", i)]; ok {
			return i
		}
	}
	return -1
}

// timeOf returns the time of the moment at this place in the history.
func timeOf(i int) time.Time { return start.Add(time.Duration(i) * 20 * time.Minute) }

func newWriter(p bucket.Place, id string) *Writer {
	return NewWriter(Options{Place: p, ID: id, Host: "host-of-" + id, Keep: 7 * 24 * time.Hour})
}

// dirs are the directories of the history, which are created once.
var dirs sync.Map

func write(t *testing.T, w *Writer, i int, f files) (*Moment, error) {
	t.Helper()
	at, ok := any(nil), false
	if place := placeOf(f); place >= 0 {
		at, ok = dirs.Load(place)
	}
	if !ok {
		at = dir(t, f)
	}
	return w.Write(t.Context(), at.(string), backup.About{Version: "1", Created: timeOf(i), Shards: 1})
}

// restored returns the files of a moment.
func restored(t *testing.T, r *Repository, m *Moment) (files, error) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "data")
	fill := func(create backup.Create) error { return r.Fetch(t.Context(), m, create) }
	if err := backup.MakeDir(to, fill, func(string) error { return nil }); err != nil {
		if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is a directory: %v", err)
		}
		return nil, err
	}
	out := make(files)
	err := filepath.WalkDir(to, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(to, path)
		out[filepath.ToSlash(name)] = string(text)
		return err
	})
	return out, err
}

// fetched returns the files of a moment without a disk.
func fetched(t *testing.T, r *Repository, m *Moment) (files, error) {
	t.Helper()
	out := make(files)
	err := r.Fetch(t.Context(), m,
		func(name string) (io.WriteCloser, error) { return &fetching{name: name, into: out}, nil })
	return out, err
}

// fetching is a file that is being fetched.
type fetching struct {
	strings.Builder
	name string
	into files
}

func (f *fetching) Close() error {
	f.into[f.name] = f.String()
	return nil
}

// checkAll restores all listed moments, and returns them by their places in the history.
func checkAll(t *testing.T, p bucket.Place, h []files) (places []int) {
	t.Helper()
	r := New(p)
	err := r.Moments(t.Context(), func(m *Moment) {
		i := slices.IndexFunc(h, func(f files) bool { return m.Created.Equal(timeOf(placeOf(f))) })
		if got, err := fetched(t, r, m); i < 0 || err != nil || !maps.Equal(got, h[i]) {
			t.Errorf("moment %d of %s restores %v, %v", m.Number, m.Created, got, err)
		}
		places = append(places, i)
	})
	if err != nil {
		t.Error(err)
	}
	return places
}

// checkNoGarbage checks that a moment names every object.
func checkNoGarbage(t *testing.T, m *memory) {
	t.Helper()
	named := map[string]bool{ownerKey: true}
	if err := New(m).Moments(t.Context(), func(m *Moment) {
		named[momentKey(m.Number)] = true
		for _, f := range m.Files {
			named[objectKey(f.object())] = true
		}
	}); err != nil {
		t.Error(err)
	}
	for key := range m.objects {
		if !named[key] {
			t.Errorf("%s is left", key)
		}
	}
}

func TestMomentsAreRestored(t *testing.T) {
	t.Parallel()
	place, err := bucket.OpenPlace(t.Context(), "file://"+filepath.ToSlash(t.TempDir())+"/repository", true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = place.Close() }()
	h := history(4)
	w := newWriter(place, "a")
	for i := range h {
		if i == 2 {
			w = newWriter(place, "a") // the server was started again
		}
		m, err := write(t, w, i, h[i])
		if err != nil || m.Number != int64(i+1) {
			t.Fatal(m, err)
		}
		if err := w.Tidy(t.Context(), timeOf(0), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := New(place).At(t.Context(), timeOf(1)); err != nil {
		t.Error(err)
	} else if got, err := restored(t, New(place), m); err != nil || !maps.Equal(got, h[1]) {
		t.Errorf("%v, %v", got, err)
	}
	if got := checkAll(t, place, h); !slices.Equal(got, []int{0, 1, 2, 3}) {
		t.Errorf("there are %v", got)
	}
	for at, want := range map[time.Time]int64{{}: 4, timeOf(1): 2, timeOf(2).Add(-time.Nanosecond): 2, timeOf(100): 4} {
		if m, err := New(place).At(t.Context(), at); err != nil || m.Number != want {
			t.Errorf("at %s: %v, want %d", at, err, want)
		}
	}
	if _, err := New(place).At(t.Context(), timeOf(-1)); !errors.Is(err, ErrNoMoment) ||
		!strings.Contains(err.Error(), "10:15") {
		t.Errorf("a time before the first: %v", err)
	}
	if _, err := New(newMemory()).At(t.Context(), time.Time{}); !errors.Is(err, ErrNoMoment) {
		t.Errorf("of an empty place: %v", err)
	}
}

// Equal files are stored once.
func TestOnlyWhatIsNewIsStored(t *testing.T) {
	t.Parallel()
	m := newMemory()
	read := 0
	w := newWriter(m, "a")
	w.Pace = func(_ context.Context, n int) error { read += n; return nil }
	at := dir(t, files{"a.sst": strings.Repeat("x", 1000), "b.sst": strings.Repeat("x", 1000), "c.log": "log"})
	for i, want := range []int{5, 6} { // the owner, two objects and a moment; then a moment
		if _, err := w.Write(t.Context(), at, backup.About{Created: timeOf(i)}); err != nil {
			t.Fatal(err)
		}
		if m.changes != want-1 {
			t.Errorf("moment %d: %d changes, want %d", i, m.changes, want-1)
		}
		if i == 0 && read == 0 {
			t.Error("the writer keeps no pace")
		}
	}
}

// Whenever a writer dies, each listed moment can be restored, and the next writer continues and cleans up.
func TestCrashAtEachStep(t *testing.T) {
	t.Parallel()
	h := history(12) // over four hours: moments expire
	died := errors.New("died")
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			m := newMemory()
			m.fail = func(change int, _ string) (error, error) {
				switch {
				case change > at, change == at && !after:
					return died, nil
				case change == at:
					return nil, died
				}
				return nil, nil
			}
			i, err := life(t, m, h, 0)
			if err == nil {
				if at < 20 {
					t.Fatalf("there were only %d changes", at)
				}
				break
			}
			if !errors.Is(err, died) {
				t.Fatalf("step %d: %v", at, err)
			}
			m.fail = nil
			checkAll(t, m, h)
			if _, err := life(t, m, h, i); err != nil {
				t.Errorf("after step %d: %v", at, err)
			}
			if got := checkAll(t, m, h); len(got) == 0 || got[len(got)-1] != len(h)-1 {
				t.Errorf("after step %d: there are %v", at, got)
			}
			checkNoGarbage(t, m)
			if t.Failed() {
				t.Fatalf("step %d, after it: %v", at, after)
			}
		}
	}
}

// life runs a writer from one place in the history on until its death, and returns where it died.
func life(t *testing.T, m *memory, h []files, from int) (int, error) {
	t.Helper()
	w := newWriter(m, "a")
	last := len(h) - 1
	for i := from; i <= last; i++ {
		if err := step(t, w, i, h[i]); err != nil {
			return i, err
		}
	}
	return len(h), step(t, w, last, h[last]) // which removes expired objects
}

// step writes a moment and cleans up.
func step(t *testing.T, w *Writer, i int, f files) error {
	t.Helper()
	w.swept = time.Time{} // each time, not each hour
	if _, err := write(t, w, i, f); err != nil {
		return err
	}
	return w.Tidy(t.Context(), timeOf(i), time.Now().Add(time.Hour))
}

// A writer that survives a failure, as a server does, needs no help, either.
func TestFailuresPass(t *testing.T) {
	t.Parallel()
	h := history(12)
	for at := 1; at < 60; at++ {
		for _, after := range []bool{false, true} {
			m := newMemory()
			m.fail = func(change int, _ string) (before, after_ error) {
				if err := errors.New("not now"); change%at == at-1 {
					if after {
						return nil, err
					}
					return err, nil
				}
				return nil, nil
			}
			w := newWriter(m, "a")
			good := 0
			for i := range h {
				w.swept = time.Time{}
				if _, err := write(t, w, i, h[i]); err == nil {
					good = i
				}
				_ = w.Tidy(t.Context(), timeOf(i), time.Now().Add(time.Hour))
			}
			m.fail = nil
			for range 2 { // the second removes what the first has let expire
				if err := step(t, w, len(h)-1, h[len(h)-1]); err != nil {
					t.Errorf("every %d: %v", at, err)
				}
			}
			got := checkAll(t, m, h)
			if good > 0 && good < len(h)-1 && !slices.Contains(got, good) &&
				timeOf(len(h)-1).Sub(timeOf(good)) < keepAll {
				t.Errorf("every %d: moment %d was made and is missing in %v", at, good, got)
			}
			checkNoGarbage(t, m)
		}
	}
}

// A second data directory, or a copy of the first, does no harm.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	h := history(4)
	m := newMemory()
	first := newWriter(m, "a")
	if _, err := write(t, first, 0, h[0]); err != nil {
		t.Fatal(err)
	}
	before := maps.Clone(m.objects)
	if _, err := write(t, newWriter(m, "b"), 1, h[1]); !errors.Is(err, ErrTaken) ||
		!strings.Contains(err.Error(), `"host-of-a"`) {
		t.Errorf("another directory: %v", err)
	}
	if !maps.Equal(m.objects, before) {
		t.Error("it has changed something")
	}
	copied := newWriter(m, "a")
	if _, err := write(t, copied, 1, h[1]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := write(t, first, 2, h[2]); !errors.Is(err, ErrTaken) {
			t.Errorf("the original of a copy that has written: %v", err)
		}
	}
	if got := checkAll(t, m, h); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("there are %v", got)
	}
	// A service that ignores conditions lets another writer replace the owner.
	delete(m.objects, ownerKey)
	if _, err := write(t, newWriter(m, "b"), 3, h[3]); err != nil {
		t.Fatal(err)
	}
	if _, err := write(t, copied, 3, h[3]); !errors.Is(err, ErrTaken) {
		t.Errorf("a writer whose place was taken: %v", err)
	}
}

// nodeWriter returns the writer of a node of a cluster.
func nodeWriter(p bucket.Place) *Writer {
	w := newWriter(p, "cluster")
	w.Shared = true
	return w
}

// When two nodes write in turns, one that does not know the other's moments writes and removes nothing. It continues
// when it has read them.
func TestNodesTakeTurns(t *testing.T) {
	t.Parallel()
	h := history(12)
	m := newMemory()
	nodes := []*Writer{nodeWriter(m), nodeWriter(m)}
	refused := 0
	for i := range h {
		for range 2 { // one is behind at the first try, at least
			w := nodes[i/2%2]
			before := maps.Clone(m.objects)
			err := step(t, w, i, h[i])
			if !errors.Is(err, ErrTaken) {
				if err != nil {
					t.Errorf("moment %d: %v", i, err)
				}
				continue
			}
			refused++
			for key := range before {
				if m.objects[key] == "" && before[key] != "" {
					t.Errorf("moment %d: %s was removed", i, key)
				}
			}
		}
		if got := checkAll(t, m, h); got[len(got)-1] != i {
			t.Errorf("after moment %d there are %v", i, got)
		}
	}
	if refused != len(h)/2-2 { // at each turn but the first of either
		t.Errorf("%d writes were refused", refused)
	}
}

// A writer does not rely on an object that another node may still be removing.
func TestDoomedObjects(t *testing.T) {
	t.Parallel()
	m := newMemory()
	old, other := files{"old.sst": "old"}, files{"new.sst": "new"}
	stalled := nodeWriter(m)
	stalled.Keep = time.Hour
	if err := step(t, stalled, 0, old); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{5, 10} {
		stalled.swept = time.Time{}
		if _, err := write(t, stalled, i, other); err != nil {
			t.Fatal(err)
		}
		if i == 5 {
			if err := stalled.Tidy(t.Context(), timeOf(i), time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
	next := nodeWriter(m)
	if err := step(t, next, 11, old); !errors.Is(err, errDoomed) {
		t.Fatalf("%v", err)
	}
	if err := stalled.Tidy(t.Context(), timeOf(10), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := step(t, next, 11, old); err != nil {
		t.Fatal(err)
	}
	last, err := New(m).At(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fetched(t, New(m), last); err != nil || !maps.Equal(got, old) {
		t.Errorf("%v, %v", got, err)
	}
}

// A writer that may not rely on an object for ten minutes fails until then, and no longer.
func TestDoomPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		old, other := files{"old.sst": "old"}, files{"new.sst": "new"}
		gone := nodeWriter(m)
		gone.Keep = time.Hour
		for i, f := range []files{old, other, other} {
			gone.swept = time.Time{}
			if _, err := write(t, gone, 5*i, f); err != nil {
				t.Fatal(err)
			}
			if i == 1 {
				if err := gone.Tidy(t.Context(), timeOf(5), time.Now()); err != nil {
					t.Fatal(err)
				}
			}
		}
		next := nodeWriter(m)
		for minute := range 11 {
			if err := step(t, next, 11, old); errors.Is(err, errDoomed) != (minute < 10) || minute == 10 && err != nil {
				t.Errorf("after %d minutes: %v", minute, err)
			}
			time.Sleep(time.Minute)
		}
	})
}

// A moment stays small if many objects are to be removed, for example when a month's moments expire at once. The next
// sweep removes the rest.
func TestManyObjectsToRemove(t *testing.T) {
	t.Parallel()
	m := newMemory()
	for i := range maxRemovals + 100 {
		m.objects[objectKey(fmt.Sprintf("%064x", i))] = ""
	}
	w := newWriter(m, "a")
	if err := step(t, w, 0, history(1)[0]); err != nil {
		t.Fatal(err)
	}
	first, err := New(m).At(t.Context(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Removing) != maxRemovals {
		t.Errorf("the moment removes %d objects", len(first.Removing))
	}
	if err := step(t, w, 1, history(1)[0]); err != nil {
		t.Fatal(err)
	}
	checkNoGarbage(t, m)
}

// If little time is left before the next moment, a few objects are removed, and the next calls continue. An object that
// a new moment names is kept, although the last one has listed it for removal.
func TestTidyTakesTurns(t *testing.T) {
	t.Parallel()
	h := history(3)
	m := newMemory()
	for i := range 5 * removedAtOnce {
		m.objects[objectKey(fmt.Sprintf("%064x", i))] = ""
	}
	named := fmt.Sprintf("%x", sha256.Sum256([]byte(table(3)))) // which the third moment has first
	m.objects[objectKey(named)] = table(3)
	left := func() (n int) {
		for i := range 5 * removedAtOnce {
			if _, there := m.objects[objectKey(fmt.Sprintf("%064x", i))]; there {
				n++
			}
		}
		return n
	}
	w := newWriter(m, "a")
	for i, batches := range []int{4, 3, 2} {
		if _, err := write(t, w, i, h[i]); err != nil {
			t.Fatal(err)
		}
		want := batches * removedAtOnce
		if err := w.Tidy(t.Context(), timeOf(i), time.Now()); err != nil || left() != want {
			t.Errorf("after moment %d %d objects are left, want %d: %v", i, left(), want, err)
		}
	}
	if err := w.Tidy(t.Context(), timeOf(2), time.Now().Add(time.Hour)); err != nil || left() != 0 {
		t.Errorf("%d objects are left: %v", left(), err)
	}
	if _, there := m.objects[objectKey(named)]; !there {
		t.Error("an object that a moment names is removed")
	}
	checkNoGarbage(t, m)
	if got := checkAll(t, m, h); len(got) != 3 {
		t.Errorf("there are %v", got)
	}
}

// The last backup is the one that was made last, even if the clock was ahead at an earlier one. Otherwise backups that
// fail from then on would not count as late.
func TestLatestAfterAClockWasSetBack(t *testing.T) {
	t.Parallel()
	m := newMemory()
	w := newWriter(m, "a")
	for i, at := range []time.Duration{0, 24 * time.Hour, time.Minute} {
		about := backup.About{Created: start.Add(at)}
		if _, err := w.Write(t.Context(), dir(t, history(3)[i]), about); err != nil {
			t.Fatal(err)
		}
		again := newWriter(m, "a")
		if err := again.Prepare(t.Context(), start); err != nil {
			t.Fatal(err)
		}
		for _, of := range []*Writer{w, again} {
			if got := of.Latest(); !got.Equal(about.Created) {
				t.Errorf("the last backup is of %v, not %v", got, about.Created)
			}
		}
	}
}

// A writer that sleeps for hours finds that its number was used, even if that moment has expired since.
func TestWriterThatSleeps(t *testing.T) {
	t.Parallel()
	h := history(12)
	m := newMemory()
	sleeper := newWriter(m, "a")
	if err := sleeper.Prepare(t.Context(), timeOf(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := life(t, m, h, 0); err != nil {
		t.Fatal(err)
	}
	if m.objects[momentKey(1)] != "" {
		t.Fatal("the first moment has not expired")
	}
	if _, err := write(t, sleeper, 0, h[0]); !errors.Is(err, ErrTaken) {
		t.Errorf("%v", err)
	}
	checkAll(t, m, h)
}

// A list that omits a moment, as that of a service with several copies may, removes nothing of the moment. If another
// program has removed the moment, a later sweep removes the objects that it named.
func TestMomentIsNotListed(t *testing.T) {
	t.Parallel()
	h := history(4)
	m := newMemory()
	w := newWriter(m, "a")
	for i := range 2 {
		if err := step(t, w, i, h[i]); err != nil {
			t.Fatal(err)
		}
	}
	m.unlisted = momentKey(1)
	if err := step(t, w, 2, h[2]); !errors.Is(err, ErrNoMoment) {
		t.Errorf("a sweep without a moment: %v", err)
	}
	m.unlisted = ""
	if got := checkAll(t, m, h); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("there are %v", got)
	}
	if err := step(t, w, 2, h[2]); err != nil {
		t.Error(err)
	}
	delete(m.objects, momentKey(2))
	if err := step(t, w, 3, h[3]); !errors.Is(err, ErrNoMoment) {
		t.Errorf("a moment was removed: %v", err)
	}
	for range 2 { // the second removes what the first has let expire
		if err := step(t, w, 3, h[3]); err != nil {
			t.Error(err)
		}
	}
	if got := checkAll(t, m, h); slices.Contains(got, 1) || got[len(got)-1] != 3 {
		t.Errorf("there are %v", got)
	}
	checkNoGarbage(t, m)
}

// A lost answer does not make a writer mistake its own moment for another's.
func TestLostAnswerIsNoOtherWriter(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.fail = func(_ int, key string) (error, error) {
		if strings.HasPrefix(key, momentsPrefix) {
			m.fail = nil
			return nil, bucket.ErrExists // as a client says that has sent the request twice
		}
		return nil, nil
	}
	if _, err := write(t, newWriter(m, "a"), 0, history(1)[0]); err != nil {
		t.Error(err)
	}
}

func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	h := history(2)
	for name, c := range map[string]struct {
		damage func(m *memory, table, moment string)
		want   error
	}{
		"a changed object": {func(m *memory, table, _ string) { m.objects[table] = "table X" },
			backup.ErrNoBackup},
		"a longer object":  {func(m *memory, table, _ string) { m.objects[table] += "x" }, backup.ErrNoBackup},
		"half an object":   {func(m *memory, table, _ string) { m.objects[table] = "tab" }, backup.ErrNoBackup},
		"a missing object": {func(m *memory, table, _ string) { delete(m.objects, table) }, backup.ErrNoBackup},
		"half a moment": {func(m *memory, _, moment string) { m.objects[moment] = m.objects[moment][:100] },
			ErrDamaged},
		"two moments in one": {func(m *memory, _, moment string) { m.objects[moment] += m.objects[moment] },
			ErrDamaged},
		"a later format":          {changed(`"Format": 1`, `"Format": 2`), ErrDamaged},
		"a moment of another":     {changed(`"Number": 2`, `"Number": 1`), ErrDamaged},
		"a name that leads out":   {changed(`"control/MANIFEST`, `"../MANIFEST`), ErrDamaged},
		"a digest that is none":   {changed(`"SHA256": "`, `"SHA256": "../`), ErrDamaged},
		"data of a later version": {changed(`"format": 22`, `"format": 9999`), datadir.ErrTooNew},
	} {
		m := newMemory()
		w := newWriter(m, "a")
		for i := range h {
			if _, err := write(t, w, i, h[i]); err != nil {
				t.Fatal(err)
			}
		}
		sum := sha256.Sum256([]byte("table 2"))
		c.damage(m, objectKey(fmt.Sprintf("%x", sum)), momentKey(2))
		r := New(m)
		last, err := r.At(t.Context(), time.Time{})
		if err == nil {
			_, err = restored(t, r, last)
		}
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		// The first moment is unchanged, and nothing that it may need is removed.
		first, err := r.At(t.Context(), timeOf(0))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := step(t, w, 2, h[1]); (err == nil) == errors.Is(c.want, ErrDamaged) {
			t.Errorf("%s: tidy: %v", name, err)
		}
		if got, err := restored(t, r, first); err != nil || !maps.Equal(got, h[0]) {
			t.Errorf("%s: the first moment is %v, %v", name, got, err)
		}
	}
}

// A moment that cannot be read is not silently skipped: it may be the requested one.
func TestDamagedMomentIsNotPassedOver(t *testing.T) {
	t.Parallel()
	m := newMemory()
	w := newWriter(m, "a")
	for i, files := range history(4) {
		if _, err := write(t, w, i, files); err != nil {
			t.Fatal(err)
		}
	}
	m.objects[momentKey(2)] = "damaged"
	for at, want := range map[time.Time]int64{
		timeOf(0): 1, timeOf(0).Add(1): 0, timeOf(1): 0, timeOf(2): 3, timeOf(9): 4, {}: 4,
	} {
		got, err := New(m).At(t.Context(), at)
		switch {
		case want == 0 && (!errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "moment 2") ||
			!strings.Contains(err.Error(), "10:15")):
			t.Errorf("at %s: %v, %v", at, got, err)
		case want != 0 && (err != nil || got.Number != want):
			t.Errorf("at %s: %v, %v, want %d", at, got, err, want)
		}
	}
}

func changed(from, to string) func(m *memory, table, moment string) {
	return func(m *memory, _, moment string) { m.objects[moment] = strings.Replace(m.objects[moment], from, to, 1) }
}

// An object that was cut short, for example by a disk that lost data, is stored again by a starting writer.
func TestShortObjectIsStoredAgain(t *testing.T) {
	t.Parallel()
	h := history(1)
	m := newMemory()
	if _, err := write(t, newWriter(m, "a"), 0, h[0]); err != nil {
		t.Fatal(err)
	}
	m.objects[objectKey(fmt.Sprintf("%x", sha256.Sum256([]byte("table 0"))))] = "t"
	if _, err := write(t, newWriter(m, "a"), 0, h[0]); err != nil {
		t.Fatal(err)
	}
	checkAll(t, m, h)
}

// Objects that are removed or cut short while a writer runs, for example by a rule of the bucket, are stored again
// within an hour, which also completes older moments. Those that only older moments name are reported.
func TestVanishedObjectsAreStoredAgain(t *testing.T) {
	t.Parallel()
	h := history(5)
	m := newMemory()
	w := newWriter(m, "a")
	var reports []string
	w.Missing = func(again, lost int) { reports = append(reports, fmt.Sprintf("%d again, %d lost", again, lost)) }
	step := func(i int) {
		t.Helper()
		if _, err := write(t, w, i, h[min(i, 2)]); err != nil {
			t.Fatal(err)
		}
		if err := w.Tidy(t.Context(), timeOf(i), time.Now().Add(time.Hour)); err != nil {
			t.Error(err)
		}
	}
	for i := range 3 {
		step(i)
	}
	key := func(i int) string { return objectKey(fmt.Sprintf("%x", sha256.Sum256([]byte(table(i))))) }
	older := m.objects[key(0)]
	delete(m.objects, key(0))                    // only the first moment names it
	delete(m.objects, key(2))                    // the last two do
	delete(m.objects, packedKey(t, m, table(3))) // the last one does
	m.objects[objectKey(fmt.Sprintf("%x", sha256.Sum256([]byte("secret"))))] = "s"
	step(3) // after an hour
	if want := []string{"3 again, 0 lost", "0 again, 1 lost"}; !slices.Equal(reports, want) {
		t.Errorf("reported %q, want %q", reports, want)
	}
	step(4)
	if len(reports) != 2 {
		t.Errorf("reported %q", reports[2:])
	}
	m.objects[key(0)] = older
	err := New(m).Moments(t.Context(), func(moment *Moment) {
		if got, err := fetched(t, New(m), moment); err != nil || !maps.Equal(got, h[min(moment.Number-1, 2)]) {
			t.Errorf("moment %d is not whole: %v", moment.Number, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// Other objects in the same place are not touched.
func TestForeignObjectsStay(t *testing.T) {
	t.Parallel()
	m := newMemory()
	m.objects = map[string]string{
		"objects/photo.jpg": "1", "moments/notes": "2", "moments/1.json": "3",
		"objects/" + strings.Repeat("A", 64): "4",
	}
	before := maps.Clone(m.objects)
	if _, err := life(t, m, history(3), 0); err != nil {
		t.Fatal(err)
	}
	for key, text := range before {
		if m.objects[key] != text {
			t.Errorf("%s is %q", key, m.objects[key])
		}
	}
	checkAll(t, m, history(3))
}

// An upload ends when there is no room for the files that it reads, and when the server stops.
func TestUploadIsGivenUp(t *testing.T) {
	t.Parallel()
	m := newMemory()
	full := errors.New("the disk is nearly full")
	w := newWriter(m, "a")
	w.Room = func() error { return full }
	if _, err := write(t, w, 0, history(1)[0]); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	w.Room = func() error { return nil }
	ctx, cancel := context.WithCancel(t.Context())
	w.Pace = func(ctx context.Context, _ int) error { cancel(); return ctx.Err() }
	if _, err := w.Write(ctx, dir(t, history(1)[0]), backup.About{Created: start}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := w.Write(t.Context(), t.TempDir(), backup.About{Created: start}); err == nil {
		t.Error("a moment of nothing exists")
	}
	if got := checkAll(t, m, nil); len(got) > 0 {
		t.Errorf("there are %v", got)
	}
}

// TestMain creates the directories of the history.
func TestMain(m *testing.M) { os.Exit(withHistory(m)) }

func withHistory(m *testing.M) int {
	above, err := os.MkdirTemp("", "history-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(above) }()
	for i, f := range history(12) {
		at := filepath.Join(above, fmt.Sprint(i))
		if err := f.make(at); err != nil {
			panic(err)
		}
		dirs.Store(i, at)
	}
	return m.Run()
}

func FuzzDecode(f *testing.F) {
	m := Moment{About: backup.About{Format: format}, Number: 1,
		Files: []File{{Name: "a", Size: 1, SHA256: strings.Repeat("0", 64), Packed: 1}}}
	text, err := m.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decode(text, 1)
		if err != nil {
			return
		}
		for _, f := range m.Files {
			if !filepath.IsLocal(filepath.FromSlash(f.Name)) || bucket.CheckKey(objectKey(f.object())) != nil {
				t.Errorf("%+v", f)
			}
		}
	})
}
