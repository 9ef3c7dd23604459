package command

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	variablePrefix = "SLUICE_"
	// fromVariable marks a flag that was set by its variable.
	fromVariable = "sluice:variable"
)

// environmentName is the variable that stands for a flag: SLUICE_LOG_FORMAT for
// --log-format.
func environmentName(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// readEnvironment sets the flags of a command that are not given from the
// environment. An empty variable is as good as none. A variable that stands for no
// flag of any command is refused: a misspelt one would never be found otherwise.
func readEnvironment(cmd *cobra.Command, environ []string) error {
	values, err := variables(cmd, environ)
	if err != nil {
		return err
	}
	if err := setFromEnvironment(cmd.Flags(), values); err != nil {
		return err
	}
	return refuseUnknown(cmd.Root(), values)
}

func setFromEnvironment(flags *pflag.FlagSet, values map[string]string) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		name := environmentName(f.Name)
		value, ok := values[name]
		if !ok || f.Changed || notFromEnvironment(f.Name) || failed != nil {
			return
		}
		if err := flags.Set(f.Name, value); err != nil {
			var invalid *pflag.InvalidValueError
			if errors.As(err, &invalid) {
				err = invalid.Unwrap()
			}
			failed = wrongValue(name, f, value, err)
			return
		}
		if f.Annotations == nil {
			f.Annotations = make(map[string][]string)
		}
		f.Annotations[fromVariable] = []string{name}
	})
	return failed
}

// notFromEnvironment reports whether a flag is about one call only.
func notFromEnvironment(flag string) bool { return flag == "help" || flag == "version" }

// foreign are variables that are no flags: those of tests and of torture, and
// those that Kubernetes and Docker give a container for a service called sluice.
var foreign = regexp.MustCompile(`^SLUICE_(TEST_.*|CLOCK_FAULTS|(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?))$`)

func refuseUnknown(root *cobra.Command, values map[string]string) error {
	var known []string
	eachCommand(root, func(cmd *cobra.Command) {
		note := func(f *pflag.Flag) { known = append(known, environmentName(f.Name)) }
		cmd.Flags().VisitAll(note)
		cmd.PersistentFlags().VisitAll(note)
	})
	var unknown []string
	for name := range values {
		if !slices.Contains(known, name) && !foreign.MatchString(name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("the environment has %s, and there is no such flag%s", unknown[0], didYouMean(prefixed("", nearest(unknown[0], known))...))
}

// eachCommand calls f with a command and all that are below it.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, child := range cmd.Commands() {
		eachCommand(child, f)
	}
}

// nameVariables adds to an error about flags which of them were set by variables:
// they are not on the command line, where the reader would look.
func nameVariables(cmd *cobra.Command, err error) error {
	var set []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if name := f.Annotations[fromVariable]; name != nil && mentions(err.Error(), "--"+f.Name) {
			set = append(set, fmt.Sprintf("--%s is set by %s", f.Name, name[0]))
		}
	})
	if len(set) == 0 {
		return err
	}
	return fmt.Errorf("%w (%s)", err, strings.Join(set, ", "))
}

// mentions reports whether a text has a flag, and not only one that begins like it.
func mentions(text, flag string) bool {
	for {
		at := strings.Index(text, flag)
		if at < 0 {
			return false
		}
		text = text[at+len(flag):]
		if text == "" || !isFlagLetter(text[0]) {
			return true
		}
	}
}

func isFlagLetter(c byte) bool {
	return c == '-' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}
