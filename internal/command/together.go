package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flag without an effect is refused, because its user expects one. The rules about which flags need or exclude others
// are next to their declarations.
const (
	needsOne = "sluice:needs" // one of these flags
	excluded = "sluice:excluded"
)

// ownEnvironment marks a command with its own environment, such as that of a server: a variable without an effect is
// then as wrong as a flag. The environment of a shell is for all programs that it starts.
const ownEnvironment = "sluice:environment"

// onlyWith declares that flags have an effect only with one of others.
func onlyWith(f *pflag.FlagSet, others []string, names ...string) {
	for _, name := range names {
		must(f.SetAnnotation(name, needsOne, others))
	}
}

// notWith declares that flags have no effect together with another one.
func notWith(f *pflag.FlagSet, other string, names ...string) {
	for _, name := range names {
		known := f.Lookup(name).Annotations[excluded]
		must(f.SetAnnotation(name, excluded, append(known, other)))
	}
}

// checkFlags refuses flags without an effect, and requires mandatory flags.
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

// isOn reports whether a flag is set. A command below the one that declares a rule may lack the other flag.
func isOn(f *pflag.Flag) bool { return f != nil && f.Changed && f.Value.String() != "false" }

// overrides reports whether a flag is on the command line that makes a flag from the environment useless: an image may
// set a directory in its environment, for servers that store data on disk.
func overrides(f, other *pflag.Flag) bool {
	return f.Annotations[setBy] == nil && other.Annotations[setBy] != nil
}
