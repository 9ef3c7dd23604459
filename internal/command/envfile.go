package command

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// envFile is the flag for a file with variables.
const envFile = "env-file"

// variables returns the variables of this program: those in the environment, and otherwise those in the file of --env-
// file. An empty variable counts as unset.
func variables(cmd *cobra.Command, environ []string) (map[string]string, error) {
	values := make(map[string]string)
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && value != "" && strings.HasPrefix(name, variablePrefix) {
			values[name] = value
		}
	}
	file := values[environmentName(envFile)]
	if f := cmd.Flags().Lookup(envFile); f == nil {
		return values, nil
	} else if f.Changed {
		file = f.Value.String()
	}
	if file == "" {
		return values, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return values, fmt.Errorf("--%s: %w", envFile, err)
	}
	more, err := parseVariables(string(text))
	maps.Copy(more, values)
	return more, each(err, func(one error) error { return fmt.Errorf("--%s %s: %w", envFile, file, one) })
}

// parseVariables parses lines NAME=value. It removes quotes around a value, and ignores comments, which are lines that
// begin with #.
func parseVariables(text string) (map[string]string, error) {
	values := make(map[string]string)
	var wrong []error
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !strings.HasPrefix(name, variablePrefix) {
			wrong = append(wrong, fmt.Errorf("line %d: want a line such as %s=warn", n, environmentName("log-level")))
			continue
		}
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		if value != "" {
			values[name] = value
		}
	}
	return values, errors.Join(wrong...)
}
