package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/doctor"
	"github.com/sluicemq/sluice/internal/server"
)

var errDamaged = newVerdict("the data directory is damaged")

// progressInterval is the interval of progress reports.
const progressInterval = 5 * time.Second

func newDoctor() *cobra.Command {
	data := server.Default().Data
	var out output
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check a data directory for damage",
		Long: `Check a data directory for damage, while no server runs on it. The doctor verifies
checksums and consistency, and changes nothing. A cluster's log may hold more than the
stores of a node.

The exit status is 0 if the directory is sound, 1 if it is damaged, and 2 if the check
was not possible.`,
		Args: noArguments,
		Example: `  sluice doctor --data /var/lib/sluice
  sluice doctor --data restored --json`,
		RunE: asked(func(cmd *cobra.Command, _ []string) error {
			dir, err := doctorDirectory(data)
			if err != nil {
				return err
			}
			report, err := doctor.Examine(cmd.Context(), dir, sayProgress(cmd.ErrOrStderr(), progressInterval))
			if err != nil {
				return err
			}
			if err := out.print(cmd, printed{report}); err != nil {
				return err
			}
			if !report.Sound {
				return errDamaged
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&data, "data", data, "data directory")
	directoryPath(cmd.Flags(), "data")
	out.add(cmd)
	return cmd
}

// doctorDirectory describes the contents of a data directory, of a single server or of a node.
func doctorDirectory(data string) (doctor.Directory, error) {
	d := doctor.Directory{
		Dir:         data,
		Credentials: filepath.Join(data, server.CredentialsFile),
		MasterKey:   filepath.Join(data, server.MasterKeyFile),
		Control:     filepath.Join(data, server.ControlDir),
	}
	_, err := os.Stat(filepath.Join(data, datadir.NodeFile))
	d.Node = err == nil
	numbers, err := cluster.ShardsIn(data)
	if err != nil {
		return d, err
	}
	if len(numbers) == 0 && !d.Node {
		numbers = []int{1}
	}
	for _, n := range numbers {
		d.Shards = append(d.Shards, doctor.Shard{Number: n, Dir: cluster.ShardDir(data, n)})
	}
	return d, nil
}

// sayProgress returns a Progress that prints a line from time to time.
func sayProgress(w io.Writer, interval time.Duration) doctor.Progress {
	last := time.Now()
	return func(check string, bytes uint64) {
		if time.Since(last) >= interval {
			last = time.Now()
			fmt.Fprintf(w, "%s: %d MiB read\n", check, bytes>>20)
		}
	}
}
