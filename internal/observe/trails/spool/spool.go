// Package spool keeps data events on the node that has recorded them until they are delivered.
//
// # What is guaranteed
//
//   - Add never waits: it puts the event into memory. Flush, which is called every second, writes it to a file, so that a
//     crash loses the events of the last second, and of the last seconds of a machine that loses its power.
//   - What is in a file is there until Remove, also after a restart, within MaxSize and MaxAge. Then the oldest go first.
//   - No more than MaxPending bytes wait in memory. Further events are dropped, and counted.
//
// A segment is a file of events of one trail, one JSON text a line, named TRAIL-TIME-ID.events: the time at which it was
// begun, in milliseconds, and a random id. A line that is not whole, because the server died, is left out. A spool without
// a directory keeps its segments in memory.
package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Bounds of a spool.
const (
	MaxPending = 8 << 20
	MaxSize    = 256 << 20
	MaxAge     = 7 * 24 * time.Hour
	// MaxSegment is how long a segment becomes, about.
	MaxSegment = 16 << 20
	// maxInMemory is MaxSize of a spool without a directory.
	maxInMemory = 32 << 20
)

const suffix = ".events"

// Segment is a file of events.
type Segment struct {
	Trail uuid.UUID
	Began time.Time
	ID    string // of no other segment, on any node

	size int
	text []byte // without a directory
}

func (s *Segment) name() string {
	return fmt.Sprintf("%s-%d-%s%s", s.Trail, s.Began.UnixMilli(), s.ID, suffix)
}

// parse returns the segment that a file of that name is.
func parse(name string) (*Segment, bool) {
	base, ok := strings.CutSuffix(name, suffix)
	if !ok || len(base) < 38 {
		return nil, false
	}
	id, err := uuid.Parse(base[:36])
	at, unique, ok := strings.Cut(base[37:], "-")
	began, badTime := strconv.ParseInt(at, 10, 64)
	s := &Segment{Trail: id, Began: time.UnixMilli(began).UTC(), ID: unique}
	return s, ok && err == nil && badTime == nil && s.name() == name
}

// Spool is the data events of a node. Its methods may be called from any goroutine.
type Spool struct {
	dir string
	log *slog.Logger

	mu      sync.Mutex
	pending map[uuid.UUID]*bytes.Buffer
	waiting int // bytes in pending
	dropped uint64

	undelivered atomic.Uint64

	files  sync.Mutex // held while segments are read or written
	open   map[uuid.UUID]*Segment
	closed []*Segment // oldest first
}

// Open returns the spool in a directory, which it makes; an empty name means that it is in memory.
func Open(dir string, log *slog.Logger) (*Spool, error) {
	s := &Spool{dir: dir, log: log, pending: make(map[uuid.UUID]*bytes.Buffer), open: make(map[uuid.UUID]*Segment)}
	if dir == "" {
		return s, nil
	}
	files, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the spool of data events: %w", err)
	}
	for _, f := range files {
		info, err := f.Info()
		if one, ok := parse(f.Name()); ok && err == nil {
			one.size = int(info.Size())
			s.closed = append(s.closed, one)
		}
	}
	s.sort()
	return s, nil
}

func (s *Spool) sort() {
	slices.SortFunc(s.closed, func(a, b *Segment) int { return a.Began.Compare(b.Began) })
}

// Dropped returns how many events were dropped since the start because too many were waiting.
func (s *Spool) Dropped() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Undelivered returns how many events were removed since the start before they were delivered, because they were too many
// or too old.
func (s *Spool) Undelivered() uint64 { return s.undelivered.Load() }

// Add keeps an event for a trail.
func (s *Spool) Add(trail uuid.UUID, event []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting+len(event)+1 > MaxPending {
		if s.dropped == 0 {
			s.log.Warn("data events are dropped: more come than can be written", "bytes", s.waiting)
		}
		s.dropped++
		return
	}
	b := s.pending[trail]
	if b == nil {
		b = new(bytes.Buffer)
		s.pending[trail] = b
	}
	b.Write(event)
	b.WriteByte('\n')
	s.waiting += len(event) + 1
}

