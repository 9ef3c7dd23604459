// Package wait pauses a goroutine until a time has passed or its work is cancelled, whichever comes first.
package wait

import (
	"context"
	"time"
)

// For waits for d. It returns nil, or the cause of ctx if ctx ends before. A duration that is not positive takes no
// time, but an ended ctx is still an error.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
