package server

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/datadir"
)

// A start reports what it recovered after a crash, and nothing after a graceful stop.
func TestRecoveryIsLogged(t *testing.T) {
	t.Parallel()
	config := Default()
	config.Listen, config.Data = "127.0.0.1:0", filepath.Join(t.TempDir(), "data")
	run := func() string {
		var log bytes.Buffer
		config.Logger = slog.New(slog.NewTextHandler(&log, nil))
		_, stop := start(t, config)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	for _, when := range []string{"first", "again"} {
		if log := run(); strings.Contains(log, "recovered") {
			t.Errorf("%s: %s", when, log)
		}
	}
	crashed := filepath.Join(config.Data, datadir.RunningFile)
	if err := os.WriteFile(crashed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if log := run(); !strings.Contains(log, "recovered") || !strings.Contains(log, "commits=") {
		t.Errorf("after a crash: %s", log)
	}
	if log := run(); strings.Contains(log, "recovered") {
		t.Errorf("after the next stop: %s", log)
	}
}
