package bench

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// schedule defines when the calls of a load with a rate are due: at even intervals, whether or not earlier calls were
// answered. Each connection takes the next call as soon as it is free, and the time of a call counts from when it was
// due. So a server that stalls for a second is seen by all calls of that second. Producers that wait for an answer
// before they send again would see the stall once each, which is called coordinated omission.
type schedule struct {
	began   time.Time
	between float64 // seconds
	calls   int
	last    time.Time // no call begins later

	// ready has an element for each call that is due and not begun. It is closed behind the last. Its elements have no
	// size, so it takes no memory, and has room for all calls.
	ready    chan struct{}
	released atomic.Int64
	begun    atomic.Int64
}

// grace is how long after the measurement calls may begin that were due in it.
const grace = time.Second

// newSchedule returns the schedule of a load that begins now.
func newSchedule(c *Config, now time.Time) *schedule {
	s := &schedule{began: now, between: float64(c.Batch) / float64(c.Rate), last: now.Add(c.Duration + grace)}
	s.calls = max(1, int(c.Duration.Seconds()/s.between))
	s.ready = make(chan struct{}, s.calls)
	return s
}

// at returns when a call is due; calls count from 0.
func (s *schedule) at(call int64) time.Time {
	return s.began.Add(time.Duration(float64(call) * s.between * float64(time.Second)))
}

// run releases the calls when they are due, until ctx ends.
func (s *schedule) run(ctx context.Context) {
	defer close(s.ready)
	runtime.LockOSThread() // pause blocks the thread
	defer runtime.UnlockOSThread()
	for call := int64(0); call < int64(s.calls); {
		for now := time.Now(); call < int64(s.calls) && !s.at(call).After(now); call++ {
			s.ready <- struct{}{}
			s.released.Add(1)
		}
		if !sleepUntil(ctx, s.at(call)) {
			return
		}
	}
}

// coarse is how exact Go's timers are if the process is idle.
const coarse = 2 * time.Millisecond

// sleepUntil returns false if ctx has ended.
func sleepUntil(ctx context.Context, t time.Time) bool {
	if d := time.Until(t) - coarse; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
	if d := time.Until(t); d > 0 {
		pause(d)
	}
	return ctx.Err() == nil
}

// next waits for the next call of a connection that is free. It returns when the call was due, and whether the
// connection waited for it; how late the call is then is the client's fault. ok is false if no calls are left, or the
// connection comes too late for them.
func (s *schedule) next() (due time.Time, waited, ok bool) {
	select {
	case _, ok = <-s.ready:
	default:
		waited = true
		_, ok = <-s.ready
	}
	if !ok || time.Now().After(s.last) {
		return time.Time{}, false, false
	}
	return s.at(s.begun.Add(1) - 1), waited, true
}

// addUnsent adds the calls that were due and never begun to l, as if they had been answered now.
func (s *schedule) addUnsent(l *latencies, now time.Time) (unsent uint64) {
	for call := s.begun.Load(); call < s.released.Load(); call++ {
		l.add(now.Sub(s.at(call)))
		unsent++
	}
	l.unsent += unsent
	return unsent
}
