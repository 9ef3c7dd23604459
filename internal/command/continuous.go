package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/backup"
	"github.com/sluicemq/sluice/internal/backup/repository"
	"github.com/sluicemq/sluice/internal/bucket"
	"github.com/sluicemq/sluice/internal/doctor"
)

// moment is the flag --at.
type moment struct{ text string }

func (m *moment) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&m.text, "at", "",
		"the last continuous backup not later than this time (RFC 3339), or at least this old, such as 90m or 7d (default: the last)")
}

func (m *moment) isSet() bool { return m.text != "" }

// time returns the time, or zero without the flag.
func (m *moment) time() (time.Time, error) {
	if !m.isSet() {
		return time.Time{}, nil
	}
	at, err := parseTime(m.text, time.Now())
	if err != nil {
		return at, usage(fmt.Errorf("--at: %w", err))
	}
	return at, nil
}

// readRepository calls f with the continuous backups at a URL.
func readRepository(ctx context.Context, url string, f func(*repository.Repository) error) error {
	if err := bucket.CheckPlace(url); err != nil {
		return usage(err)
	}
	place, err := bucket.OpenPlace(ctx, url, false)
	if err != nil {
		return err
	}
	return errors.Join(f(repository.New(place)), place.Close())
}

func newBackupLs() *cobra.Command {
	var out output
	cmd := &cobra.Command{
		Use:   "ls URL",
		Short: "List continuous backups",
		Long: `List the backups that a server with --backup-to=URL has made, the oldest first. Each has
everything that was acknowledged before its moment. Needs the bucket's keys, from where AWS's
SDKs look, and no server.`,
		Example: `  sluice backup ls file:///mnt/backups/sluice
  sluice backup ls s3://backups/sluice
  sluice backup ls 's3://backups/sluice?endpoint=https://s3.example.com'`,
		Args:              arguments("URL"),
		ValidArgsFunction: completePlaces,
		RunE: func(cmd *cobra.Command, args []string) error {
			return readRepository(cmd.Context(), args[0], func(r *repository.Repository) error {
				list := momentList{Backups: []momentRow{}}
				failed := r.Moments(cmd.Context(), func(m *repository.Moment) {
					list.Backups = append(list.Backups, rowOf(m))
				})
				if failed != nil && !errors.Is(failed, repository.ErrDamaged) {
					return failed
				}
				return errors.Join(out.print(cmd, list), failed)
			})
		},
	}
	out.add(cmd)
	return cmd
}

// momentList is the answer of backup ls.
type momentList struct{ Backups []momentRow }

// momentRow is a moment without its files.
type momentRow struct {
	Number   int64
	Moment   time.Time
	Contents backup.Contents
	Queues   int
	Version  string
}

func rowOf(m *repository.Moment) momentRow {
	return momentRow{m.Number, m.Created, m.Contents(), m.Queues, m.Version}
}

func (l momentList) text(w io.Writer) error {
	var rows [][]string
	for _, m := range l.Backups {
		rows = append(rows, []string{
			m.Moment.UTC().Format("2006-01-02T15:04:05.000Z"), strconv.Itoa(m.Queues), doctor.Size(uint64(m.Contents.Bytes)), m.Version,
		})
	}
	return printTable(w, []string{"MOMENT", "QUEUES", "SIZE", "VERSION"}, rows)
}

func newBackupVerify() *cobra.Command {
	var at moment
	var out output
	scratch := os.TempDir()
	cmd := &cobra.Command{
		Use:   "verify URL",
		Short: "Check a continuous backup by restoring it",
		Long: `Restore a continuous backup into a directory that is removed afterwards, compare all
digests, and check what was restored as sluice doctor does. The directory takes as much
space as the backup.

The exit status is 0 if the backup is sound, 1 if it is damaged, and 2 if the check was
not possible.`,
		Example: `  sluice backup verify s3://backups/sluice
  sluice backup verify file:///mnt/backups/sluice --at 1d`,
		Args:              arguments("URL"),
		ValidArgsFunction: completePlaces,
		RunE: asked(func(cmd *cobra.Command, args []string) (err error) {
			dir, err := os.MkdirTemp(scratch, "sluice-verify-")
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
			return verifyMoment(cmd, &out, args[0], at, filepath.Join(dir, "data"))
		}),
	}
	at.add(cmd)
	cmd.Flags().StringVar(&scratch, "scratch", scratch, "directory below which the backup is restored")
	directoryPath(cmd.Flags(), "scratch")
	out.add(cmd)
	return cmd
}

// verifyMoment restores a moment into dir, and examines it with the doctor.
func verifyMoment(cmd *cobra.Command, out *output, url string, at moment, dir string) error {
	about, err := restoreMoment(cmd.Context(), url, at, dir)
	if errors.Is(err, backup.ErrNoBackup) {
		fmt.Fprintln(cmd.ErrOrStderr(), err)
		return newVerdict("the backup is damaged")
	}
	if err != nil {
		return err
	}
	parts, err := doctorDirectory(dir)
	if err != nil {
		return err
	}
	report, err := doctor.Examine(cmd.Context(), parts, sayProgress(cmd.ErrOrStderr(), progressInterval))
	if err != nil {
		return err
	}
	if err := out.print(cmd, verifiedMoment{about.Created, report}); err != nil {
		return err
	}
	if !report.Sound {
		return newVerdict("the backup is damaged")
	}
	return nil
}

// verifiedMoment is the answer of backup verify.
type verifiedMoment struct {
	Moment time.Time
	Report *doctor.Report
}

func (v verifiedMoment) text(w io.Writer) error {
	v.Report.Print(w)
	_, err := fmt.Fprintf(w, "All digests of the backup of %s are correct.\n", v.Moment.UTC().Format(time.RFC3339))
	return err
}

// restoreMoment creates a data directory from a moment.
func restoreMoment(ctx context.Context, url string, at moment, dir string) (about backup.About, err error) {
	when, err := at.time()
	if err != nil {
		return about, err
	}
	err = readRepository(ctx, url, func(r *repository.Repository) error {
		m, err := r.At(ctx, when)
		if err != nil {
			return err
		}
		about = m.About
		fill := func(create backup.Create) error { return r.Fetch(ctx, m, create) }
		return backup.MakeDir(dir, fill, func(half string) error { return detach(half, about) })
	})
	if err != nil {
		return about, fmt.Errorf("restore: %w", err)
	}
	return about, nil
}
