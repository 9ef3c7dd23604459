package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/cluster/status"
)

// clusterWait is how long cluster status waits until the cluster is well.
type clusterWait struct {
	wait    bool
	node    string // that must be there, too
	timeout time.Duration
}

func (w *clusterWait) add(f *pflag.FlagSet) {
	f.BoolVar(&w.wait, "wait", false, "wait until all is well and stays so for three seconds")
	f.StringVar(&w.node, "node", "", "name of a node that must be among the cluster's")
	f.DurationVar(&w.timeout, "timeout", time.Minute, "longest wait")
	onlyWith(f, []string{"wait"}, "node", "timeout")
}

const (
	// waitInterval is the time between two looks of --wait.
	waitInterval = 300 * time.Millisecond
	// steadyFor is for how long all must be well. A node that has died or begun to stop is a
	// problem two seconds later at most: nodes send heartbeats every second and wait a second
	// for the answer.
	steadyFor = 3 * time.Second
)

// until waits until the cluster is well and settled, and says how far that is. It returns the
// latest status, and nil if no node has answered. A node that does not answer is asked again.
func (w *clusterWait) until(ctx context.Context, c *client, progress io.Writer) (*status.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	again := time.NewTicker(waitInterval)
	defer again.Stop()
	var latest *status.Status
	var calm steadiness
	said := ""
	for {
		s, err := c.clusterStatus(ctx)
		if ctx.Err() != nil {
			return latest, w.late(ctx, said)
		}
		if isFinal(err) {
			return latest, err
		}
		missing := w.missing(s, err)
		if err == nil {
			latest = s
		}
		if calm.see(missing == "", time.Now()) {
			return latest, nil
		}
		if missing != "" && missing != said {
			fmt.Fprintln(progress, missing)
		}
		said = missing
		select {
		case <-again.C:
		case <-ctx.Done():
			return latest, w.late(ctx, said)
		}
	}
}

// isFinal reports whether a server has refused to say how the cluster is, and would do so again. One that starts is
// unavailable.
func isFinal(err error) bool {
	refusal, ok := errors.AsType[*apiError](err)
	return ok && !strings.HasPrefix(refusal.Code, "ServiceUnavailable") && !strings.HasPrefix(refusal.Code, "Internal")
}

// late is the error when the time is over.
func (w *clusterWait) late(ctx context.Context, missing string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if missing == "" {
		missing = fmt.Sprintf("all is well, but was not yet for %s", steadyFor)
	}
	return fmt.Errorf("not well after %s: %s", w.timeout, missing)
}

// missing says why the cluster is not as it should be, and nothing if it is.
func (w *clusterWait) missing(s *status.Status, err error) string {
	if err != nil {
		return err.Error()
	}
	if problems := s.Problems(); len(problems) > 0 {
		return problems[0].Problem
	}
	if w.node != "" && !has(s, w.node) {
		return fmt.Sprintf("The cluster has no node %s.", w.node)
	}
	if moving := s.Moving(); len(moving) > 0 {
		return moving[0]
	}
	return ""
}

// steadiness is since when something has been well without a break.
type steadiness struct{ since time.Time }

// see notes how it is now, and reports whether it has been well for steadyFor.
func (s *steadiness) see(well bool, now time.Time) bool {
	switch {
	case !well:
		s.since = time.Time{}
	case s.since.IsZero():
		s.since = now
	}
	return well && now.Sub(s.since) >= steadyFor
}
