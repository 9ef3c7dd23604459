package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/observe/spans"
	"github.com/sluicemq/sluice/internal/server"
)

// serveCommand is the command and what its flags say.
type serveCommand struct {
	config    server.Config
	member    clusterFlags
	logFormat string
	logged    logFlags
	check     bool
	applying  applyAtStart
}

func newServe() *cobra.Command {
	s := &serveCommand{config: server.Default(), logFormat: "text", logged: logFlags{level: "info"}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server.

Without flags it listens on this machine only, stores its data in ./sluice-data, creates
root access keys at its first start, and prints lines for a shell.

Each flag can also come from the environment, --log-format as SLUICE_LOG_FORMAT, with
commas between several values: put secrets there. Else it can come from the YAML file of
--config.

If OTEL_EXPORTER_OTLP_ENDPOINT is set, spans go to that OpenTelemetry collector.`,
		Example: `  sluice serve
  sluice serve --in-memory --log-requests
  sluice serve --data /var/lib/sluice --listen 0.0.0.0:9324 --tls-cert server.crt --tls-key server.key
  sluice serve --config /etc/sluice/sluice.yaml --check
  sluice serve --node a --cluster a.example,b.example,c.example \
    --cluster-ca ca.crt --cluster-cert a.example.crt --cluster-key a.example.key`,
		Args:        noArguments,
		Annotations: map[string]string{ownEnvironment: ""},
		PreRunE:     func(cmd *cobra.Command, _ []string) error { return s.checkFlags(cmd) },
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.run(cmd) },
	}
	s.addFlags(cmd.Flags())
	must(cmd.RegisterFlagCompletionFunc("backup-to", completePlaces))
	return cmd
}

// mistakes returns all mistakes in the settings, and in the files that they name.
func (s *serveCommand) mistakes() error {
	return errors.Join(
		s.config.Validate(), s.member.mistakes(&s.config), s.applying.read(&s.config), checkFiles(&s.config),
	)
}

// checkFlags returns the mistakes in the flags and their other sources. If there are any, it also returns the mistakes
// in the valid settings.
func (s *serveCommand) checkFlags(cmd *cobra.Command) error {
	if err := errors.Join(applySettings(cmd), checkFlags(cmd)); err != nil {
		return errors.Join(err, s.mistakes())
	}
	return nil
}

// run checks the settings, or runs the server until the command's context ends.
func (s *serveCommand) run(cmd *cobra.Command) error {
	if !s.check {
		if err := takeSocket(&s.config); err != nil {
			return err
		}
	}
	if err := errors.Join(s.config.Validate(), s.member.mistakes(&s.config)); err != nil {
		return usage(s.mistakes())
	}
	level := new(slog.LevelVar)
	level.Set(s.logged.slogLevel())
	logger := newLogger(cmd.ErrOrStderr(), s.logFormat, level)
	s.config.Logger, s.config.LogLevel, s.config.LogRequests = logger, level, s.logged.requests
	s.config.Version = version()
	tracer, err := spans.Open(spans.Options{Version: version(), Node: s.member.node, Log: logger})
	if err != nil {
		return usage(err)
	}
	defer closeSpans(tracer, logger)
	s.config.Spans = tracer
	joined := func() error { return s.member.join(cmd.Context(), &s.config) }
	if s.check {
		return checkServe(cmd, &s.config, errors.Join(joined(), usage(s.applying.read(&s.config))))
	}
	if err := joined(); err != nil {
		return err
	}
	if err := usage(s.applying.read(&s.config)); err != nil {
		return err
	}
	reloading, stop := reloadOnHangup(cmd, &s.logged, level, logger)
	defer stop()
	datadir.Umask()
	running, err := server.Start(s.config)
	if errors.Is(err, errStoppedJoining) {
		logger.Info(errStoppedJoining.Error())
		return nil
	}
	if err != nil {
		return err
	}
	reloading(running)
	return s.serve(cmd, running)
}

// serve applies files, announces that the server is ready, and runs it.
func (s *serveCommand) serve(cmd *cobra.Command, running *server.Server) error {
	ctx, logger := cmd.Context(), s.config.Logger
	if err := s.applying.apply(ctx, &s.config, running); err != nil {
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		return errors.Join(err, running.Run(stopped))
	}
	announce(cmd.OutOrStdout(), logger, &s.config, running)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(server.GCPercent())
		go server.ReturnMemory(ctx, logger)
	}
	tellSupervisor(logger, stateReady)
	stopping := context.AfterFunc(ctx, func() { tellSupervisor(logger, stateStopping) })
	defer stopping()
	return running.Run(ctx)
}

// spansTimeout is how long a stopping server waits for the collector to accept the last spans.
const spansTimeout = 5 * time.Second

func closeSpans(t *spans.Tracer, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), spansTimeout)
	defer cancel()
	if err := t.Close(ctx); err != nil {
		log.Warn("the last spans could not be sent", "error", err)
	}
}

func newLogger(w io.Writer, format string, level slog.Leveler) *slog.Logger {
	o := slog.HandlerOptions{Level: level, ReplaceAttr: inMilliseconds}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, &o))
	}
	return slog.New(slog.NewTextHandler(w, &o))
}

// inMilliseconds logs every duration in the same unit, which its name includes.
func inMilliseconds(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000)
}
