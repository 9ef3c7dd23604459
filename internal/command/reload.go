package command

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/server"
)

// envFile is the flag that names a file with variables.
const envFile = "env-file"

// logFlags say what is logged. They can be changed while the server runs.
type logFlags struct {
	level    string
	requests bool
}

func (l *logFlags) add(f *pflag.FlagSet) {
	addChoice(f, &l.level, "log-level", "", "debug", "info", "warn", "error")
	f.BoolVar(&l.requests, "log-requests", l.requests, "log every request")
}

// slogLevel returns the level for the logger.
func (l *logFlags) slogLevel() (level slog.Level) {
	must(level.UnmarshalText([]byte(l.level))) // one of those that --log-level takes
	return level
}

// readAgain returns what the flags would be if the command were called now: those on the command line as they are, others
// from the environment and its file.
func (l *logFlags) readAgain(cmd *cobra.Command) (logFlags, error) {
	now := logFlags{level: "info"}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	now.add(flags)
	values, err := variables(cmd, os.Environ())
	if err != nil {
		return now, err
	}
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if given := cmd.Flags().Lookup(f.Name); failed == nil && given.Changed && given.Annotations[fromVariable] == nil {
			failed = flags.Set(f.Name, given.Value.String())
		}
	})
	if failed == nil {
		failed = setFromEnvironment(flags, values)
	}
	return now, failed
}

// reloadOnHangup has the server read its certificate, its log level and whether it logs requests again whenever the process
// gets SIGHUP, which never ends it. It returns a function that stops that.
func reloadOnHangup(cmd *cobra.Command, flags *logFlags, level *slog.LevelVar, log *slog.Logger) (serving func(*server.Server), stop func()) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	over := make(chan struct{})
	serving = func(s *server.Server) {
		go func() {
			for {
				select {
				case <-hangups:
					reload(cmd, flags, level, log, s)
				case <-over:
					return
				}
			}
		}()
	}
	return serving, func() {
		signal.Stop(hangups)
		close(over)
	}
}

func reload(cmd *cobra.Command, flags *logFlags, level *slog.LevelVar, log *slog.Logger, s *server.Server) {
	if now, err := flags.readAgain(cmd); err != nil {
		log.Error("--log-level and --log-requests stay as they are: they cannot be read again", "error", err)
	} else {
		*flags = now
	}
	level.Set(flags.slogLevel())
	log.Info("reading what can change while the server runs, on SIGHUP", "log_level", flags.level, "log_requests", flags.requests)
	s.Reload(flags.requests)
}

// variables returns the variables of this program: those in the environment and, where it has none of the name, those in
// the file of --env-file. An empty one is as good as none.
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
		return nil, fmt.Errorf("--%s: %w", envFile, err)
	}
	more, err := parseVariables(string(text))
	if err != nil {
		return nil, fmt.Errorf("--%s %s: %w", envFile, file, err)
	}
	maps.Copy(more, values)
	return more, nil
}

// parseVariables reads lines NAME=value. Quotes around a value are left out, and so are comments, which are lines that begin
// with #.
func parseVariables(text string) (map[string]string, error) {
	values := make(map[string]string)
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
			return nil, fmt.Errorf("line %d: want a line such as %s=warn", n, environmentName("log-level"))
		}
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		if value != "" {
			values[name] = value
		}
	}
	return values, nil
}
