package command_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/command"
)

func TestHealth(t *testing.T) {
	s := serve(t, "--in-memory")
	endpoint := s.exports["AWS_ENDPOINT_URL_SQS"]
	for _, args := range [][]string{{}, {"--live"}} {
		out, _, err := run(t, append([]string{"health", "--endpoint", endpoint}, args...)...)
		if err != nil || !strings.HasPrefix(out, "ok") {
			t.Errorf("%v: %q, %v", args, out, err)
		}
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	_, _, err := run(t, "health", "--endpoint", endpoint)
	if command.Status(err) != 2 || !strings.Contains(err.Error(), endpoint) {
		t.Errorf("a stopped server: %v", err)
	}

	sick := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			http.Error(w, "the disk cannot be written: no space left", http.StatusServiceUnavailable)
			return
		}
		http.NotFound(w, r)
	}))
	defer sick.Close()
	out, _, err := run(t, "health", "--endpoint", endpoint+","+sick.URL)
	if command.Status(err) != 1 || out != "the disk cannot be written: no space left\n" {
		t.Errorf("a failing server: %q, %v", out, err)
	}
	if _, _, err := run(t, "health", "--live", "--endpoint", sick.URL); command.Status(err) != 2 ||
		!strings.Contains(err.Error(), "404") {
		t.Errorf("another program: %v", err)
	}
}
