package wait

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

var errStopped = errors.New("stopped")

func TestFor(t *testing.T) {
	for name, c := range map[string]struct {
		d, stop, took time.Duration // stop: when the context ends, 0 for before the call
		want          error
	}{
		"the whole time":                      {time.Minute, time.Hour, time.Minute, nil},
		"until the context ends":              {time.Hour, time.Minute, time.Minute, errStopped},
		"not at all if the context has ended": {time.Hour, 0, 0, errStopped},
		"no time":                             {0, time.Hour, 0, nil},
		"a negative time":                     {-time.Second, time.Hour, 0, nil},
		"no time, but the context has ended":  {0, 0, 0, errStopped},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancelCause(t.Context())
				if c.stop == 0 {
					stop(errStopped)
				} else {
					time.AfterFunc(c.stop, func() { stop(errStopped) })
				}
				begin := time.Now()
				if err := For(ctx, c.d); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				if took := time.Since(begin); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
			})
		})
	}
}
