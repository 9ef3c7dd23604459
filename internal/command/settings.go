package command

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// setBy marks a flag that is not on the command line with its source: a variable, or a line of the configuration file.
const setBy = "sluice:set-by"

// setting is a value of a flag that is not on the command line.
type setting struct {
	value string
	by    string // the variable, or the line of the configuration file
}

// settings are the settings of a command, by the flag's name.
type settings map[string]setting

// readSettings reads the values of a command's flags from the environment; then, for the others, from the file of
// --env-file; and then from the file of --config. An empty value counts as unset. A name without a flag is refused:
// otherwise a misspelt one would never be noticed. The valid settings are returned even with an error.
func readSettings(cmd *cobra.Command, environ []string) (settings, error) {
	values, wrong := variables(cmd, environ)
	wrong = errors.Join(wrong, refuseUnknown(cmd.Root(), values))
	found := make(settings)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if value, ok := values[environmentName(f.Name)]; ok && !oneCallOnly(f.Name) {
			found[f.Name] = setting{value, environmentName(f.Name)}
		}
	})
	file, err := readConfigFile(cmd, found)
	for name, s := range file {
		if _, ok := found[name]; !ok {
			found[name] = s
		}
	}
	return found, errors.Join(wrong, err)
}

// applySettings sets the flags of a command that are not on its command line. It sets what it can, and reports all
// mistakes.
func applySettings(cmd *cobra.Command) error {
	found, err := readSettings(cmd, os.Environ())
	return errors.Join(err, found.apply(cmd.Flags()))
}

// apply sets those of the flags that are not given on the command line.
func (s settings) apply(flags *pflag.FlagSet) error {
	var failed []error
	flags.VisitAll(func(f *pflag.Flag) {
		to, ok := s[f.Name]
		if !ok || f.Changed {
			return
		}
		if err := flags.Set(f.Name, to.value); err != nil {
			var invalid *pflag.InvalidValueError
			if errors.As(err, &invalid) {
				err = invalid.Unwrap()
			}
			failed = append(failed, wrongValue(to.by, f, to.value, err))
			return
		}
		if f.Annotations == nil {
			f.Annotations = make(map[string][]string)
		}
		f.Annotations[setBy] = []string{to.by}
	})
	return errors.Join(failed...)
}

// oneCallOnly reports whether a flag concerns a single call of a command, and belongs on its command line.
func oneCallOnly(flag string) bool {
	return slices.Contains([]string{"help", "version", "check"}, flag)
}

// nameSources adds to an error about flags the sources of those that are not on the command line, so that the reader
// knows where to look.
func nameSources(cmd *cobra.Command, err error) error {
	var set []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if name := f.Annotations[setBy]; name != nil && mentions(err.Error(), "--"+f.Name) {
			set = append(set, fmt.Sprintf("--%s is set by %s", f.Name, name[0]))
		}
	})
	if len(set) == 0 {
		return err
	}
	return fmt.Errorf("%w (%s)", err, strings.Join(set, ", "))
}

// mentions reports whether a text contains a flag, and not only one with the same beginning.
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
