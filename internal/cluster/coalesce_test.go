package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

func TestJointRunsBeginAfterTheyAreAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j coalescer
		runs := 0
		forwardBarrier := make(chan struct{})
		f := func() error {
			runs++
			<-forwardBarrier
			return nil
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if err := j.do(t.Context(), f); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		forwardBarrier <- struct{}{} // the first is answered; the others wait for their own run
		synctest.Wait()
		if runs != 2 {
			t.Errorf("%d runs, want a second one for the callers that came during the first", runs)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := j.do(ctx, f); !errors.Is(err, context.Canceled) {
			t.Errorf("the caller that stopped waiting: %v", err)
		}
		close(forwardBarrier)
		all.Wait()
		synctest.Wait()
		if err := j.do(t.Context(), f); err != nil || runs != 4 {
			t.Errorf("afterwards: %v, %d runs", err, runs)
		}
	})
}
