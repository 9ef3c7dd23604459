package command

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sluicemq/sluice/internal/server"
)

// logFlags select what is logged. They can be changed while the server runs.
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

// readAgain returns the flags as they would be if the command were called now: those on the command line unchanged, the
// others from the environment and the files.
func (l *logFlags) readAgain(cmd *cobra.Command) (logFlags, error) {
	now := logFlags{level: "info"}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	now.add(flags)
	elsewhere, err := readSettings(cmd, os.Environ())
	if err != nil {
		return now, err
	}
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if given := cmd.Flags().Lookup(f.Name); failed == nil && given.Changed && given.Annotations[setBy] == nil {
			failed = flags.Set(f.Name, given.Value.String())
		}
	})
	if failed == nil {
		failed = elsewhere.apply(flags)
	}
	return now, failed
}

// reloadOnHangup makes the server read its certificate, its log level and its request logging again on each SIGHUP,
// which never ends it. It returns a function that undoes this.
func reloadOnHangup(
	cmd *cobra.Command,
	flags *logFlags,
	level *slog.LevelVar,
	log *slog.Logger,
) (serving func(*server.Server), stop func()) {
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
	tellReloading(log)
	defer tellSupervisor(log, stateReady)
	if now, err := flags.readAgain(cmd); err != nil {
		log.Error("--log-level and --log-requests stay unchanged: they cannot be read again", "error", err)
	} else {
		*flags = now
	}
	level.Set(flags.slogLevel())
	log.Info(
		"reading what can change while the server runs, on SIGHUP", "log_level", flags.level, "log_requests",
		flags.requests,
	)
	s.Reload(flags.requests)
}
