package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/declared"
)

// errDiffers sets the exit status 2, as other tools do.
var errDiffers = inconclusive{verdict{errors.New("resources differ from the file")}}

func newPlan() *cobra.Command {
	d := new(declaring)
	cmd := &cobra.Command{
		Use:   "plan FILE...",
		Short: "Show what apply would change, and change nothing",
		Long: `Show what apply would change, setting by setting, and change nothing. - is standard
input. The exit status is 0 if nothing would change, and 2 if something would.

sluice apply --help describes the files and the servers.`,
		Example: `  sluice plan queues.yaml
  sluice plan --prune queues.yaml`,
		Args: arguments("FILE", "[FILE...]"),
	}
	cmd.Flags().BoolVar(&d.prune, "prune", false, "also show what apply --prune would delete")
	return d.running(cmd, func(cmd *cobra.Command, f *declared.File, s *declared.Session) error {
		plan, err := s.Plan(cmd.Context(), f, d.prune)
		if err != nil {
			return err
		}
		return d.show(cmd, f, plan)
	})
}

func newDrift() *cobra.Command {
	d := new(declaring)
	cmd := &cobra.Command{
		Use:   "drift FILE...",
		Short: "Show differences between files and the server",
		Long: `Show differences between files and the server, as plan --prune does, under a name for
hourly checks. The exit status is 0 without differences, and 2 with some.

sluice apply --help describes the files and the servers.`,
		Example: `  sluice drift queues.yaml`,
		Args:    arguments("FILE", "[FILE...]"),
	}
	return d.running(cmd, func(cmd *cobra.Command, f *declared.File, s *declared.Session) error {
		plan, err := s.Plan(cmd.Context(), f, true)
		if err != nil {
			return err
		}
		return d.show(cmd, f, plan)
	})
}

func newApply() *cobra.Command {
	d := new(declaring)
	cmd := &cobra.Command{
		Use:   "apply FILE...",
		Short: "Create and change queues, topics, alarms and users as files declare",
		Long: `Create and change queues, topics, alarms and users as files declare, and print each
step. - is standard input. A second apply changes nothing, and completes one that
stopped half-way.

Only --prune deletes: resources that an earlier apply of a file of the same name
created, and the file no longer has. The name of a deleted queue can be used again after
60 seconds: apply waits.

A file declares queues, topics with subscriptions, alarms, users, groups, roles and
policies, with the settings that matter to it:

  name: shop
  queues:
    orders:
      visibility-timeout: 2m
      dead-letters: orders-failed
    orders-failed:

Other resources and settings stay as they are. See docs/declared.md. --endpoint can name
any server that speaks SQS; --aws means AWS itself.`,
		Example: `  sluice apply queues.yaml
  sluice apply --prune queues.yaml users.yaml --write-keys keys
  sluice apply --aws --region eu-west-1 --profile shop queues.yaml`,
		Args: arguments("FILE", "[FILE...]"),
	}
	f := cmd.Flags()
	f.BoolVar(&d.prune, "prune", false, "delete what the file created and no longer has")
	f.StringVar(
		&d.keyFile,
		"write-keys",
		"",
		"file that gets the access keys of users, as profiles (default: they are printed)",
	)
	filePath(f, "write-keys")
	f.BoolVar(&d.losing, "prune-non-empty", false,
		"also prune queues with messages; without it they stop the whole apply")
	onlyWith(f, []string{"prune"}, "prune-non-empty")
	return d.running(cmd, d.apply)
}

// declaring is the common part of the commands about declared files.
type declaring struct {
	server  clientFlags
	aws     bool
	prune   bool
	losing  bool // also prune queues with messages
	keyFile string
	out     output
}

// running makes cmd a command that reads files and runs f with each.
func (d *declaring) running(
	cmd *cobra.Command, each func(cmd *cobra.Command, f *declared.File, s *declared.Session) error,
) *cobra.Command {
	d.server.add(cmd, "SQS")
	addAWS(cmd, &d.aws)
	d.out.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		texts, err := readDeclared(args, cmd.InOrStdin())
		if err != nil {
			return err
		}
		for i, path := range args { // before any server is called
			if _, err := declared.Parse(texts[i], path, nowhere); err != nil {
				return err
			}
		}
		connector := &connector{flags: &d.server, aws: d.aws}
		if err := connector.open(cmd.Context()); err != nil {
			return err
		}
		var differs error
		for i, path := range args {
			f, err := declared.Parse(texts[i], path, connector.home)
			if err != nil {
				return err
			}
			err = each(cmd, f, declared.NewSession(connector.home, connector.connect))
			if errors.As(err, new(verdict)) {
				differs = err
			} else if err != nil {
				return err
			}
		}
		return differs
	}
	return cmd
}

