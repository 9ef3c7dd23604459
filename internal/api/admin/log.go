package admin

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// levels are the levels of the log, the most verbose first.
var levels = []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

func levelName(l slog.Level) string { return strings.ToLower(l.String()) }

type logLevelOutput struct{ Level string }

func (s *Service) getLogLevel(_ context.Context, c *protocol.Call, _ *service.Empty) (*logLevelOutput, error) {
	if err := s.allowLog(c); err != nil {
		return nil, err
	}
	return &logLevelOutput{levelName(s.logLevel.Level())}, nil
}

type setLogLevelInput struct {
	Level string `max:"16"`
}

type setLogLevelOutput struct{ Level, Previous string }

// setLogLevel sets the log level of the server that gets the request, until it restarts or reloads its settings.
func (s *Service) setLogLevel(_ context.Context, c *protocol.Call, in *setLogLevelInput) (*setLogLevelOutput, error) {
	c.Notes.Set("level", in.Level)
	if err := s.allowLog(c); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(levels, func(l slog.Level) bool { return levelName(l) == in.Level })
	if i < 0 {
		return nil, protocol.ValidationError("Level is %q; it must be debug, info, warn or error.", in.Level)
	}
	out := &setLogLevelOutput{Level: in.Level, Previous: levelName(s.logLevel.Level())}
	s.logLevel.Set(levels[i])
	return out, nil
}

// allowLog checks that the caller may call the operation, and that there is a log whose level can be changed.
func (s *Service) allowLog(c *protocol.Call) error {
	if err := s.allow(c); err != nil {
		return err
	}
	if s.logLevel == nil {
		return refusal(
			"LogLevelFixed",
			http.StatusConflict,
			"The program that runs this server does not let the level of its log be changed.",
		)
	}
	return nil
}
