package admin_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// The log level changes while the server runs. An invalid level changes nothing.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	config := servertest.InMemory()
	config.LogLevel = new(slog.LevelVar)
	s, _ := servertest.Start(t, config)
	root := apitest.RootActor(s.Endpoint(), s.Root())
	for _, step := range []struct {
		op, input string
		status    int
		words     string
		level     slog.Level
	}{
		{"GetLogLevel", `{}`, http.StatusOK, `{"Level":"info"}`, slog.LevelInfo},
		{"SetLogLevel", `{"Level":"debug"}`, http.StatusOK, `{"Level":"debug","Previous":"info"}`, slog.LevelDebug},
		{"SetLogLevel", `{"Level":"loud"}`, http.StatusBadRequest,
			`Level is \"loud\"; it must be debug, info, warn or error.`, slog.LevelDebug},
		{"SetLogLevel", `{}`, http.StatusBadRequest, `it must be debug`, slog.LevelDebug},
		{"SetLogLevel", `{"Level":"` + strings.Repeat("x", 17) + `"}`, http.StatusBadRequest, `level`, slog.LevelDebug},
		{"GetLogLevel", `{}`, http.StatusOK, `{"Level":"debug"}`, slog.LevelDebug},
		{"SetLogLevel", `{"Level":"error"}`, http.StatusOK, `"Previous":"debug"`, slog.LevelError},
	} {
		status, body := call(t, s, root, step.op, step.input)
		if status != step.status || !strings.Contains(body, step.words) || config.LogLevel.Level() != step.level {
			t.Errorf("%s %s: %d %s, level %v", step.op, step.input, status, body, config.LogLevel.Level())
		}
	}
	fixed, _ := servertest.Start(t, servertest.InMemory())
	status, body := call(t, fixed, apitest.RootActor(fixed.Endpoint(), fixed.Root()), "SetLogLevel",
		`{"Level":"debug"}`)
	if status != http.StatusConflict || !strings.Contains(body, "does not let the level") {
		t.Errorf("a log whose level is fixed: %d %s", status, body)
	}
}
