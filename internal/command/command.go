// Package command is what the sluice program does on the command line.
//
// Every command is declared the same way: its flags in sections (help.go), the
// values that a flag takes as a type of its own (choice.go, bytes.go), an example,
// and an answer that is printed as text or, with --json, as it stands (output.go).
// finish adds to the whole tree what all commands share.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs the program and returns its exit status.
func Main() int {
	// The first signal stops in order. After it the signals have their usual
	// effect again, so that a second one stops at once.
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	context.AfterFunc(ctx, cancel)
	err := Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	Explain(os.Stderr, err)
	return Status(err)
}

// Explain prints the error that Run has returned, unless the command has printed it already.
func Explain(w io.Writer, err error) {
	var no verdict
	if err != nil && !errors.As(err, &no) {
		fmt.Fprintln(w, "sluice:", err)
	}
}

// Run executes the program with arguments until it is done or ctx ends.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	root, calls := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	return calls.judge(cmd, err)
}

// Tree returns all commands, for programs that document them.
func Tree() *cobra.Command {
	root, _ := newRoot()
	return root
}

// newRoot returns the tree of all commands, and the counter of the commands that began.
func newRoot() (*cobra.Command, *calls) {
	root := &cobra.Command{
		Use:   "sluice",
		Short: "A message queue service that speaks Amazon SQS",
		Long: `A message queue service that speaks Amazon SQS.

Every flag can be given in the environment as well: --log-format as
SLUICE_LOG_FORMAT, and so on. A flag on the command line comes first.

The exit status is 0 for success, 2 if a command was called in a wrong way, and
1 if anything else went wrong.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	addGroup(root, "Run a server", newServe(), newStatus(), newLogLevel(), newProfile(), newBackup(), newRestore(), newDoctor(), newRing())
	addGroup(
		root,
		"Use a server",
		newQueue(),
		newTopic(),
		newSubscribe(),
		newAlarm(),
		newUser(),
		newAccount(),
		newPolicy(),
		newTrail(),
		newConsole(),
		newMark(),
		newHealth(),
	)
	addGroup(root, "Queues as code", newApply(), newPlan(), newDrift(), newExport(), newMigrate(), newSchema())
	addGroup(root, "Several servers", newCluster(), newNode())
	addGroup(root, "Try a server", newBench(), newTorture())
	root.AddCommand(newVersion())
	addHelp(root)
	root.InitDefaultCompletionCmd()
	addVersionFlag(root)
	root.SetUsageFunc(printUsage)
	root.SetFlagErrorFunc(explainFlagError)
	c := new(calls)
	c.finish(root)
	return root, c
}

// synonyms are additional names of commands: those of queues as in a shell, those of users as in IAM.
var synonyms = map[string]string{"ls": "list", "list": "ls", "rm": "delete", "delete": "rm"}

// calls records whether the function of a command has begun. An earlier error is a mistake in the call.
type calls struct{ began bool }

// finish adds to a command and those below it what all commands share.
func (c *calls) finish(cmd *cobra.Command) {
	cmd.Flags().SortFlags, cmd.PersistentFlags().SortFlags = false, false
	cmd.DisableFlagsInUseLine = true
	if other := synonyms[cmd.Name()]; other != "" {
		cmd.Aliases = append(cmd.Aliases, other)
	}
	if cmd.HasSubCommands() && (cmd.RunE == nil || !cmd.HasParent()) {
		makeGroup(cmd)
	}
	completeNothingElse(cmd)
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			c.began = true
			return run(cmd, args)
		}
	}
	if cmd.PreRunE == nil && cmd.RunE != nil && !isOfCobra(cmd) {
		cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
			if err := applySettings(cmd); err != nil {
				return err
			}
			return checkFlags(cmd)
		}
	}
	for _, child := range cmd.Commands() {
		c.finish(child)
	}
}

// isOfCobra reports whether the library provides a command: such commands ignore the environment.
func isOfCobra(cmd *cobra.Command) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		if cmd.Name() == "completion" || cmd.Name() == "help" {
			return true
		}
	}
	return false
}

// groupMark marks a command that does nothing itself.
const groupMark = "sluice:group"

// makeGroup makes a command without a function show its help, and refuse unknown names.
func makeGroup(cmd *cobra.Command) {
	cmd.Annotations = map[string]string{groupMark: ""}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return fmt.Errorf("unknown command %q%s", args[0], didYouMean(cmd.SuggestionsFor(args[0])...))
	}
	cmd.SuggestionsMinimumDistance = 2
	if cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

// judge determines the kind of a command's error, which decides the exit status.
func (c *calls) judge(cmd *cobra.Command, err error) error {
	var wrong usageError
	switch {
	case err == nil:
		return nil
	case !c.began:
		return usageError{cmd.CommandPath(), nameSources(cmd, err)}
	case errors.As(err, &wrong):
		return nameSources(cmd, err)
	}
	return err
}
