package front

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// However many clients ask whether the server is ready, it makes one probe at a time, and two in a second.
func TestOneProbeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes, under atomic.Int64
		f := &Front{Options: Options{Health: Health{Low: func() bool { return false }}}}
		f.ready.check = func(context.Context) error {
			if under.Add(1) > 1 {
				t.Error("two probes at a time")
			}
			defer under.Add(-1)
			probes.Add(1)
			time.Sleep(20 * time.Millisecond)
			return nil
		}
		var all sync.WaitGroup
		for range 1000 { // in a second
			all.Go(func() {
				w := httptest.NewRecorder()
				f.readyz(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
				if w.Code != http.StatusOK {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
			time.Sleep(time.Millisecond)
		}
		all.Wait()
		if n := probes.Load(); n != 2 {
			t.Errorf("%d probes in one second", n)
		}
	})
}

// A store that hangs is reported as not ready, and probed only once while it hangs.
func TestProbeHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var probes atomic.Int64
		hang := make(chan struct{})
		p := probe{log: slog.New(slog.DiscardHandler), check: func(context.Context) error {
			probes.Add(1)
			<-hang
			return nil
		}}
		began := time.Now()
		for range 10 {
			if err := p.result(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
		}
		if took := time.Since(began); took != probeTimeout || probes.Load() != 1 {
			t.Errorf("10 clients took %s and made %d probes", took, probes.Load())
		}
		close(hang)
		synctest.Wait()
		if err := p.result(t.Context()); err != nil {
			t.Errorf("after it has recovered: %v", err)
		}
	})
}
