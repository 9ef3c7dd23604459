package crash

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/internal/store"
)

// TestTornAndDamaged damages files of a shard that was closed gracefully.
func TestTornAndDamaged(t *testing.T) {
	t.Run("torn record", tornRecord)
	t.Run("damaged log", damagedLog)
	t.Run("damaged manifest", damagedManifest)
	t.Run("damaged table", damagedTable)
}

// A process that dies while it writes leaves an unreadable end of the log. Everything acknowledged is before it.
func tornRecord(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	ends := []func(rest []byte){
		func(rest []byte) { clear(rest) },
		func(rest []byte) {
			for i := range rest {
				rest[i] = byte(rng.Uint32())
			}
		},
	}
	l := collect(t, 1, 20)
	log := contents(t, l.disk, l.log)
	last := l.past[len(l.past)-2].log // where the last record begins
	for range 30 {
		cut := last + rng.IntN(len(log)-last)
		spoilt := [][]byte{log[:cut]}
		for _, end := range ends {
			text := slices.Clone(log)
			end(text[cut:])
			spoilt = append(spoilt, text)
		}
		for kind, text := range spoilt {
			got, err := l.read(l.with(t, l.log, text))
			if err != nil {
				t.Fatalf("end %d, cut at %d of %d: %v", kind, cut, len(log), err)
			}
			if !maps.Equal(got, l.at(cut)) {
				t.Errorf("end %d, cut at %d of %d: %d messages, want %d", kind, cut, len(log), len(got), len(l.at(cut)))
			}
		}
	}
}

// Damage in the log is an error that names the place, unless it reaches the
// beginning of the last commit: then it looks like a write that was cut short,
// everything up to there is there, and nothing is mixed up. If the log was
// closed in good order, that is known as well.
func damagedLog(t *testing.T) {
	l := collect(t, 1, 120)
	closed := contents(t, l.disk, l.log)
	whole := l.past[len(l.past)-1].log
	last := l.past[len(l.past)-1].log // where the last commit begins
	for _, m := range slices.Backward(l.past) {
		if m.log < whole {
			last = m.log
			break
		}
	}
	for _, log := range [][]byte{closed, closed[:whole]} {
		for way, n := range map[string]int{"bit": 1, "sector": 512, "block": 32 << 10} {
			for at := 0; at < whole; at += 1 + whole/100 {
				text := slices.Clone(log)
				end := min(at+n, len(text))
				for i := range text[at:end] {
					text[at+i] ^= 0x10
				}
				unknowable := end > last && len(log) == whole || end > whole
				got, err := l.read(l.with(t, l.log, text))
				var damage *store.Damage
				switch {
				case err == nil && maps.Equal(got, l.at(at)) && (unknowable || maps.Equal(got, l.want)):
				case errors.As(err, &damage) && store.IsCorruption(err):
					if path.Base(damage.File) != l.log || damage.Offset > int64(at) {
						t.Errorf("%s at %d of %d: %v", way, at, len(log), err)
					}
				default:
					t.Errorf("%s at %d of %d: %d messages, want %d, error %v", way, at, len(log), len(got),
						len(l.at(at)), err)
				}
			}
		}
	}
}

// Damage in the MANIFEST is also an error: it would hide whole tables.
func damagedManifest(t *testing.T) {
	l := collect(t, 3, 40)
	names := l.files(t, "")
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "MANIFEST-") })
	name := names[len(names)-1]
	manifest := contents(t, l.disk, name)
	noticed := 0
	for at := range manifest {
		flipped := slices.Clone(manifest)
		flipped[at] ^= 0x10
		for what, text := range map[string][]byte{"flipped": flipped, "cut": manifest[:at]} {
			got, err := l.read(l.with(t, name, text))
			switch {
			case err == nil && maps.Equal(got, l.want):
			case store.IsCorruption(err) && strings.Contains(err.Error(), name):
				noticed++
			default:
				t.Errorf("%s at %d of %d: %d messages, want %d, error %v", what, at, len(manifest), len(got),
					len(l.want), err)
			}
		}
	}
	if noticed == 0 {
		t.Error("no damage was noticed")
	}
}

// A table that returns other data than was written must be noticed: either nothing is missing, or an error names the
// damage.
func damagedTable(t *testing.T) {
	l := collect(t, 3, 40)
	noticed := 0
	for _, name := range l.files(t, ".sst") {
		table := contents(t, l.disk, name)
		for at := 0; at < len(table); at += 1 + len(table)/100 {
			text := slices.Clone(table)
			text[at] ^= 0x10
			got, err := l.read(l.with(t, name, text))
			switch {
			case err == nil && maps.Equal(got, l.want):
			case store.IsCorruption(err), err != nil && strings.Contains(err.Error(), name):
				noticed++
			default:
				t.Errorf("%s, byte %d of %d: %d messages, want %d, error %v", name, at, len(table), len(got),
					len(l.want), err)
			}
		}
	}
	if noticed == 0 {
		t.Error("no damage was noticed")
	}
}

