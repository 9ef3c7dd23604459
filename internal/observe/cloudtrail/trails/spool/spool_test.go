package spool_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/spool"
)

var (
	noon   = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	one    = uuid.MustParse("0194f0a0-0000-7000-8000-000000000001")
	two    = uuid.MustParse("0194f0a0-0000-7000-8000-000000000002")
	silent = slog.New(slog.DiscardHandler)
)

func open(t *testing.T, dir string) *spool.Spool {
	t.Helper()
	s, err := spool.Open(dir, silent)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func flush(t *testing.T, s *spool.Spool, now time.Time) {
	t.Helper()
	if err := s.Flush(now); err != nil {
		t.Fatal(err)
	}
}

// Flushed events stay until they are removed, in segments of one trail each, even after a restart and without the line
// that was being written when the server died.
func TestSpool(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", filepath.Join(t.TempDir(), "spool")} {
		s := open(t, dir)
		s.Add(one, []byte(`{"n":1}`))
		flush(t, s, noon)
		s.Add(two, []byte(`{"n":2}`))
		s.Add(one, []byte(`{"n":3}`))
		flush(t, s, noon.Add(time.Minute))
		if due := s.Due(noon.Add(4*time.Minute), 5*time.Minute); len(due) > 0 {
			t.Errorf("%q: due are %v", dir, due)
		}
		if dir != "" {
			files, err := os.ReadDir(dir)
			if err != nil || len(files) != 2 {
				t.Fatal(files, err)
			}
			for _, f := range files {
				whole, err := os.ReadFile(filepath.Join(dir, f.Name()))
				if err == nil {
					err = os.WriteFile(filepath.Join(dir, f.Name()), append(whole, `{"n":`...), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			s = open(t, dir)
		}
		due := s.Due(noon.Add(6*time.Minute), 5*time.Minute)
		if len(due) != 2 || due[0].Trail != one || !due[0].Began.Equal(noon) || due[1].Trail != two {
			t.Fatalf("%q: due are %+v", dir, due)
		}
		events, err := s.Read(due[0])
		if got := string(bytes.Join(events, []byte(" "))); err != nil || got != `{"n":1} {"n":3}` {
			t.Errorf("%q: read %s, %v", dir, got, err)
		}
		if err := s.Remove(due[0]); err != nil {
			t.Fatal(err)
		}
		if due = s.Due(noon.Add(6*time.Minute), 5*time.Minute); len(due) != 1 {
			t.Errorf("%q: left are %+v", dir, due)
		}
		flush(t, s, noon.Add(8*24*time.Hour))
		if due = s.Due(noon.Add(8*24*time.Hour), 0); len(due) != 0 {
			t.Errorf("%q: after a week there are %+v", dir, due)
		}
		if n := s.Undelivered(); n != 1 {
			t.Errorf("%q: undelivered are %d", dir, n)
		}
	}
}

// The spool keeps no more than the limit.
func TestBounds(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	event := fmt.Appendf(nil, `{"text":"%032000d"}`, 1)
	for range 2 * spool.MaxPending / len(event) {
		s.Add(one, event)
	}
	if s.Dropped() < 500 {
		t.Errorf("dropped were %d", s.Dropped())
	}
	for range 9 {
		flush(t, s, noon)
		for range spool.MaxPending / len(event) {
			s.Add(one, event)
		}
	}
	size := 0
	for _, segment := range s.Due(noon.Add(time.Hour), 0) {
		events, err := s.Read(segment)
		if err != nil {
			t.Fatal(err)
		}
		size += len(events) * len(event)
	}
	if size > 48<<20 || size < 16<<20 {
		t.Errorf("kept are %d bytes", size)
	}
}

// An event whose write failed is kept, and written as soon as possible.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	s := open(t, dir)
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file in place of the directory
		t.Fatal(err)
	}
	for n := range 100 {
		s.Add(one, fmt.Appendf(nil, `{"n":%d}`, n))
	}
	if err := s.Flush(noon); err == nil {
		t.Fatal("events were written although the directory is a file")
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	s.Add(one, []byte(`{"n":100}`))
	flush(t, s, noon.Add(time.Second))
	var got []string
	for _, segment := range s.Due(noon.Add(time.Hour), 0) {
		events, err := s.Read(segment)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			got = append(got, string(e))
		}
	}
	if len(got) != 101 || got[0] != `{"n":0}` || got[100] != `{"n":100}` || s.Dropped() != 0 {
		t.Errorf("kept are %d events, %d were dropped", len(got), s.Dropped())
	}
}

// A trail that has too much to write, or too much undelivered, takes nothing from another.
func TestFairShares(t *testing.T) {
	t.Parallel()
	s := open(t, "")
	event := fmt.Appendf(nil, `{"text":"%032000d"}`, 1)
	s.Add(two, event)
	flush(t, s, noon)
	for range 6 {
		for range spool.MaxPending / len(event) {
			s.Add(one, event)
		}
		dropped := s.Dropped()
		if s.Add(two, event); s.Dropped() != dropped || dropped == 0 {
			t.Fatalf("dropped were %d, and then %d", dropped, s.Dropped())
		}
		flush(t, s, noon)
	}
	of := make(map[uuid.UUID]int)
	for _, segment := range s.Due(noon.Add(time.Hour), 0) {
		events, err := s.Read(segment)
		if err != nil {
			t.Fatal(err)
		}
		of[segment.Trail] += len(events)
	}
	if of[two] != 7 || of[one] == 0 || s.Undelivered() == 0 {
		t.Errorf("kept are %v, %d were removed", of, s.Undelivered())
	}
}
