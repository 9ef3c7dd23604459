package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/doctor"
	"github.com/sluicemq/sluice/internal/server"
)

func newBackup() *cobra.Command {
	var endpoint string
	var verify bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all that a running server keeps into a file",
		Long: `Write all that a running server or cluster keeps into a file: queues, messages,
users and keys. The server goes on serving meanwhile. Any node of a
cluster can be asked; what it does not keep it fetches from the others first.

Everything that was acknowledged before the command was started is in the file; of
what came during it, some is. The file holds the secrets of the installation, and
only you can read it. With - for FILE the archive, a tar file, goes to standard
output. What comes is compared with its checksums, and a line says how much it is.

With --verify no server is asked: a file that was made before is read from its
beginning to its end, and compared with its checksums.

This takes the root key of the server's first account, in AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY, or that of a user of it who may sluice:Backup.`,
		Args: arguments("FILE"),
		Example: `  sluice backup sluice-$(date +%F).tar
  sluice backup --verify sluice-2026-11-21.tar`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if verify {
				return verifyBackup(cmd, args[0])
			}
			a, err := newAPI(endpoint)
			if err != nil {
				return err
			}
			var about backup.About
			var holds backup.Contents
			fetch := func(w io.Writer) (err error) {
				about, holds, err = a.verifiedBackup(cmd.Context(), w)
				return err
			}
			if args[0] == "-" {
				err = fetch(cmd.OutOrStdout())
			} else {
				err = intoFile(args[0], fetch)
			}
			if err == nil {
				describeBackup(cmd.ErrOrStderr(), args[0], about, holds)
			}
			return err
		},
	}
	addEndpoint(cmd, &endpoint)
	cmd.Flags().BoolVar(&verify, "verify", false, "read a backup that is there, and compare it with its checksums")
	return cmd
}

// verifyBackup reads a backup and says what it holds.
func verifyBackup(cmd *cobra.Command, name string) error {
	in, err := openBackup(cmd, name)
	if err != nil {
		return err
	}
	about, holds, err := backup.Verify(in)
	if err := errors.Join(err, in.Close()); err != nil {
		return err
	}
	describeBackup(cmd.OutOrStdout(), name, about, holds)
	return nil
}

// openBackup opens a file, or standard input for -.
func openBackup(cmd *cobra.Command, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	return os.Open(name)
}

func describeBackup(w io.Writer, name string, about backup.About, holds backup.Contents) {
	fmt.Fprintf(w, "%s is whole: %s in %d files, queues: %d, shards: %d", name, doctor.Size(uint64(holds.Bytes)), holds.Files, about.Queues, about.Shards)
	if about.Node != "" {
		fmt.Fprintf(w, ", from node %s of %s", about.Node, about.Cluster)
	}
	fmt.Fprintf(w, "; made on %s by Sluice %s\n", about.Created.Format("2006-01-02 15:04:05 MST"), about.Version)
}

// verifiedBackup writes a backup as it comes, and reads it at the same time.
func (a *api) verifiedBackup(ctx context.Context, w io.Writer) (about backup.About, holds backup.Contents, err error) {
	in, out := io.Pipe()
	verified := make(chan error, 1)
	go func() {
		var err error
		about, holds, err = backup.Verify(in)
		// What else comes is not held up; that something is wrong is known.
		_, _ = io.Copy(io.Discard, in)
		verified <- err
	}()
	err = a.backup(ctx, io.MultiWriter(w, out))
	_ = out.Close() // which never fails
	if wrong := <-verified; err == nil {
		err = wrong
	}
	return about, holds, err
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
			in, err := openBackup(cmd, args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, in.Close()) }()
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
