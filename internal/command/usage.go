package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/tool/spelling"
)

// usageError is a mistake in the call of a command.
type usageError struct {
	command string // whose help explains the call; empty: the error suffices
	error
}

func (e usageError) Error() string {
	if e.command == "" {
		return e.error.Error()
	}
	return fmt.Sprintf("%v; see %s --help", e.error, e.command)
}

func (e usageError) Unwrap() error { return e.error }

// usage marks an error as a mistake in the call of a command. It leaves nil unchanged.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{error: err}
}

// verdict is a negative answer of a command, which has printed the reason already. It only sets the exit status.
type verdict struct{ error }

func newVerdict(text string) error { return verdict{errors.New(text)} }

// inconclusive is the error of a command that could not answer its question.
type inconclusive struct{ error }

func (e inconclusive) Unwrap() error { return e.error }

// asked runs a command that answers a question: every error except a verdict is inconclusive.
func asked(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		var no verdict
		if err == nil || errors.As(err, &no) {
			return err
		}
		return inconclusive{err}
	}
}

// Status returns the exit status for the result of Run.
func Status(err error) int {
	var unanswered inconclusive
	var wrong usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &unanswered), errors.As(err, &wrong):
		return 2
	}
	return 1
}

// explainFlagError explains a mistake in a flag, and the correct form.
func explainFlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return fmt.Errorf(
			"unknown flag --%s%s",
			unknown.GetSpecifiedName(),
			didYouMean(prefixed("--", spelling.Nearest(unknown.GetSpecifiedName(), names))...),
		)
	case errors.As(err, &value):
		return wrongValue("--"+value.GetFlag().Name, value.GetFlag(), value.GetValue(), value.Unwrap())
	case errors.As(err, &missing):
		return fmt.Errorf(
			"--%s needs a value: want %s",
			missing.GetFlag().Name,
			wanted(missing.GetFlag(), errors.New(missing.GetFlag().Usage)),
		)
	}
	return err
}

// wrongValue is the error for a value that a flag does not accept. name is the source of the value: the flag, or its
// variable.
func wrongValue(name string, f *pflag.Flag, value string, cause error) error {
	return fmt.Errorf("%s %q: want %s", name, value, wanted(f, cause))
}

// wanted describes the values that a flag accepts. The types of this package put it in their errors, as "want ...";
// those of pflag describe its parsers.
func wanted(f *pflag.Flag, cause error) string {
	if want, ok := strings.CutPrefix(cause.Error(), "want "); ok {
		return want
	}
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int", "int32", "int64":
		return "a whole number"
	case "uint", "uint16", "uint64":
		return "a whole number, not below 0"
	case "duration":
		return "a duration, such as 10s or 1m30s"
	}
	return cause.Error()
}

// didYouMean returns a question with similar names, or nothing if there are none.
func didYouMean(names ...string) string {
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

func prefixed(prefix, name string) []string {
	if name == "" {
		return nil
	}
	return []string{prefix + name}
}
