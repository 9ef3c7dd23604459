package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/doctor"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/tool/durable"
)

func newBackup() *cobra.Command {
	from := new(clientFlags)
	var out output
	var verify bool
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write the data of a running server to a file",
		Long: `Write the data of a running server or cluster to a file: queues, messages, users and
keys. The server keeps serving. Any node of a cluster can make the backup.

The file has everything that was acknowledged before the command started. It holds the
secrets of the installation, and only you can read it. With - for FILE the tar archive
goes to standard output. The command verifies checksums; with --verify, those of an
existing file, without a server.

A server with --backup-to makes continuous backups: ls and verify look at these.

Needs sluice:Backup in the first account.`,
		Example: `  sluice backup sluice-$(date +%F).tar
  sluice backup --verify sluice-2026-11-21.tar
  sluice backup - | zstd >sluice.tar.zst`,
		Args:              arguments("FILE"),
		ValidArgsFunction: completeFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			var whole *wholeBackup
			var err error
			if verify {
				whole, err = verifyBackup(cmd, args[0])
			} else {
				whole, err = fetchBackup(cmd, from, args[0])
			}
			if err != nil {
				return err
			}
			if !verify && args[0] == "-" {
				cmd.SetOut(cmd.ErrOrStderr()) // where the archive is not
			}
			return out.print(cmd, whole)
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "verify an existing backup")
	from.addOwn(cmd, "SLUICE")
	notWith(cmd.Flags(), "verify", "endpoint", "ca", "region", "profile")
	out.add(cmd)
	cmd.AddCommand(newBackupLs(), newBackupVerify())
	return cmd
}

// wholeBackup is the answer of backup.
type wholeBackup struct {
	File     string
	About    backup.About
	Contents backup.Contents
}

func (b *wholeBackup) text(w io.Writer) error {
	fmt.Fprintf(
		w,
		"%s is whole: %s in %d files, queues: %d, shards: %d",
		b.File,
		doctor.Size(uint64(b.Contents.Bytes)),
		b.Contents.Files,
		b.About.Queues,
		b.About.Shards,
	)
	if b.About.Node != "" {
		fmt.Fprintf(w, ", from node %s of %s", b.About.Node, b.About.Cluster)
	}
	_, err := fmt.Fprintf(
		w, "; made on %s by Sluice %s\n", b.About.Created.Format("2006-01-02 15:04:05 MST"), b.About.Version,
	)
	return err
}

// verifyBackup reads an existing backup.
func verifyBackup(cmd *cobra.Command, name string) (*wholeBackup, error) {
	in, err := openBackup(cmd, name)
	if err != nil {
		return nil, err
	}
	about, holds, err := backup.Verify(in)
	if err := errors.Join(err, in.Close()); err != nil {
		return nil, err
	}
	return &wholeBackup{name, about, holds}, nil
}

// openBackup opens a file, or standard input for -.
func openBackup(cmd *cobra.Command, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(cmd.InOrStdin()), nil
	}
	return os.Open(name)
}

// fetchBackup makes a backup.
func fetchBackup(cmd *cobra.Command, from *clientFlags, name string) (*wholeBackup, error) {
	c, err := from.client()
	if err != nil {
		return nil, err
	}
	whole := &wholeBackup{File: name}
	fetch := func(w io.Writer) error { return c.backup(cmd.Context(), w, whole) }
	if name == "-" {
		return whole, fetch(cmd.OutOrStdout())
	}
	return whole, intoFile(name, fetch)
}

// backup writes a backup as it arrives, and verifies it at the same time.
func (c *client) backup(ctx context.Context, w io.Writer, whole *wholeBackup) error {
	in, out := io.Pipe()
	verified := make(chan error, 1)
	go func() {
		var err error
		whole.About, whole.Contents, err = backup.Verify(in)
		// The rest of the backup is still read, so that the writer is not blocked; the error is known.
		_, _ = io.Copy(io.Discard, in)
		verified <- err
	}()
	n, err := c.download(ctx, server.BackupPath, io.MultiWriter(w, out))
	_ = out.Close() // which never fails
	wrong := <-verified
	switch {
	case err != nil && n > 0:
		return fmt.Errorf("the backup was cut short; the server's log may say why: %w", err)
	case err != nil:
		return err
	}
	return wrong
}

// intoFile writes a file that appears under its name only when it is complete. It is durable when intoFile returns nil.
func intoFile(name string, write func(io.Writer) error) error {
	if _, err := os.Stat(name); err == nil {
		return fmt.Errorf("%s is there already: name another file, or remove it", name)
	}
	part := name + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	if err := os.Rename(part, name); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(name))
}

func newRestore() *cobra.Command {
	data := server.Default().Data
	var at moment
	var out output
	cmd := &cobra.Command{
		Use:   "restore FILE|URL",
		Short: "Create a data directory from a backup",
		Long: `Create a data directory for sluice serve from a backup. The directory must be empty or
missing. With - for FILE the archive comes from standard input. URL is the --backup-to of
a server: the last backup is restored, or with --at the last one that is not later.

One server can serve it, or the first node of a new cluster whose other nodes begin with
empty directories. A backup with several shards needs a cluster of at least one node.`,
		Example: `  sluice restore sluice-2026-11-21.tar --data /var/lib/sluice
  zstd -d <sluice.tar.zst | sluice restore -
  sluice restore s3://backups/sluice --at 2026-11-23T10:15:00Z --data /var/lib/sluice`,
		Args:              arguments("FILE|URL"),
		ValidArgsFunction: completePlacesAndFiles,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if bucket.IsPlace(args[0]) {
				about, err := restoreMoment(cmd.Context(), args[0], at, data)
				if err != nil {
					return err
				}
				return out.print(cmd, restored{data, about.Created, about.Shards})
			}
			if at.isSet() {
				return usage(errors.New("--at is for the URL of continuous backups: a file has one moment"))
			}
			in, err := openBackup(cmd, args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, in.Close()) }()
			about, err := backup.Restore(in, data, detach)
			if err != nil {
				return err
			}
			return out.print(cmd, restored{data, about.Created, about.Shards})
		},
	}
	cmd.Flags().StringVar(&data, "data", data, "data directory to create")
	at.add(cmd)
	directoryPath(cmd.Flags(), "data")
	out.add(cmd)
	return cmd
}

// restored is the answer of restore.
type restored struct {
	Directory string
	Created   time.Time // the backup
	Shards    int
}

func (r restored) text(w io.Writer) error {
	_, err := fmt.Fprintf(
		w, "restored into %s what was kept on %s\n", r.Directory, r.Created.Format("2006-01-02 15:04:05 MST"),
	)
	if r.Shards > 1 {
		_, err = fmt.Fprintf(
			w,
			"It has %d shards and is to be served by a cluster: sluice serve --node NAME --cluster NAME=HOST:PORT,...\n",
			r.Shards,
		)
	}
	return err
}

// detach separates restored data from its cluster.
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
