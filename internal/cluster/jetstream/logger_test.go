package jetstream

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// A node with the wrong certificate retries many times a second, each time on a new connection.
func TestErrorsAreSaidOnce(t *testing.T) {
	var out bytes.Buffer
	l := newLogger(slog.New(slog.NewTextHandler(&out, nil)))
	for _, connection := range []string{"10.0.0.1:6222 - rid:7", "10.0.0.1:39280 - rid:8", "[::1]:6222 - rid:9"} {
		l.Errorf(connection+" - TLS route handshake error: %v", "bad certificate")
		l.Errorf(connection+" - Error flushing: %v", "broken pipe")
		l.Errorf("Error trying to connect to route (attempt %d): %v", 1, "connection refused")
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 3 {
		t.Errorf("%d lines:\n%s", len(lines), out.String())
	}
}
