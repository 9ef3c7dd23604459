package server

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Each check sees a disk with this much free space, in MiB.
func TestSpace(t *testing.T) {
	const mib = 1 << 20
	type look struct {
		free uint64
		low  bool
	}
	for name, tc := range map[string]struct {
		mark  int64
		total uint64
		looks []look
	}{
		"a mark": {100 * mib, 1000,
			[]look{{1000, false}, {100, false}, {99, true}, {100, true}, {112, true}, {113, false}, {100, false},
				{0, true}}},
		"none":       {0, 1000, []look{{0, false}}},
		"large disk": {AutoMinFree, 1_000_000, []look{{512, false}, {511, true}, {575, true}, {576, false}}},
		"small disk": {AutoMinFree, 1000, []look{{100, false}, {99, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			var free uint64
			var fails error
			var log bytes.Buffer
			s := &space{mark: tc.mark, log: slog.New(slog.NewTextHandler(&log, nil)),
				free: func() (uint64, uint64, error) {
					return free * mib, tc.total * mib, fails
				}}
			changes, was := 0, false
			for _, l := range tc.looks {
				free = l.free
				s.look()
				s.look() // which is nothing new
				fails = errors.New("unknown")
				s.look() // which changes nothing
				fails = nil
				if got := s.room() != nil; got != l.low {
					t.Errorf("%d MiB free: low %t", l.free, got)
				}
				if l.low != was {
					changes, was = changes+1, l.low
				}
			}
			if lines := strings.Count(log.String(), "\n"); lines != changes {
				t.Errorf("%d changes:\n%s", changes, log.String())
			}
		})
	}
}

func TestSpaceIsWatchedAndReclaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var free atomic.Uint64
		var reclaimed atomic.Int64
		slow := make(chan struct{})
		free.Store(1000)
		s := &space{
			mark: 100, log: slog.New(slog.DiscardHandler),
			free:    func() (uint64, uint64, error) { return free.Load(), 1000, nil },
			reclaim: func() error { reclaimed.Add(1); <-slow; return nil },
		}
		go s.Run(t.Context())
		time.Sleep(time.Minute)
		synctest.Wait()
		if reclaimed.Load() != 0 || s.room() != nil {
			t.Errorf("enough space: reclaimed %d times, room: %v", reclaimed.Load(), s.room())
		}
		free.Store(10)
		time.Sleep(time.Minute)
		synctest.Wait()
		if reclaimed.Load() != 1 || s.room() == nil {
			t.Errorf("little space: reclaimed %d times at once, room: %v", reclaimed.Load(), s.room())
		}
		close(slow)
		time.Sleep(time.Minute)
		synctest.Wait()
		if reclaimed.Load() < 10 {
			t.Errorf("little space: reclaimed %d times", reclaimed.Load())
		}
		free.Store(1000)
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.room() != nil {
			t.Errorf("finally: %v", s.room())
		}
	})
}

// TestSpaceFillsFast fills a disk within a second: the data written between two checks must not use up the reserve.
func TestSpaceFillsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const reserve, perSecond = 64 << 20, 500 << 20 // bytes
		var free atomic.Int64
		var looks atomic.Int64
		free.Store(4 << 30)
		s := &space{
			mark: reserve, log: slog.New(slog.DiscardHandler), reclaim: func() error { return nil },
			free: func() (uint64, uint64, error) { looks.Add(1); return uint64(free.Load()), 8 << 30, nil },
		}
		go s.Run(t.Context())
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := looks.Load(); n > 11 {
			t.Errorf("%d checks in 10 s of a disk with much free space", n)
		}
		for s.room() == nil && free.Load() > 0 {
			time.Sleep(10 * time.Millisecond)
			free.Add(-perSecond / 100)
		}
		if left := free.Load(); left < reserve/2 {
			t.Errorf("the server refuses data with %d bytes left", left)
		}
	})
}