// Flush writes what was added to files, and removes what is too much or too old.
func (s *Spool) Flush(now time.Time) error {
	s.files.Lock()
	defer s.files.Unlock()
	s.mu.Lock()
	pending := s.pending
	s.pending, s.waiting = make(map[uuid.UUID]*bytes.Buffer), 0
	s.mu.Unlock()
	var failures []error
	for trail, text := range pending {
		if err := s.write(trail, text.Bytes(), now); err != nil {
			failures = append(failures, fmt.Errorf("write data events: %w", err))
		}
	}
	return errors.Join(append(failures, s.trim(now))...)
}

func (s *Spool) write(trail uuid.UUID, text []byte, now time.Time) error {
	one := s.open[trail]
	if one == nil {
		one = &Segment{Trail: trail, Began: now.UTC().Truncate(time.Millisecond), ID: strings.ReplaceAll(uuid.NewString(), "-", "")}
		s.open[trail] = one
	}
	if s.dir == "" {
		one.text = append(one.text, text...)
	} else if err := s.append(one, text); err != nil {
		s.close(one) // whatever was written is looked at when it is read
		return err
	}
	if one.size += len(text); one.size >= MaxSegment {
		s.close(one)
	}
	return nil
}

func (s *Spool) append(one *Segment, text []byte) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(s.dir, one.name()), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func (s *Spool) close(one *Segment) {
	delete(s.open, one.Trail)
	s.closed = append(s.closed, one)
}

// trim removes the oldest segments as long as there is too much.
func (s *Spool) trim(now time.Time) error {
	most, size := MaxSize, 0
	if s.dir == "" {
		most = maxInMemory
	}
	for _, one := range s.closed {
		size += one.size
	}
	var failures []error
	for len(s.closed) > 0 && (size > most || now.Sub(s.closed[0].Began) > MaxAge) {
		events, err := s.read(s.closed[0])
		if err != nil {
			failures = append(failures, err) // they are too many all the same
		}
		s.undelivered.Add(uint64(len(events)))
		s.log.Warn("data events are dropped: they could not be delivered, and are too many or too old", "events", len(events), "bytes", s.closed[0].size, "began", s.closed[0].Began)
		size -= s.closed[0].size
		failures = append(failures, s.remove(s.closed[0]))
	}
	return errors.Join(failures...)
}

// Due returns the segments that were begun so long ago, oldest first. Nothing is added to them any more.
func (s *Spool) Due(now time.Time, age time.Duration) []*Segment {
	s.files.Lock()
	defer s.files.Unlock()
	for _, one := range s.open {
		if now.Sub(one.Began).Abs() >= age {
			s.close(one)
		}
	}
	s.sort()
	return slices.Clone(s.closed)
}

// Read returns the events of a segment.
func (s *Spool) Read(one *Segment) (events [][]byte, err error) {
	s.files.Lock()
	defer s.files.Unlock()
	return s.read(one)
}

func (s *Spool) read(one *Segment) (events [][]byte, err error) {
	text := one.text
	if s.dir != "" {
		if text, err = os.ReadFile(filepath.Join(s.dir, one.name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("read data events: %w", err)
		}
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSuffix(line, []byte("\n")); json.Valid(line) {
			events = append(events, line)
		}
	}
	return events, nil
}

// Remove removes a segment.
func (s *Spool) Remove(one *Segment) error {
	s.files.Lock()
	defer s.files.Unlock()
	return s.remove(one)
}

func (s *Spool) remove(one *Segment) error {
	s.closed = slices.DeleteFunc(s.closed, func(other *Segment) bool { return other == one })
	if s.dir == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(s.dir, one.name())); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove data events: %w", err)
	}
	return nil
}
