package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// arguments declares the arguments of a command, by their names in its help. An argument in brackets is optional; one
// that ends in dots may be repeated.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		for i, name := range names {
			if i >= len(args) && !strings.HasPrefix(name, "[") {
				return fmt.Errorf("%s is missing: want %s", strings.TrimSuffix(name, "..."), cmd.UseLine())
			}
		}
		if len(args) <= len(names) || strings.HasSuffix(strings.TrimSuffix(names[max(0, len(names)-1)], "]"), "...") {
			return nil
		}
		return fmt.Errorf("%q is too much: want %s", args[len(names)], cmd.UseLine())
	}
}

// noArguments is for commands with flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unknown argument %q: %s takes only flags", args[0], cmd.CommandPath())
}
