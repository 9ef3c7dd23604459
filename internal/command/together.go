package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flag that has no effect is refused: its user expects one. Which flags
// need or exclude others is written beside their declarations.
const (
	needsOne = "sluice:needs" // one of these flags
	excluded = "sluice:excluded"
)

// ownEnvironment marks a command that has its environment to itself, as a server
// has: a variable without effect is then as wrong as a flag. That of a shell is
// for all that is called in it.
const ownEnvironment = "sluice:environment"

// onlyWith says that flags have an effect only with one of others.
func onlyWith(f *pflag.FlagSet, others []string, names ...string) {
	for _, name := range names {
		must(f.SetAnnotation(name, needsOne, others))
	}
}

// notWith says that flags have no effect when another one is given.
func notWith(f *pflag.FlagSet, other string, names ...string) {
	for _, name := range names {
		known := f.Lookup(name).Annotations[excluded]
		must(f.SetAnnotation(name, excluded, append(known, other)))
	}
}

// checkFlags refuses flags without effect, and asks for those that must be given.
func checkFlags(cmd *cobra.Command) error {
	var failed []error
	cmd.Flags().VisitAll(func(f *pflag.Flag) { failed = append(failed, checkFlag(cmd, f)) })
	return errors.Join(failed...)
}

func checkFlag(cmd *cobra.Command, f *pflag.Flag) error {
	flags := cmd.Flags()
	if !f.Changed {
		if f.Annotations[cobra.BashCompOneRequiredFlag] != nil {
			return fmt.Errorf("--%s is missing: %s", f.Name, f.Usage)
		}
		return nil
	}
	for _, name := range f.Annotations[excluded] {
		if other := flags.Lookup(name); isOn(other) && !overrides(other, f) {
			return fmt.Errorf("--%s has no effect with --%s", f.Name, name)
		}
	}
	needed := f.Annotations[needsOne]
	if _, own := cmd.Annotations[ownEnvironment]; !own && f.Annotations[setBy] != nil {
		return nil
	}
	for _, name := range needed {
		if isOn(flags.Lookup(name)) {
			return nil
		}
	}
	if needed == nil {
		return nil
	}
	return fmt.Errorf("--%s has no effect without --%s", f.Name, strings.Join(needed, " or --"))
}

func isOn(f *pflag.Flag) bool { return f.Changed && f.Value.String() != "false" }

// overrides reports whether a flag stands on the command line, and another one that
// it makes useless in the environment: an image may set a directory in its
// environment, for servers that do not keep everything in memory.
func overrides(f, other *pflag.Flag) bool {
	return f.Annotations[setBy] == nil && other.Annotations[setBy] != nil
}
