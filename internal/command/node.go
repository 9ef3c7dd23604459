package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

func newNode() *cobra.Command {
	server := new(clientFlags)
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Drain nodes of a cluster, and remove them",
		Long: `Drain nodes of a cluster, and remove them. Any node can do this, even for itself.

Needs sluice:DrainNode or sluice:RemoveNode in the first account.`,
	}
	server.add(cmd, "SLUICE")
	cmd.AddCommand(newNodeDrain(server), newNodeUndrain(server), newNodeRemove(server))
	return cmd
}

func newNodeDrain(server *clientFlags) *cobra.Command {
	noWait := false
	timeout := 10 * time.Minute
	cmd := &cobra.Command{
		Use:   "drain NAME",
		Short: "Move shards and replicas of a node to the others",
		Long: `Move shards and replicas of a node to the others, before a long stop or removal. The
node keeps answering requests. It takes no shard back, not even after a restart, until
sluice node undrain. Before a restart, draining is not needed.

The command returns when the node owns no shard and its replicas are elsewhere. With
fewer than three others, these have all shards, and the node keeps its copies.`,
		Example: `  sluice node drain a
  sluice node drain a --timeout 1h`,
		Args:              arguments("NAME"),
		ValidArgsFunction: completeNodes(server),
	}
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "return at once")
	cmd.Flags().DurationVar(&timeout, "timeout", timeout, "longest wait")
	notWith(cmd.Flags(), "no-wait", "timeout")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		name := c.args[0]
		if err := c.sluice(ctx, "DrainNode", map[string]any{"Node": name}, nil); err != nil {
			return nil, err
		}
		if noWait {
			return done{"node " + name + " is being drained; sluice cluster status shows how far that is"}, nil
		}
		ctx, cancel := context.WithTimeoutCause(ctx, timeout, errDrainTimeout)
		defer cancel()
		if err := waitDrained(ctx, c.client, name, c.progress); err != nil {
			return nil, fmt.Errorf("node %s is being drained, but not done: %w", name, err)
		}
		return done{"node " + name + " is drained"}, nil
	})
}

var (
	errDrainTimeout = errors.New("it takes longer than --timeout")
	errNowhere      = errors.New("no other node is up to take its shards")
)

// drainInterval is the interval of checks of a draining node.
const drainInterval = 500 * time.Millisecond

// waitDrained waits until nothing is left on a node, and prints the progress. It asks a node that does not answer
// again.
func waitDrained(ctx context.Context, c *client, node string, progress io.Writer) error {
	said := ""
	for {
		status, err := c.clusterStatus(ctx)
		now := ""
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			now = err.Error()
		case !draining(status, node): // the asked node does not know yet
		case !others(status, node):
			return errNowhere
		default:
			owns, keeps := status.Left(node)
			if len(owns) == 0 && len(keeps) == 0 {
				return nil
			}
			now = fmt.Sprintf("it still owns %d shards and keeps %d others", len(owns), len(keeps))
		}
		if now != said && now != "" {
			said = now
			fmt.Fprintln(progress, now)
		}
		if err := wait.For(ctx, drainInterval); err != nil {
			return err
		}
	}
}

func draining(s *status.Status, node string) bool {
	for _, n := range s.Nodes {
		if n.Name == node {
			return n.Draining
		}
	}
	return false
}

func has(s *status.Status, node string) bool {
	return slices.ContainsFunc(s.Nodes, func(n status.Node) bool { return n.Name == node })
}

// others reports whether there is another node that can own shards.
func others(s *status.Status, node string) bool {
	for _, n := range s.Nodes {
		if n.Name != node && n.Live && !n.Draining {
			return true
		}
	}
	return false
}

func newNodeUndrain(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "undrain NAME",
		Short:             "Let a drained node own shards and have replicas again",
		Example:           `  sluice node undrain a`,
		Args:              arguments("NAME"),
		ValidArgsFunction: completeNodes(server),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		// A caller that may not see the cluster undrains without it.
		if s, err := c.clusterStatus(ctx); err == nil && has(s, c.args[0]) && !draining(s, c.args[0]) {
			return done{"node " + c.args[0] + " was not drained"}, nil
		}
		in := map[string]any{"Node": c.args[0], "Undo": true}
		if err := c.sluice(ctx, "DrainNode", in, nil); err != nil {
			return nil, err
		}
		return done{"node " + c.args[0] + " gets shards again"}, nil
	})
}

func newNodeRemove(server *clientFlags) *cobra.Command {
	timeout := 15 * time.Second
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a stopped node from the cluster for good",
		Long: `Remove a stopped node from the cluster for good, as soon as it counts as gone. Others
rebuild its replicas. Remove it from --cluster of the other nodes at their next restart,
too.`,
		Example:           `  sluice node remove a`,
		Args:              arguments("NAME"),
		ValidArgsFunction: completeNodes(server),
	}
	cmd.Flags().DurationVar(&timeout, "timeout", timeout, "longest wait")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		if err := removeNode(ctx, c, c.args[0], timeout); err != nil {
			return nil, err
		}
		return done{"node " + c.args[0] + " is removed"}, nil
	})
}

// nodeAlive is the error code of the refusal to remove a live node.
const nodeAlive = "NodeAliveException"

// removeNode removes a node as soon as it counts as dead.
func removeNode(ctx context.Context, c *call, name string, timeout time.Duration) error {
	late := time.NewTimer(timeout)
	defer late.Stop()
	for waited := false; ; waited = true {
		err := c.sluice(ctx, "RemoveNode", map[string]any{"Node": name}, nil)
		if refusal, ok := errors.AsType[*apiError](err); !ok || refusal.Code != nodeAlive {
			return err
		}
		if !waited {
			fmt.Fprintf(c.progress, "node %s counts as alive: waiting until it is not heard of any more\n", name)
		}
		select {
		case <-time.After(drainInterval):
		case <-late.C:
			return fmt.Errorf("%w Its process still runs, or was stopped less than some seconds ago", err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// completeNodes completes the names of the cluster's nodes.
func completeNodes(server *clientFlags) cobra.CompletionFunc {
	return server.completeNames(func(ctx context.Context, c *client) ([]string, error) {
		status, err := c.clusterStatus(ctx)
		var names []string
		for _, n := range status.Nodes {
			names = append(names, n.Name)
		}
		return names, err
	})
}
