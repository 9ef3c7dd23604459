package server

import (
	"context"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

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
		begin := now
		if free.After(now) {
			begin = free
		}
		free = begin.Add(time.Duration(float64(bytes) / float64(bandwidth) * float64(time.Second)))
		return begin.Sub(now)
	}
	return func(ctx context.Context, bytes int) error { return wait.For(ctx, book(bytes)) }
}