// library is a shard's directory with known messages.
type library struct {
	disk   *vfs.MemFS
	queues *catalog
	clock  *leapClock
	want   map[string]bool // names of the messages
	log    string          // the file of the write-ahead log
	past   []moment        // of the last sitting
}

// moment is a past state of a library.
type moment struct {
	log  int // bytes
	want map[string]bool
}

// collect makes a library: in each sitting it sends this many messages to each queue, and deletes some. The log of a
// sitting becomes a table at the start of the next.
func collect(t *testing.T, sittings, letters int) *library {
	t.Helper()
	l := &library{
		disk: vfs.NewMem(), queues: new(catalog), want: make(map[string]bool),
		clock: &leapClock{began: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)},
	}
	for sitting := range sittings {
		m, err := l.open(l.disk)
		if err != nil {
			t.Fatal(err)
		}
		logs := l.files(t, ".log")
		l.log, l.past = logs[len(logs)-1], nil
		l.remember(t)
		if sitting == 0 {
			j, _ := newJournal(l.clock)
			establish(t, workload.New(rand.New(rand.NewPCG(0, 0)), workload.Options{}), &workload.Recorder{
				Journal: j, Pick: workload.To(m),
			})
		}
		for _, queue := range []string{"plain", "orders.fifo"} {
			for n := range letters {
				name := fmt.Sprintf("%s/%d/%d", queue, sitting, n)
				if _, err := m.Send(queue, []workload.Letter{{Name: name, Group: "g"}}); err == nil {
					l.want[name] = true
				}
				l.remember(t)
				if n%8 > 0 {
					continue
				}
				messages, _ := m.Receive(queue, workload.Receive{Most: 3, Timeout: workload.Visibility})
				l.remember(t)
				var handles []string
				for _, got := range messages {
					handles = append(handles, got.Handle)
				}
				results, _ := m.Remove(queue, handles) // none if it is refused
				for i, err := range results {
					if err == nil {
						name, _ := workload.NameIn(messages[i].Body) // of which there is no doubt here
						delete(l.want, name)
					}
				}
				l.remember(t)
			}
		}
		if err := m.close(); err != nil {
			t.Fatal(err)
		}
		l.clock.Sleep(2 * workload.Visibility)
	}
	return l
}

func (l *library) open(disk *vfs.MemFS) (*machine, error) {
	return powerOn(disk, l.queues, l.clock, 0, rand.New(rand.NewPCG(0, 0)), func() {})
}

// files returns the names of the files with that suffix, the newest last.
func (l *library) files(t *testing.T, suffix string) []string {
	t.Helper()
	names, err := l.disk.List(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, suffix) })
}

func (l *library) remember(t *testing.T) {
	t.Helper()
	l.past = append(l.past, moment{len(contents(t, l.disk, l.log)), maps.Clone(l.want)})
}

// at returns the contents at the time when the log was complete up to some byte.
func (l *library) at(n int) map[string]bool {
	want := l.past[0].want
	for _, m := range l.past {
		if m.log <= n {
			want = m.want
		}
	}
	return want
}

// with returns a copy of the disk with one file replaced.
func (l *library) with(t *testing.T, name string, text []byte) *vfs.MemFS {
	t.Helper()
	disk := vfs.NewMem()
	if _, err := vfs.Clone(l.disk, disk, dataDir, dataDir); err != nil {
		t.Fatal(err)
	}
	f, err := disk.Create(path.Join(dataDir, name), vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(slices.Clone(text)) // a file under test may overwrite it
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return disk
}

func contents(t *testing.T, disk *vfs.MemFS, name string) []byte {
	t.Helper()
	f, err := disk.Open(path.Join(dataDir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// read opens the shard on a disk and returns the names of all messages.
func (l *library) read(disk *vfs.MemFS) (names map[string]bool, err error) {
	m, err := l.open(disk)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	names = make(map[string]bool)
	for _, queue := range []string{"plain", "orders.fifo"} {
		for {
			messages, err := m.Receive(queue, workload.Receive{Most: 10, Timeout: time.Minute})
			if errors.Is(err, history.NoQueue) || err == nil && len(messages) == 0 {
				break
			}
			if err != nil {
				return nil, err
			}
			var handles []string
			for _, got := range messages {
				name, damage := workload.NameIn(got.Body)
				if damage != nil {
					return nil, damage
				}
				names[name] = true
				handles = append(handles, got.Handle)
			}
			if _, err := m.Remove(queue, handles); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}
