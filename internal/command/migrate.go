package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/declared"
	"github.com/sluicemq/sluice/internal/migrate"
)

// migration holds the settings of sluice migrate.
type migration struct {
	server clientFlags

	from        []string
	fromAWS     bool
	fromCA      string
	fromRegion  string
	fromProfile string

	dryRun          bool
	definitionsOnly bool
	follow          bool
	workers         int
	wait            time.Duration

	out output
}

func newMigrate() *cobra.Command {
	m := &migration{workers: 8, wait: 90 * time.Second}
	cmd := &cobra.Command{
		Use:   "migrate [QUEUE...]",
		Short: "Move queues, topics and messages from another SQS endpoint",
		Long: `Move queues, topics, subscriptions and messages to this server from Amazon SQS,
ElasticMQ, LocalStack, moto, another Sluice, or any other server that speaks SQS in
JSON. With names of queues, only those are moved, and no topics.

First the command creates what this server lacks, and lists what is different here. Then
it moves messages: each is deleted at the source after this server has acknowledged it.
A run that was stopped or killed can be repeated. A message of a standard queue can then
arrive twice.

The command ends when the source has no messages left, or with --follow when it is
interrupted. See docs/migration.md.`,
		Example: `  sluice migrate --from http://127.0.0.1:9325 --dry-run
  sluice migrate --from http://127.0.0.1:9325
  sluice migrate --from-aws --from-region eu-west-1 --from-profile shop --follow orders payments.fifo`,
		Args: arguments("[QUEUE...]"),
		RunE: m.run,
	}
	section(cmd.Flags(), "Source", func(f *pflag.FlagSet) {
		f.StringSliceVar(&m.from, "from", nil, "URL of the source")
		f.BoolVar(&m.fromAWS, "from-aws", false, "the source is AWS itself, in the region of --from-region")
		f.StringVar(
			&m.fromCA,
			"from-ca",
			"",
			"file with the certificates to trust at the source, PEM (default: as --ca)",
		)
		f.StringVar(&m.fromRegion, "from-region", "", "region of the source (default: as --region)")
		f.StringVar(
			&m.fromProfile,
			"from-profile",
			"",
			"profile of the credentials file for the source (default: as --profile)",
		)
		filePath(f, "from-ca")
	})
	f := cmd.Flags()
	f.BoolVar(&m.dryRun, "dry-run", false, "show what would be created and moved, and change nothing")
	f.BoolVar(&m.definitionsOnly, "definitions-only", false,
		"create queues, topics and subscriptions, and move no messages")
	f.BoolVar(&m.follow, "follow", false, "continue until interrupted")
	f.IntVar(&m.workers, "workers", m.workers, "batches moved at a time, 1 to 64")
	f.DurationVar(
		&m.wait,
		"wait",
		m.wait,
		"how long to wait at the end for messages that are delayed or in flight",
	)
	notWith(f, "from-aws", "from")
	notWith(f, "dry-run", "definitions-only", "follow", "workers", "wait")
	notWith(f, "definitions-only", "follow", "workers", "wait")
	notWith(f, "follow", "wait")
	must(cmd.RegisterFlagCompletionFunc("from-profile", completeProfiles))
	m.server.add(cmd, "SQS")
	m.out.add(cmd)
	return cmd
}

// check refuses flags that are missing or out of range.
func (m *migration) check() error {
	switch {
	case len(m.from) == 0 && !m.fromAWS:
		return usage(errors.New("--from is missing: the URL of the source, or --from-aws"))
	case m.workers < 1 || m.workers > 64:
		return usage(fmt.Errorf("--workers %d: want 1 to 64", m.workers))
	case m.wait < 0:
		return usage(fmt.Errorf("--wait %s: want no negative duration", m.wait))
	}
	return nil
}

// source returns the client of the source.
func (m *migration) source() *connector {
	flags := m.server
	flags.endpoints, flags.from = m.from, "--from"
	flags.ca = cmp.Or(m.fromCA, flags.ca)
	flags.region = cmp.Or(m.fromRegion, flags.region)
	flags.profile = cmp.Or(m.fromProfile, flags.profile)
	return &connector{flags: &flags, aws: m.fromAWS}
}

