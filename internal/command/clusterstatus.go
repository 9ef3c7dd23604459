package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/doctor"
)

var errUnwell = newVerdict("the cluster is not well")

// watchInterval is the interval of --watch.
const watchInterval = 2 * time.Second

func newClusterStatus() *cobra.Command {
	server := new(clientFlags)
	var out output
	var watch bool
	var waiting clusterWait
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the nodes and shards of a cluster, and its problems",
		Long: `Show the nodes and shards of a cluster, what is wrong and what to do about it, as the
node that answers sees it.

  OWNS      number of shards that the node serves
  CLOCK     how far its clock is ahead of those of most nodes
  CERT      days until its certificate expires; - if it has none
  EPOCH     how often the shard has had a new owner
  LOG       size of one copy of the shard's log; RECORDS, how many are in it
  COPIES    complete copies of the log, and how many there should be
  REPLICAS  nodes that keep the shard. After a name: "-12", 12 records behind the
            log; "catching up", it reads what it missed; "fetching", it gets a
            copy from another node; "scouting", "taking", "claiming", "opening",
            it is becoming the owner; "draining", "leaving", it hands the shard
            over; "absent", it does not exist yet, or its node is away; "stopped",
            it cannot continue; the reason is below

A node that starts, stops or does not answer is a problem. With --wait the command
returns when there has been no problem for three seconds and each shard has the owner
that it should have: then another node may be stopped.

The exit status is 0 if all is well, 1 if not, and 2 if that could not be found out.
Needs sluice:DescribeCluster in the first account.`,
		Args: noArguments,
		Example: `  sluice cluster status
  sluice cluster status --watch
  sluice cluster status --wait --node b --timeout 5m`,
		RunE: asked(func(cmd *cobra.Command, _ []string) error {
			c, err := server.client()
			if err != nil {
				return err
			}
			if watch {
				return watchStatus(cmd.Context(), cmd.OutOrStdout(), c)
			}
			if waiting.wait {
				s, late := waiting.until(cmd.Context(), c, out.progress(cmd.ErrOrStderr()))
				return showStatus(cmd, &out, s, late)
			}
			s, err := c.clusterStatus(cmd.Context())
			if err != nil {
				return err
			}
			return showStatus(cmd, &out, s, nil)
		}),
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "print it again and again, until Ctrl-C")
	waiting.add(cmd.Flags())
	server.add(cmd, "SLUICE")
	out.add(cmd)
	notWith(cmd.Flags(), "watch", "json", "wait")
	return cmd
}

// showStatus prints a status, if there is one. late is the reason why a wait for a better one ended.
func showStatus(cmd *cobra.Command, out *output, s *status.Status, late error) error {
	if s == nil {
		return late
	}
	err := out.print(cmd, clusterStatus{s, append([]status.Problem{}, s.Problems()...)})
	if late != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "sluice:", late)
	}
	if err == nil && (late != nil || len(s.Problems()) > 0) {
		err = errUnwell
	}
	return err
}

func (c *client) clusterStatus(ctx context.Context) (*status.Status, error) {
	s := new(status.Status)
	err := c.sluice(ctx, "DescribeCluster", struct{}{}, s)
	if refusal, ok := errors.AsType[*apiError](err); ok && refusal.Code == noCluster {
		err = fmt.Errorf("%w For a single server there is sluice status", err)
	}
	return s, err
}

// noCluster is the error code of a single server.
const noCluster = "NoClusterException"

