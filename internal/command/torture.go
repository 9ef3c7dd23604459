package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/torture"
)

func newTorture() *cobra.Command {
	c := torture.Default()
	var out output
	cmd := &cobra.Command{
		Use:   "torture [flags] [-- further arguments of serve]",
		Short: "Run a cluster, inject faults, and check that it keeps its promises",
		Long: `Run a cluster, inject faults, and check that it keeps its promises.

Torture starts servers on this machine, and uses them while faults occur. At the end of
each round everything is healed, the queues are emptied, and every call is judged. See
docs/torture.md.

The exit status is 1 if a promise was broken. Then the command prints the seed, the file
with the history, and the story of the messages concerned.

Faults:
` + strings.TrimRight(torture.Describe(), "\n"),
		Example: `  sluice torture --nodes 3 --duration 5m
  sluice torture --nodes 1 --duration 1m --faults kill --seed 7`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			c.Serve = args
			if c.Bin == "" {
				if c.Bin, err = os.Executable(); err != nil {
					return err
				}
			}
			if !cmd.Flags().Changed("seed") {
				c.Seed = uint64(time.Now().UnixNano())
			}
			if c.Dir == "" {
				c.Dir = filepath.Join(os.TempDir(), fmt.Sprintf("sluice-torture-%d", c.Seed))
			}
			if err := usage(c.Validate()); err != nil {
				return err
			}
			progress := cmd.OutOrStdout()
			if out.json {
				progress = cmd.ErrOrStderr()
			}
			report, err := torture.Run(cmd.Context(), c, progress)
			if err != nil {
				return fmt.Errorf("seed %d: %w", c.Seed, err)
			}
			err = out.print(cmd, printed{report})
			if err == nil && len(report.Violations) > 0 {
				err = fmt.Errorf(
					"seed %d: %d promises were broken, see %v", c.Seed, len(report.Violations), report.Histories,
				)
			}
			return err
		},
	}
	addTorture(cmd.Flags(), &c)
	out.add(cmd)
	cmd.AddCommand(newJudge())
	return cmd
}

// addTorture adds the flags that set c.
func addTorture(f *pflag.FlagSet, c *torture.Config) {
	f.IntVar(&c.Nodes, "nodes", c.Nodes, "servers of the cluster; 1 runs plain serve")
	f.Uint64Var(&c.Seed, "seed", 0, "seed of the random choices (default: another each time)")
	f.DurationVar(&c.Duration, "duration", c.Duration,
		"how long to go on, without emptying the queues after each round")
	f.DurationVar(&c.Round, "round", c.Round, "length of a round")
	f.StringSliceVar(&c.Faults, "faults", nil, "kinds of faults, or none (default: all that are possible here)")
	f.StringVar(&c.Dir, "dir", "", "directory for data, logs and histories (default: a new one for temporary files)")
	f.StringVar(&c.Bin, "bin", "", "program whose servers are run (default: this one)")
	f.BoolVar(&c.Keep, "keep", false, "leave data, logs and all histories in the directory")
	f.IntVar(&c.Queues, "queues", c.Queues, "sets of queues of every kind")
	f.IntVar(&c.Producers, "producers", c.Producers, "producers of each queue (default: one for each node)")
	f.IntVar(&c.Consumers, "consumers", c.Consumers, "consumers of each queue")
	f.IntVar(&c.Shards, "shards", 0, "shards over which to spread queues (default: as the server does)")
	f.BoolVar(&c.Namespaces, "namespaces", false, "network namespaces and a bridge instead of proxies (Linux, root)")
	f.DurationVar(&c.Pause, "pause", c.Pause, "average rest of a worker between steps")
	f.DurationVar(&c.Longest, "longest", c.Longest, "longest visibility timeout that consumers ask for")
	f.DurationVar(&c.Timeout, "timeout", c.Timeout, "how long clients wait for an answer")
	f.DurationVar(&c.Margin, "margin", c.Margin, "difference allowed between the nodes' clocks, without faults")
	f.DurationVar(&c.Grace, "grace", c.Grace, "how long calls may go unanswered when all is well again")
	f.DurationVar(&c.Patience, "patience", c.Patience, "how long the cluster may take to be ready")
	directoryPath(f, "dir")
	filePath(f, "bin")
}

// newJudge judges a recorded history again, after a change of the rules or by hand.
func newJudge() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:               "judge FILE",
		Short:             "Judge the history of a run",
		Example:           `  sluice torture judge /tmp/sluice-torture-7/history-1`,
		Args:              arguments("FILE"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer func() { _ = file.Close() }() // it was only read
			h, err := history.Read(file)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			j := judged{h, len(h.Calls), append([]history.Violation{}, h.Verdict()...)}
			if err := out.print(cmd, j); err != nil {
				return err
			}
			if len(j.Violations) > 0 {
				return fmt.Errorf("%d promises were broken", len(j.Violations))
			}
			return nil
		},
	}
	out.add(cmd)
	return cmd
}

// judged is the answer of torture judge.
type judged struct {
	history    *history.History
	Calls      int
	Violations []history.Violation
}

func (j judged) text(w io.Writer) error {
	torture.Tell(w, j.history, j.Violations)
	_, err := fmt.Fprintf(w, "%d calls, %d violations\n", j.Calls, len(j.Violations))
	return err
}
