package cluster

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/store"
)

// watchdog watches the two preconditions of a commit: a writable disk, and a log that answers. While either is missing,
// requests do not wait for a commit. The commit itself continues, and its outcome becomes known later.
type watchdog struct {
	disk    *store.Disk
	stalled func() (since time.Time, is bool)
	stall   time.Duration // see timing
	silent  error         // the error for a log that does not answer
	present atomic.Pointer[store.Writable]
	end     func(error) // ends the current condition
}

var errLogSilent = errors.New("the log does not answer")

func newWatchdog(disk *store.Disk, stalled func() (time.Time, bool), stall time.Duration, silent error) *watchdog {
	v := &watchdog{disk: disk, stalled: stalled, stall: stall, silent: silent}
	v.renew()
	return v
}

func (v *watchdog) renew() {
	c, end := store.NewWritable()
	v.end = end
	v.present.Store(c)
}

// condition is the check that shards and the control store use.
func (v *watchdog) condition() *store.Writable { return v.present.Load() }

// run updates the condition until ctx ends.
func (v *watchdog) run(ctx context.Context) {
	for {
		disk := v.disk.Writable()
		var stuck <-chan struct{}
		wait := watchdogInterval
		switch over := v.condition().Err() != nil; {
		case !over && disk.Err() != nil:
			v.end(disk.Err())
		case !over && v.isSilent():
			v.end(v.silent)
		case over && disk.Err() == nil && !v.isSilent():
			v.renew()
			stuck = disk.Blocked()
		case !over:
			stuck, wait = disk.Blocked(), v.untilSilent()
		}
		tick := time.NewTimer(wait)
		select {
		case <-tick.C:
		case <-stuck:
		case <-ctx.Done():
			tick.Stop()
			return
		}
		tick.Stop()
	}
}

// untilSilent returns how long the log cannot count as silent: a commit that begins now may take as long as any other.
func (v *watchdog) untilSilent() time.Duration {
	at, is := v.stalled()
	if !is {
		return v.stall
	}
	return max(v.stall-time.Since(at), time.Millisecond)
}

func (v *watchdog) isSilent() bool {
	at, is := v.stalled()
	return is && time.Since(at) > v.stall
}
