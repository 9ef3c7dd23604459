package spool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// Limits of a spool.
const (
	// MaxPending is how many bytes may wait in memory. A single trail may use half of them.
	MaxPending = 16 << 20
	MaxSize    = 256 << 20
	MaxAge     = 7 * 24 * time.Hour
	// MaxSegment is the approximate maximum size of a segment.
	MaxSegment = 16 << 20
	// maxInMemory is MaxSize for a spool without a directory.
	maxInMemory = 32 << 20
	// flushAt is the number of waiting bytes that are written before the second is over.
	flushAt    = 2 << 20
	flushEvery = time.Second
)

// Spool holds the data events of a node. Its methods are safe for concurrent use.
type Spool struct {
	disk    disk
	most    int // bytes of all segments
	log     *slog.Logger
	pending *pending

	undelivered atomic.Uint64

	mu     sync.Mutex // held while segments are written, but not while they are read
	open   map[uuid.UUID]*Segment
	closed []*Segment // oldest first; they no longer change
}

// Open returns the spool in a directory, which it creates. An empty name means in memory.
func Open(dir string, log *slog.Logger) (*Spool, error) {
	if dir == "" {
		return openOn(newMemory(), maxInMemory, log)
	}
	return openOn(directory(dir), MaxSize, log)
}

func openOn(d disk, most int, log *slog.Logger) (*Spool, error) {
	s := &Spool{disk: d, most: most, log: log, pending: newPending(log), open: make(map[uuid.UUID]*Segment)}
	files, err := d.list()
	if err != nil {
		return nil, fmt.Errorf("read the spool of data events: %w", err)
	}
	for name, size := range files {
		if one, ok := parse(name); ok {
			one.size = size
			s.closed = append(s.closed, one)
		}
	}
	s.sort()
	return s, nil
}

func (s *Spool) sort() {
	slices.SortFunc(s.closed, func(a, b *Segment) int { return a.Began.Compare(b.Began) })
}

// Dropped returns how many events were dropped since the start because too many were waiting to be written.
func (s *Spool) Dropped() uint64 { return s.pending.droppedSoFar() }

// Undelivered returns how many events were removed since the start before they were delivered, because they were too
// many or too old.
func (s *Spool) Undelivered() uint64 { return s.undelivered.Load() }

// Add adds an event for a trail.
func (s *Spool) Add(trail uuid.UUID, event []byte) { s.pending.add(trail, event) }

// Run flushes every second, or as soon as much is waiting, until ctx ends, and then once more.
func (s *Spool) Run(ctx context.Context, now func() time.Time) {
	again := time.NewTicker(flushEvery)
	defer again.Stop()
	failing := false
	for ended := false; !ended; {
		select {
		case <-ctx.Done():
			ended = true
		case <-again.C:
		case <-s.pending.much:
		}
		err := s.Flush(now())
		switch {
		case err != nil && (ended || !failing):
			s.log.Warn("data events could not be written", "error", err)
		case err == nil && failing:
			s.log.Info("data events can be written again")
		}
		failing = err != nil
	}
}

// Flush writes the added events to files, and removes those that are too many or too old. Events that it cannot write
// are left to the next flush.
func (s *Spool) Flush(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failures []error
	for _, trail := range s.pending.trails() {
		if err := s.write(trail, now); err != nil {
			failures = append(failures, fmt.Errorf("write data events: %w", err))
		}
	}
	s.pending.reportDropped()
	return errors.Join(append(failures, s.trim(now))...)
}

// write appends the waiting events of a trail to its segment. After an error the length of the segment stays as before,
// and the next write, of the same text and more, overwrites the remains of the failed one.
func (s *Spool) write(trail uuid.UUID, now time.Time) error {
	one := s.open[trail]
	if one == nil {
		one = newSegment(trail, now)
		s.open[trail] = one
	}
	text := s.pending.text(trail)
	if err := s.disk.write(one.name(), text, one.size); err != nil {
		return err
	}
	s.pending.written(trail, len(text))
	if one.size += len(text); one.size >= MaxSegment {
		s.close(one)
	}
	return nil
}

func (s *Spool) close(one *Segment) {
	delete(s.open, one.Trail)
	s.closed = append(s.closed, one)
}

// trim removes segments that are too old and then, while there is too much, the oldest of the trail with the most.
func (s *Spool) trim(now time.Time) error {
	var failures []error
	s.sort()
	for len(s.closed) > 0 && now.Sub(s.closed[0].Began) > MaxAge {
		failures = append(failures, s.drop(s.closed[0]))
	}
	for {
		total, largest := s.sizes()
		if total <= s.most {
			return errors.Join(failures...)
		}
		failures = append(failures, s.drop(s.oldest(largest)))
	}
}

// sizes returns the total size of all segments, and the trail with the most.
func (s *Spool) sizes() (total int, largest uuid.UUID) {
	of := make(map[uuid.UUID]int)
	add := func(one *Segment) {
		total += one.size
		if of[one.Trail] += one.size; of[one.Trail] > of[largest] {
			largest = one.Trail
		}
	}
	for _, one := range s.closed {
		add(one)
	}
	for _, one := range s.open {
		add(one)
	}
	return total, largest
}

// oldest returns the oldest complete segment of a trail.
func (s *Spool) oldest(trail uuid.UUID) *Segment {
	is := func(one *Segment) bool { return one.Trail == trail }
	if i := slices.IndexFunc(s.closed, is); i >= 0 {
		return s.closed[i]
	}
	one := s.open[trail]
	s.close(one)
	return one
}

// drop removes an undelivered segment.
func (s *Spool) drop(one *Segment) error {
	events, err := s.Read(one) // whose error does not keep the segment
	s.undelivered.Add(uint64(len(events)))
	s.log.Warn("data events are dropped: they could not be delivered, and are too many or too old",
		"events", len(events), "bytes", one.size, "began", one.Began)
	return errors.Join(err, s.remove(one))
}

// Due returns the segments that were begun at least so long ago, oldest first. They are complete.
func (s *Spool) Due(now time.Time, age time.Duration) []*Segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.open {
		if now.Sub(one.Began).Abs() >= age && one.size > 0 {
			s.close(one)
		}
	}
	s.sort()
	return slices.Clone(s.closed)
}

// Read returns the events of a segment that is due.
func (s *Spool) Read(one *Segment) (events [][]byte, err error) {
	text, err := s.disk.read(one.name())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read data events: %w", err)
	}
	for line := range bytes.Lines(text[:min(len(text), one.size)]) {
		if line = bytes.TrimSuffix(line, []byte("\n")); json.Valid(line) {
			events = append(events, line)
		}
	}
	return events, nil
}

// Remove removes a segment.
func (s *Spool) Remove(one *Segment) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.remove(one)
}

func (s *Spool) remove(one *Segment) error {
	s.closed = slices.DeleteFunc(s.closed, func(other *Segment) bool { return other == one })
	if err := s.disk.remove(one.name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove data events: %w", err)
	}
	return nil
}
