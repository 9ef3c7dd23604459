package server

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	t.Parallel()
	if pace(0) != nil {
		t.Error("a rate of 0 limits reads")
	}
	synctest.Test(t, func(t *testing.T) {
		read, began := pace(1000), time.Now()
		for i, c := range []struct {
			pause time.Duration // before the read
			bytes int
			at    time.Duration // when it may begin
		}{
			{0, 520, 0}, {0, 2000, 500 * time.Millisecond}, {time.Second, 100, 2500 * time.Millisecond},
			{105 * time.Millisecond, 95, 2605 * time.Millisecond}, // 5 ms late
			{0, 1, 2695 * time.Millisecond},                       // which the next read makes up for
			{time.Hour, 21, time.Hour + 2695*time.Millisecond}, {0, 1, time.Hour + 2696*time.Millisecond},
		} {
			time.Sleep(c.pause)
			if err := read(t.Context(), c.bytes); err != nil || time.Since(began) != c.at {
				t.Errorf("read %d: %v after %v", i, err, time.Since(began))
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := read(ctx, 1); err == nil {
			t.Error("no error after the end of the context")
		}
	})
}
