package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// arguments says which arguments a command takes, by their names in its help. One
// in brackets may be left out; one that ends in dots may come several times.
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

// noArguments is for a command that takes flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unknown argument %q: %s takes only flags", args[0], cmd.CommandPath())
}