func addAWS(cmd *cobra.Command, aws *bool) {
	cmd.Flags().BoolVar(aws, "aws", false, "call AWS itself, at the endpoints of the region")
	notWith(cmd.Flags(), "endpoint", "aws")
}

// nowhere stands for the account and region of a file before a server was called.
var nowhere = declared.Scope{Partition: "aws", Account: "-", Region: "-"}

// readDeclared reads files; - is standard input.
func readDeclared(paths []string, stdin io.Reader) (texts [][]byte, err error) {
	for _, path := range paths {
		in := stdin
		if path != "-" {
			f, err := os.Open(path)
			if err != nil {
				return nil, err
			}
			defer func() { _ = f.Close() }() // it was only read
			in = f
		}
		text, err := io.ReadAll(io.LimitReader(in, declared.MaxFile+1))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// show prints a plan, and returns a verdict if it has steps.
func (d *declaring) show(cmd *cobra.Command, f *declared.File, plan *declared.Plan) error {
	if err := d.out.print(cmd, planned{plan, f.Home}); err != nil {
		return err
	}
	if len(plan.Steps) > 0 {
		return errDiffers
	}
	return nil
}

// planned is a plan as an answer.
type planned struct {
	*declared.Plan
	home declared.Scope
}

func (p planned) text(w io.Writer) error { p.Print(w, p.home); return nil }

// applied is the answer of apply.
type applied struct {
	Applied *declared.Plan
	NotDone int            `json:",omitempty"` // steps, because one failed
	Keys    []declared.Key `json:",omitempty"`
}

func (applied) text(io.Writer) error { return nil } // it was printed step by step

func (d *declaring) apply(cmd *cobra.Command, f *declared.File, s *declared.Session) error {
	answer := new(applied)
	show := cmd.OutOrStdout()
	if d.out.json {
		show = io.Discard
	}
	s.Made = func(k declared.Key) error {
		answer.Keys = append(answer.Keys, k)
		_, err := fmt.Fprint(show, k)
		return err
	}
	if d.keyFile != "" {
		file, err := declared.OpenKeyFile(d.keyFile)
		if err != nil {
			return fmt.Errorf("--write-keys: %w", err)
		}
		s.Made = file.Add
	}
	s.Waiting = func(why string) { fmt.Fprintln(d.out.progress(cmd.ErrOrStderr()), why) }
	plan, err := s.Plan(cmd.Context(), f, d.prune)
	if err == nil && !d.losing {
		err = plan.KeepMessages()
	}
	if err != nil {
		return err
	}
	answer.Applied = &declared.Plan{Name: plan.Name, Notes: plan.Notes}
	err = s.Apply(cmd.Context(), plan, func(step *declared.Step) {
		answer.Applied.Steps = append(answer.Applied.Steps, step)
		step.Print(show, f.Home)
	})
	for _, note := range plan.Notes {
		fmt.Fprintln(show, "note:", note)
	}
	answer.NotDone = len(plan.Steps) - len(answer.Applied.Steps)
	answer.Applied.PrintDone(show, answer.NotDone)
	return errors.Join(err, d.out.print(cmd, answer))
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of files for apply",
		Long: `Print the JSON schema of files for apply, by which editors complete names and mark
errors.`,
		Example: `  sluice schema >sluice.schema.json`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := declared.Schema()
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(text)
			return err
		},
	}
}

func newExport() *cobra.Command {
	d := new(declaring)
	name := "exported"
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write a file for apply from the resources of a server",
		Long: `Write a file for apply: all queues, topics, subscriptions and alarms of a region, and
the users, groups, roles and policies of the account, without secrets. Applying it to
its origin changes nothing.`,
		Example: `  sluice export >queues.yaml
  sluice export --name shop --region eu-west-1`,
		Args: noArguments,
	}
	cmd.Flags().StringVar(&name, "name", name, "name of the file, which marks what it creates")
	d.server.add(cmd, "SQS")
	addAWS(cmd, &d.aws)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		connector := &connector{flags: &d.server, aws: d.aws}
		if err := connector.open(cmd.Context()); err != nil {
			return err
		}
		text, err := declared.NewSession(connector.home, connector.connect).Export(cmd.Context(), connector.home, name)
		if err != nil {
			return err
		}
		if _, err := declared.Parse(text, "the export", connector.home); err != nil {
			return err
		}
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	return cmd
}
