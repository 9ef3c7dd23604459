// Package command is what the sluice program does on the command line.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Main runs the program and returns its exit status.
func Main() int {
	// The first signal stops in order. After it the signals have their usual
	// effect again, so that a second one stops at once.
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	context.AfterFunc(ctx, cancel)
	err := Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sluice:", err)
	}
	return Status(err)
}

// Run executes the program with arguments until it is done or ctx ends.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root := &cobra.Command{
		Use:           "sluice",
		Short:         "A message queue service that speaks Amazon SQS",
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return fromEnvironment(cmd.Flags(), os.LookupEnv)
		},
	}
	examine, policies := newDoctor(), newPolicy()
	root.AddCommand(newServe(), newUser(), newAccount(), newCluster(), newNode(), newBackup(), newRestore(), newBench(), newTorture(), examine, policies, newVersion())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	ran, err := root.ExecuteContextC(ctx)
	asked := ran == examine || ran.Parent() == policies || ran.CommandPath() == "sluice cluster status"
	if err != nil && asked && !errors.Is(err, errDamaged) && !errors.Is(err, errNotAllowed) && !errors.Is(err, errUnwell) {
		err = inconclusive{err} // also if it was called in a wrong way
	}
	return err
}

// fromEnvironment sets the flags that are not given from the environment:
// --log-format from SLUICE_LOG_FORMAT, and so on.
func fromEnvironment(flags *pflag.FlagSet, lookup func(string) (string, bool)) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := environmentName(f.Name)
		value, ok := lookup(name)
		if !ok || f.Changed || f.Name == "help" || failed != nil {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			failed = fmt.Errorf("%s: %w", name, err)
		}
	})
	return failed
}

func environmentName(flag string) string {
	return "SLUICE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "sluice", version())
			return err
		},
	}
}

// version is what the build knows of itself.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