// side opens a connection and asks for its account and region.
func side(ctx context.Context, c *connector) (migrate.Side, error) {
	region := cmp.Or(c.flags.region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1")
	api, err := c.dial(c.flags.profile, region)
	if err != nil {
		return migrate.Side{}, err
	}
	home, err := migrate.HomeOf(ctx, api, region)
	dial := func(context.Context, declared.Scope) (declared.API, error) { return c.dial(c.flags.profile, region) }
	return migrate.Side{Home: home, Connect: dial}, err
}

func (m *migration) run(cmd *cobra.Command, names []string) error {
	if err := m.check(); err != nil {
		return err
	}
	ctx := cmd.Context()
	from, err := side(ctx, m.source())
	if err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	target := &connector{flags: &m.server}
	if err := target.open(ctx); err != nil {
		return fmt.Errorf("the target: %w", err)
	}
	to := migrate.Side{Home: target.home, Connect: target.connect}
	if err := m.distinct(target); err != nil {
		return err
	}
	definitions, err := migrate.Read(ctx, from, to, names)
	if err != nil {
		return err
	}
	answer := &migrated{Plan: definitions.Plan, Differs: definitions.Differs, Notes: definitions.Notes, home: to.Home}
	err = m.carryOut(cmd, definitions, from, to, answer)
	return errors.Join(err, m.out.print(cmd, answer))
}

// distinct refuses to move messages from a server to itself.
func (m *migration) distinct(target *connector) error {
	from, err := m.source().flags.resolve()
	if err != nil || m.fromAWS {
		return usage(err)
	}
	to, err := target.flags.resolve()
	if err != nil {
		return usage(err)
	}
	for _, e := range from {
		if slices.ContainsFunc(to, func(other endpoint) bool { return other.url == e.url }) {
			return usage(fmt.Errorf("%s is the source and the target", e.url))
		}
	}
	return nil
}

// carryOut creates what is missing and moves messages, as far as requested.
func (m *migration) carryOut(cmd *cobra.Command, d *migrate.Definitions, from, to migrate.Side, a *migrated) error {
	ctx := cmd.Context()
	source, err := from.Connect(ctx, from.Home)
	if err != nil {
		return err
	}
	if m.dryRun {
		a.Waiting, err = d.CountsOf(ctx, source)
		return err
	}
	progress := m.out.progress(cmd.ErrOrStderr())
	failed := d.Apply(ctx, func(step *declared.Step) { step.Print(progress, to.Home) })
	if a.Plan = nil; m.definitionsOnly || ctx.Err() != nil {
		return failed
	}
	target, err := to.Connect(ctx, to.Home)
	if err != nil {
		return err
	}
	queues, missing, err := d.Queues(ctx, source, target)
	if err != nil {
		return err
	}
	if len(queues) > 0 {
		if same, err := migrate.Same(ctx, source, target, queues[0]); same || err != nil {
			return cmp.Or(err, errors.New("the source and the target are the same server"))
		}
	}
	a.Missing = missing
	a.Moved, err = m.mover(cmd, from, to).Run(ctx, queues)
	if err == nil && ctx.Err() != nil && !m.follow {
		err = errors.New("interrupted: run the command again to move the rest")
	}
	return errors.Join(failed, err, a.incomplete())
}

// mover returns what moves messages.
func (m *migration) mover(cmd *cobra.Command, from, to migrate.Side) *migrate.Mover {
	ctx, progress := cmd.Context(), m.out.progress(cmd.ErrOrStderr())
	dial := func(s migrate.Side) func() (migrate.API, error) {
		return func() (migrate.API, error) { return s.Connect(ctx, s.Home) }
	}
	return &migrate.Mover{
		From: dial(from), To: dial(to), Workers: m.workers, Follow: m.follow,
		Hidden: migrate.Hidden, Poll: 1, Pause: time.Second, Wait: m.wait, Finish: migrate.Finish,
		Warn:     func(text string) { fmt.Fprintln(cmd.ErrOrStderr(), "warning:", printable(text)) },
		Progress: func(moved int) { fmt.Fprintf(progress, "%d messages moved\n", moved) },
	}
}

// migrated is the answer of migrate.
type migrated struct {
	Plan    *declared.Plan    `json:",omitempty"` // of a dry run
	Waiting []migrate.Waiting `json:",omitempty"` // in a dry run
	Moved   []migrate.Result  `json:",omitempty"`
	Missing []string          `json:",omitempty"` // queues missing in the target
	Differs []string          `json:",omitempty"`
	Notes   []string          `json:",omitempty"`

	home declared.Scope
}

// incomplete returns an error if messages stay at the source because the target does not accept them.
func (a *migrated) incomplete() error {
	refused := 0
	for _, r := range a.Moved {
		refused += r.Refused
	}
	switch {
	case len(a.Missing) > 0:
		return fmt.Errorf("%d queues could not be created, and their messages stay at the source", len(a.Missing))
	case refused > 0:
		return fmt.Errorf("the target refused %d messages, which stay at the source", refused)
	}
	return nil
}

func (a *migrated) text(w io.Writer) error {
	if a.Plan != nil {
		for _, step := range a.Plan.Steps {
			step.Print(w, a.home)
		}
	}
	for _, differs := range a.Differs {
		fmt.Fprintln(w, "differs, and stays unchanged:", printable(differs))
	}
	for _, note := range a.Notes {
		fmt.Fprintln(w, "note:", printable(note))
	}
	var header []string
	var rows [][]string
	for _, q := range a.Waiting {
		header = []string{"QUEUE", "AVAILABLE", "IN FLIGHT", "DELAYED"}
		rows = append(rows, []string{
			q.Queue, strconv.Itoa(q.Available), strconv.Itoa(q.InFlight), strconv.Itoa(q.Delayed),
		})
	}
	for _, r := range a.Moved {
		header = []string{"QUEUE", "MOVED", "REFUSED", "LEFT"}
		left := strconv.Itoa(r.Left)
		if r.Left < 0 {
			left = "unknown"
		}
		rows = append(rows, []string{r.Queue, strconv.Itoa(r.Moved), strconv.Itoa(r.Refused), left})
	}
	if header == nil {
		return nil
	}
	return printTable(w, header, rows)
}
