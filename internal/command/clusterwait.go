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

// clusterWait is the wait of cluster status until the cluster is healthy.
type clusterWait struct {
	wait    bool
	node    string // that must be present, too
	timeout time.Duration
}

func (w *clusterWait) add(f *pflag.FlagSet) {
	f.BoolVar(&w.wait, "wait", false, "wait until all is well and stays so for three seconds")
	f.StringVar(&w.node, "node", "", "name of a node that must be among the cluster's")
	f.DurationVar(&w.timeout, "timeout", time.Minute, "longest wait")
	onlyWith(f, []string{"wait"}, "node", "timeout")
}

const (
	// waitInterval is the interval of --wait.
	waitInterval = 300 * time.Millisecond
	// steadyFor is how long the cluster must stay healthy. A node that has died or begun to stop is a problem after two
	// seconds at most: nodes send heartbeats every second and wait a second for the answer.
	steadyFor = 3 * time.Second
)

// until waits until the cluster is healthy and stable, and prints the progress. It returns the latest status, or nil if
// no node has answered. It asks a node that does not answer again.
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

// isFinal reports whether a server has refused to report the state of the cluster, and would refuse again. A starting
// server is unavailable, which is not final.
func isFinal(err error) bool {
	refusal, ok := errors.AsType[*apiError](err)
	return ok && !strings.HasPrefix(refusal.Code, "ServiceUnavailable") && !strings.HasPrefix(refusal.Code, "Internal")
}

// late returns the error at the end of the time.
func (w *clusterWait) late(ctx context.Context, missing string) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	if missing == "" {
		missing = fmt.Sprintf("all is well, but was not yet for %s", steadyFor)
	}
	return fmt.Errorf("not well after %s: %s", w.timeout, missing)
}

// missing describes why the cluster is not healthy, or returns nothing if it is.
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

// steadiness records since when a condition has held without a break.
type steadiness struct{ since time.Time }

// see records whether the condition holds now, and reports whether it has held for steadyFor.
func (s *steadiness) see(well bool, now time.Time) bool {
	switch {
	case !well:
		s.since = time.Time{}
	case s.since.IsZero():
		s.since = now
	}
	return well && now.Sub(s.since) >= steadyFor
}
