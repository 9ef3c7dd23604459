package command

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/tool/spelling"
)

const variablePrefix = "SLUICE_"

// environmentName returns the variable of a flag: SLUICE_LOG_FORMAT for --log-format.
func environmentName(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// foreign lists variables that belong to no flag: those of tests and of torture, and those that Kubernetes and Docker
// set in a container for a service named sluice.
var foreign = regexp.MustCompile(
	`^SLUICE_(TEST_.*|CLOCK_FAULTS|LOG_FAULTS|(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?))$`,
)

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
	slices.Sort(unknown)
	var wrong []error
	for _, name := range unknown {
		wrong = append(
			wrong,
			fmt.Errorf(
				"the environment has %s, and there is no such flag%s",
				name,
				didYouMean(prefixed("", spelling.Nearest(name, known))...),
			),
		)
	}
	return errors.Join(wrong...)
}

// eachCommand calls f with a command and all commands below it.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, child := range cmd.Commands() {
		eachCommand(child, f)
	}
}
