package server

import (
	"context"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// paceSlack is the maximum delay of earlier reads that a read may make up for: timers fire about a millisecond late,
// which is longer than a read of 32 KiB takes at more than 32 MiB a second.
const paceSlack = 20 * time.Millisecond

// pace returns a limiter of the bytes that backups read per second, or nil for 0. A read waits until those before it
// have taken the time that their bytes are worth.
func pace(bandwidth int64) func(ctx context.Context, bytes int) error {
	if bandwidth == 0 {
		return nil
	}
	var mu sync.Mutex
	var free time.Time // when the next read may begin
	book := func(bytes int) (pause time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if earliest := now.Add(-paceSlack); free.Before(earliest) {
			free = earliest
		}
		pause = free.Sub(now)
		free = free.Add(time.Duration(float64(bytes) / float64(bandwidth) * float64(time.Second)))
		return pause
	}
	return func(ctx context.Context, bytes int) error { return wait.For(ctx, book(bytes)) }
}
