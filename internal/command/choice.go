package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// choice is the value of a flag with a fixed set of words.
type choice struct {
	value   *string
	allowed []string
}

// addChoice declares a flag that takes one of the allowed words, and makes the shell complete them.
func addChoice(f *pflag.FlagSet, value *string, name, help string, allowed ...string) {
	f.Var(choice{value, allowed}, name, alternatives(allowed)+help)
}

func (c choice) Set(text string) error {
	if !slices.Contains(c.allowed, text) {
		return fmt.Errorf("want %s", alternatives(c.allowed))
	}
	*c.value = text
	return nil
}

func (c choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c choice) Type() string { return "word" }

// complete returns the words that a shell offers.
func (c choice) complete(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return c.allowed, cobra.ShellCompDirectiveNoFileComp
}

// alternatives formats words as "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