// watchStatus continues while no node answers: a watch shows when that ends.
func watchStatus(ctx context.Context, w io.Writer, c *client) error {
	again := time.NewTicker(watchInterval)
	defer again.Stop()
	for {
		var screen strings.Builder
		status, err := c.clusterStatus(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = printStatus(&screen, status)
		}
		if err != nil {
			fmt.Fprintln(&screen, err)
		}
		const clear = "\x1b[H\x1b[2J"
		if _, err := fmt.Fprintf(w, "%s%s  %s\n\n%s", clear, c.endpoints[0].url, time.Now().Format(time.TimeOnly), &screen); err != nil {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// clusterStatus is the answer of cluster status.
type clusterStatus struct {
	*status.Status
	Problems []status.Problem
}

func (s clusterStatus) text(w io.Writer) error { return printStatus(w, s.Status) }

// printStatus prints for people: the nodes, the shards, and the problems.
func printStatus(w io.Writer, s *status.Status) error {
	var nodes, shards [][]string
	for _, n := range s.Nodes {
		nodes = append(nodes, []string{
			n.Name, alive(&n), strconv.Itoa(len(n.Owns)), n.Endpoint, n.Version, clockOf(&n), certificateOf(&n),
			notes(&n),
		})
	}
	if err := printTable(
		w, []string{"NODE", "ALIVE", "OWNS", "ENDPOINT", "VERSION", "CLOCK", "CERT", "NOTES"}, nodes,
	); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, sh := range s.Shards {
		shards = append(shards, []string{
			sh.Name, ownerOf(&sh), strconv.FormatInt(sh.Epoch, 10), doctor.Size(uint64(sh.LogBytes)),
			strconv.FormatInt(records(&sh), 10), copies(&sh), replicas(&sh),
		})
	}
	if err := printTable(
		w, []string{"SHARD", "OWNER", "EPOCH", "LOG", "RECORDS", "COPIES", "REPLICAS"}, shards,
	); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, problem := range s.Problems() {
		fmt.Fprintf(w, "%s\n  %s\n", problem.Problem, problem.Advice)
	}
	_, err := fmt.Fprintln(w, summary(s))
	return err
}

// summary is the answer in one line.
func summary(s *status.Status) string {
	problems := len(s.Problems())
	unserved := 0
	for _, sh := range s.Shards {
		if sh.Owner == "" {
			unserved++
		}
	}
	switch {
	case problems == 0 && s.Spare() == 0:
		return "All is well, but no node may fail: that takes three."
	case problems == 0:
		return "All is well."
	case unserved > 0:
		return fmt.Sprintf("NOT WELL: %d of %d shards are not served; problems: %d.", unserved, len(s.Shards), problems)
	}
	return fmt.Sprintf("NOT WELL, but all shards are served; problems: %d.", problems)
}

func alive(n *status.Node) string {
	if n.Live {
		return "yes"
	}
	return "NO"
}

func clockOf(n *status.Node) string {
	switch skew := n.Skew(); {
	case !n.Live:
		return "-"
	case skew > 0:
		return "+" + skew.String()
	case skew < 0:
		return skew.String()
	}
	return "ok"
}

// certificateOf describes how long a node's certificate is valid.
func certificateOf(n *status.Node) string {
	days, known := n.CertificateDaysLeft()
	if !known {
		return "-"
	}
	return fmt.Sprintf("%dd", days)
}

func notes(n *status.Node) string {
	var out []string
	if !n.Live {
		out = append(out, "away for "+(time.Duration(n.AwaySeconds)*time.Second).String())
	}
	for _, note := range []struct {
		on   bool
		text string
	}{
		{n.Draining, "draining"}, {n.Leaving, "stopping"}, {n.Unready && !n.Leaving, "not ready"},
		{n.Unanswered, "no answer"}, {n.Low, "disk nearly full"},
	} {
		if note.on {
			out = append(out, note.text)
		}
	}
	return strings.Join(out, ", ")
}

func ownerOf(sh *status.Shard) string {
	switch {
	case sh.Owner == "":
		return "NONE"
	case sh.Preferred != "" && sh.Preferred != sh.Owner:
		return sh.Owner + " (to be " + sh.Preferred + ")"
	}
	return sh.Owner
}

// records is the number of records in the log.
func records(sh *status.Shard) int64 {
	if sh.LogFirst == 0 {
		return 0
	}
	return max(0, sh.LogLast-sh.LogFirst+1)
}

// copies describes the complete copies of the log.
func copies(sh *status.Shard) string {
	if sh.Complete == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", sh.Complete, sh.Copies)
}

// replicas names the nodes that keep a shard, with their deviations: a replica that follows and has everything needs no
// remark.
func replicas(sh *status.Shard) string {
	var out []string
	for _, r := range sh.Replicas {
		text := r.Node
		if r.Role != "follower" && r.Role != "owner" {
			text += " " + r.Role
		}
		if r.Lag > 0 && r.Applied > 0 {
			text += fmt.Sprintf(" -%d", r.Lag)
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}
