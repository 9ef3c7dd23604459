package front

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// However many callers there are, the function runs at most once in the interval, and each caller gets the result of a
// run that began after its call.
func TestPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		var last atomic.Pointer[time.Time]
		p := newPaced(func(context.Context) error {
			now := time.Now()
			if before := last.Swap(&now); before != nil && now.Sub(*before) < 100*time.Millisecond {
				t.Errorf("runs follow each other within %s", now.Sub(*before))
			}
			runs.Add(1)
			time.Sleep(10 * time.Millisecond)
			return nil
		}, 100*time.Millisecond)
		var all sync.WaitGroup
		for range 200 { // in one second
			all.Go(func() {
				asked := time.Now()
				if err := p.do(t.Context()); err != nil || last.Load().Before(asked) {
					t.Errorf("called at %s, got %v of a run at %s", asked, err, last.Load())
				}
			})
			time.Sleep(5 * time.Millisecond)
		}
		all.Wait()
		if n := runs.Load(); n < 9 || n > 11 {
			t.Errorf("%d runs in a second", n)
		}
	})
}

// A run that hangs holds no caller longer than the caller's context, and the next run begins after it.
func TestPacedRunHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var under atomic.Int64
		p := newPaced(func(ctx context.Context) error {
			if under.Add(1) > 1 {
				t.Error("two runs at a time")
			}
			defer under.Add(-1)
			<-ctx.Done()
			return ctx.Err()
		}, time.Millisecond)
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := p.do(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ends with %v", err)
			}
			cancel()
		}
		time.Sleep(time.Minute)
	})
}
