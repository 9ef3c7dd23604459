package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/doctor"
	"github.com/sluicemq/sluice/internal/server"
)

var errDamaged = errors.New("the data directory is damaged")

// progressInterval is how often a long examination says how far it has got.
const progressInterval = 5 * time.Second

func newDoctor() *cobra.Command {
	data := server.Default().Data
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check a data directory for damage",
		Long: `Check a data directory for damage, while no server runs on it.

Everything that is stored is read, and compared with its checksums and with
itself. Nothing is changed. Of a node of a cluster, that is what its stores have; the
cluster's log, of which every node has a part, may hold more.

The exit status is 0 if all is sound, 1 if something is damaged, and 2 if that
could not be found out.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := doctorDirectory(data)
			if err != nil {
				return err
			}
			report, err := doctor.Examine(cmd.Context(), dir, sayProgress(cmd.ErrOrStderr(), progressInterval))
			if err != nil {
				return err
			}
			if asJSON {
				if err := json.NewEncoder(cmd.OutOrStdout()).Encode(report); err != nil {
					return err
				}
			} else {
				report.Print(cmd.OutOrStdout())
			}
			if !report.Sound {
				return errDamaged
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&data, "data", data, "directory of all that is kept")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON, and nothing else")
	return cmd
}

// doctorDirectory says where things are in a data directory, of a server that is
// alone or of a node.
func doctorDirectory(data string) (doctor.Directory, error) {
	d := doctor.Directory{
		Credentials: filepath.Join(data, server.CredentialsFile),
		MasterKey:   filepath.Join(data, server.MasterKeyFile),
		Control:     filepath.Join(data, server.ControlDir),
	}
	_, err := os.Stat(filepath.Join(data, cluster.NodeFile))
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

// sayProgress returns a Progress that writes a line now and then.
func sayProgress(w io.Writer, interval time.Duration) doctor.Progress {
	last := time.Now()
	return func(check string, bytes uint64) {
		if time.Since(last) >= interval {
			last = time.Now()
			fmt.Fprintf(w, "%s: %d MiB read\n", check, bytes>>20)
		}
	}
}

// inconclusive is an error of a command that is asked a question, and could not
// answer it.
type inconclusive struct{ error }

func (e inconclusive) Unwrap() error { return e.error }

// Status is the exit status that goes with what Run has returned.
func Status(err error) int {
	var unanswered inconclusive
	switch {
	case err == nil:
		return 0
	case errors.As(err, &unanswered):
		return 2
	}
	return 1
}
