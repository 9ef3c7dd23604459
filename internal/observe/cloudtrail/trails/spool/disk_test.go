package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

var errFull = errors.New("no space left on device")

// full is a disk with limited space. A write that does not fit leaves the part that does.
type full struct {
	*memory
	room int
}

func (f *full) write(name string, text []byte, offset int) error {
	f.mu.Lock()
	file, used := f.files[name], 0
	for _, other := range f.files {
		used += len(other)
	}
	grows := max(0, offset+len(text)-len(file))
	fits := len(text) - max(0, grows-max(0, f.room-used))
	file = append(file, make([]byte, max(0, offset+fits-len(file)))...)
	copy(file[offset:], text[:fits])
	f.files[name] = file
	f.mu.Unlock()
	if fits < len(text) {
		return errFull
	}
	return nil
}

// number is the content of this test's events.
type number struct {
	N   int
	Pad string
}

// numbers returns the numbers of all events in a spool, by trail, in the order of the writes.
func numbers(t *testing.T, s *Spool, now time.Time) map[uuid.UUID][]int {
	t.Helper()
	out := make(map[uuid.UUID][]int)
	for _, one := range s.Due(now, 0) {
		events, err := s.Read(one)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range events {
			var n number
			if err := json.Unmarshal(text, &n); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			out[one.Trail] = append(out[one.Trail], n.N)
		}
	}
	return out
}

// On a disk that is repeatedly full, the spool neither loses nor repeats events, and keeps their order. A crash at any
// point loses only events that no flush has written.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		d := &full{memory: newMemory()}
		s, err := openOn(d, MaxSize, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		trails := []uuid.UUID{uuid.New(), uuid.New()}
		added, safe := make(map[uuid.UUID][]int), make(map[uuid.UUID]int)
		now := time.UnixMilli(1767225600000)
		for n := range 100 {
			id := trails[random.IntN(2)]
			text, err := json.Marshal(number{n, strings.Repeat("x", random.IntN(50))})
			if err != nil {
				t.Fatal(err)
			}
			s.Add(id, text)
			added[id] = append(added[id], n)
			switch random.IntN(8) {
			case 0, 1:
				d.room += random.IntN(500)
				if err := s.Flush(now); err == nil {
					safe = map[uuid.UUID]int{trails[0]: len(added[trails[0]]), trails[1]: len(added[trails[1]])}
				} else if !errors.Is(err, errFull) {
					t.Fatal(err)
				}
			case 2:
				s.Due(now, time.Second) // closes segments
			}
			now = now.Add(time.Duration(random.IntN(1000)) * time.Millisecond)
			crashed, err := openOn(d, MaxSize, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			for id, got := range numbers(t, crashed, now) {
				slices.Sort(got)
				got = slices.Compact(got) // a crash may leave a failed write and its repetition
				if len(got) < safe[id] || !slices.Equal(got, added[id][:len(got)]) {
					t.Fatalf("seed %d: after a crash there are %v of %v, and %d were flushed", seed, got, added[id],
						safe[id])
				}
			}
		}
		d.room = 1 << 20
		if err := s.Flush(now); err != nil {
			t.Fatal(err)
		}
		for id, got := range numbers(t, s, now) {
			if !slices.Equal(got, added[id]) {
				t.Fatalf("seed %d: the spool has %v, and %v were added", seed, got, added[id])
			}
		}
		if s.Dropped() != 0 || s.pending.waiting != 0 {
			t.Fatalf("seed %d: dropped are %d, and %d bytes are waiting", seed, s.Dropped(), s.pending.waiting)
		}
	}
}

// While nothing can be written, the number of waiting events is bounded, the rest is counted, and the log reports it
// once.
func TestFullDiskForLong(t *testing.T) {
	t.Parallel()
	d := &full{memory: newMemory()}
	var log bytes.Buffer
	s, err := openOn(d, MaxSize, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	id, now, added := uuid.New(), time.UnixMilli(1767225600000), 0
	for range 20 {
		for range 50 {
			text, err := json.Marshal(number{added, strings.Repeat("x", 20_000)})
			if err != nil {
				t.Fatal(err)
			}
			s.Add(id, text)
			added++
		}
		if err := s.Flush(now); !errors.Is(err, errFull) {
			t.Fatalf("the flush on a full disk ended with %v", err)
		}
	}
	d.room = MaxSize
	for range 3 {
		if err := s.Flush(now); err != nil {
			t.Fatal(err)
		}
	}
	kept := numbers(t, s, now)[id]
	if dropped := s.Dropped(); dropped == 0 || len(kept)+int(dropped) != added || len(kept) < 400 {
		t.Errorf("of %d events %d are kept, and %d were dropped", added, len(kept), dropped)
	}
	want := fmt.Sprintf("msg=\"data events are no longer dropped\" dropped=%d\n", s.Dropped())
	if got := log.String(); strings.Count(got, "\n") != 2 ||
		strings.Count(got, "data events are dropped: more come than can be written") != 1 ||
		!strings.HasSuffix(got, want) {
		t.Errorf("the log is %s", got)
	}
}
