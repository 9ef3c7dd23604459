package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// closing is a node that takes some time to close.
type closing struct {
	lasts time.Duration
	err   error
}

func (c closing) Close(context.Context) error {
	time.Sleep(c.lasts)
	return c.err
}

// A node that does not close does not prevent the process from ending.
func TestNodeIsClosedInBoundedTime(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		node  closing
		want  error
		after time.Duration
	}{
		"at once": {closing{}, nil, 0},
		"slowly":  {closing{40 * time.Second, failed}, failed, 40 * time.Second},
		"never":   {closing{time.Hour, nil}, errNodeStuck, 45 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if err := closeNode(c.node); !errors.Is(err, c.want) || time.Since(began) != c.after {
				t.Errorf("%s: %v after %v", name, err, time.Since(began))
			}
			time.Sleep(c.node.lasts) // a bubble waits for its goroutines
		})
	}
}
