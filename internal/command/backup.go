package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/server"
)

func newBackup() *cobra.Command {
	var endpoint string
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all that a running server keeps into a file",
		Long: `Write all that a running server or cluster keeps into a file: queues, messages,
users and keys. The server goes on serving meanwhile. Of a cluster, ask a node that
keeps all shards; with three nodes each of them does.

Everything that was acknowledged before the command was started is in the file; of
what came during it, some is. The file holds the secrets of the installation, and
only you can read it. With - for FILE the archive, a tar file, goes to standard
output.

This takes the root key of the server's first account, in AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY.`,
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newAPI(endpoint)
			if err != nil {
				return err
			}
			if args[0] == "-" {
				return a.backup(cmd.Context(), cmd.OutOrStdout())
			}
			return intoFile(args[0], func(w io.Writer) error { return a.backup(cmd.Context(), w) })
		},
	}
	addEndpoint(cmd, &endpoint)
	return cmd
}

// intoFile makes a file, which is there under its name when all of it is.
func intoFile(name string, write func(io.Writer) error) error {
	if _, err := os.Stat(name); err == nil {
		return fmt.Errorf("%s is there already", name)
	}
	part := name + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, name)
}

func newRestore() *cobra.Command {
	data := server.Default().Data
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Make a data directory from a backup",
		Long: `Make a data directory from a backup, which sluice serve then opens. The directory
must be empty or not be there yet.

It can be served by one machine, or by the first node of a new cluster whose other
nodes begin with empty directories; if the backup is of a cluster with several
shards, by a cluster only, which may consist of one node. With - for FILE the
archive comes from standard input.`,
		Args: arguments("FILE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in := cmd.InOrStdin()
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, f.Close()) }()
				in = f
			}
			about, err := backup.Restore(in, data, detach)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "restored into %s what was kept on %s\n", data, about.Created.Format("2006-01-02 15:04:05 MST"))
			if about.Shards > 1 {
				fmt.Fprintf(out, "It has %d shards and is to be served by a cluster: sluice serve --node NAME --cluster NAME=HOST:PORT,...\n", about.Shards)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&data, "data", data, "data directory to make")
	return cmd
}

// detach makes what was restored independent of the cluster that it is from.
func detach(dir string, about backup.About) error {
	shards, err := cluster.ShardsIn(dir)
	if err != nil {
		return err
	}
	if len(shards) != about.Shards {
		return fmt.Errorf("%w: it has %d of %d shards", backup.ErrNoBackup, len(shards), about.Shards)
	}
	return cluster.Detach(dir)
}
