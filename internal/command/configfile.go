package command

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v4"

	"github.com/sluicemq/sluice/internal/tool/spelling"
)

// configFile is the flag for a YAML file with the values of flags.
const configFile = "config"

// readConfigFile reads the file that --config names on the command line or else in the environment. A command without
// that flag has none.
func readConfigFile(cmd *cobra.Command, environment settings) (settings, error) {
	f := cmd.Flags().Lookup(configFile)
	if f == nil {
		return nil, nil
	}
	path := f.Value.String()
	if !f.Changed {
		path = environment[configFile].value
	}
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", configFile, err)
	}
	found, err := parseConfig(text, path, cmd.Flags())
	return found, each(err, func(one error) error { return fmt.Errorf("--%s %s: %w", configFile, path, one) })
}

// each applies f to each of the joined errors.
func each(err error, change func(error) error) error {
	joined, several := err.(interface{ Unwrap() []error })
	if !several {
		if err == nil {
			return nil
		}
		return change(err)
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, change(one))
	}
	return errors.Join(all...)
}

// parseConfig parses a YAML mapping of flag names to values: a text, a number, a boolean, or a list of these for a
// repeatable flag. A name without a value, for example because the value is commented out, is ignored.
func parseConfig(text []byte, path string, flags *pflag.FlagSet) (settings, error) {
	var document yaml.Node
	if err := yaml.Load(text, &document); err != nil {
		if wrong := new(yaml.LoadError); errors.As(err, &wrong) {
			return nil, fmt.Errorf("line %d: %s", wrong.Mark.Line, wrong.Message)
		}
		return nil, err
	}
	found := make(settings)
	if len(document.Content) == 0 {
		return found, nil
	}
	top := document.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return found, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want lines such as log-level: warn", top.Line)
	}
	var wrong []error
	for i := 0; i < len(top.Content); i += 2 {
		wrong = append(wrong, found.read(top.Content[i], top.Content[i+1], path, flags))
	}
	return found, errors.Join(wrong...)
}

// read reads a name and its value in a file.
func (s settings) read(key, value *yaml.Node, path string, flags *pflag.FlagSet) error {
	name := key.Value
	if err := checkConfigName(name, flags); err != nil {
		return fmt.Errorf("line %d: %w", key.Line, err)
	}
	if _, twice := s[name]; twice {
		return fmt.Errorf("line %d: %s is there twice", key.Line, name)
	}
	text, err := flagText(value, flags.Lookup(name))
	if err != nil {
		return fmt.Errorf("line %d: %s: %w", value.Line, name, err)
	}
	if text != "" {
		s[name] = setting{text, fmt.Sprintf("%s in line %d of %s", name, key.Line, path)}
	}
	return nil
}

func checkConfigName(name string, flags *pflag.FlagSet) error {
	if f := flags.Lookup(name); f != nil && name != configFile && name != envFile && !oneCallOnly(name) {
		return nil
	}
	if flags.Lookup(name) != nil {
		return fmt.Errorf("%s belongs on the command line, or in the environment", name)
	}
	var known []string
	flags.VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	return fmt.Errorf("there is no flag --%s%s", name, didYouMean(prefixed("", spelling.Nearest(name, known))...))
}

// flagText returns a value in its form on the command line.
func flagText(value *yaml.Node, f *pflag.Flag) (string, error) {
	switch {
	case value.Kind == yaml.ScalarNode && value.Tag == "!!null":
		return "", nil
	case value.Kind == yaml.ScalarNode:
		return value.Value, nil
	case value.Kind == yaml.SequenceNode && !takesSeveral(f):
		return "", errors.New("want one value, not a list")
	case value.Kind != yaml.SequenceNode:
		return "", errors.New("want a value")
	}
	var texts []string
	for _, one := range value.Content {
		if one.Kind != yaml.ScalarNode || one.Tag == "!!null" || strings.ContainsAny(one.Value, ",\"\n") {
			return "", errors.New("want a list of values without commas, quotes and line breaks")
		}
		texts = append(texts, one.Value)
	}
	return strings.Join(texts, ","), nil
}

func takesSeveral(f *pflag.Flag) bool { _, several := f.Value.(pflag.SliceValue); return several }
