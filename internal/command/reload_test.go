//go:build unix

package command_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// logged waits until the log of a server contains these words this many times.
func (s *serving) logged(t *testing.T, words string, times int) {
	t.Helper()
	eventually.Succeeds(t, func() error {
		if log := s.log.String(); strings.Count(log, words) < times {
			return fmt.Errorf("the log does not contain %q %d times:\n%s", words, times, log)
		}
		return nil
	})
}

// SIGHUP does not end the server, which reloads the log level and whether to log requests.
func TestHangup(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "env")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("# of this server\nSLUICE_LOG_REQUESTS=false\n")
	s := serve(t, "--data", filepath.Join(dir, "data"), "--env-file", file)
	visits, hangups := 0, 0
	visit := func() {
		t.Helper()
		visits++
		r, err := http.Get(fmt.Sprint(s.exports["AWS_ENDPOINT_URL_SQS"], "/?Action=Visit", visits))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	hangup := func(text string) {
		t.Helper()
		write(text)
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		hangups++
		s.logged(t, "on SIGHUP", hangups)
		time.Sleep(10 * time.Millisecond) // the line precedes the change
	}
	visit()
	hangup("SLUICE_LOG_REQUESTS='true'\n")
	visit()
	s.logged(t, "operation=Visit2", 1)
	if strings.Contains(s.log.String(), "Visit1") || !strings.Contains(s.log.String(), "duration_ms=") {
		t.Errorf("the log is\n%s", s.log.String())
	}
	hangup("nonsense\n") // which changes nothing
	s.logged(t, "level=ERROR", 1)
	visit()
	s.logged(t, "operation=Visit3", 1)
	hangup("SLUICE_LOG_LEVEL=debug\n")
	visit()
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.log.String(), "Visit4") {
		t.Error("a request was logged against the settings")
	}
}

// The command line overrides the environment, and the environment overrides the file.
func TestEnvFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "env")
	for _, tc := range []struct{ text, variable, flag, want string }{
		{"SLUICE_REGION=eu-west-1\n", "", "", "region=eu-west-1"},
		{"SLUICE_REGION=eu-west-1\n", "eu-west-2", "", "region=eu-west-2"},
		{"SLUICE_REGION=eu-west-1\n", "eu-west-2", "--region=eu-west-3", "region=eu-west-3"},
		{"SLUICE_REGIO=eu-west-1\n", "", "", "SLUICE_REGIO, and there is no such flag"},
		{"\n\nREGION=eu-west-1\n", "", "", "line 3: want a line such as SLUICE_LOG_LEVEL=warn"},
		{"SLUICE_REGION=?\n", "", "", "--region"},
	} {
		if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("SLUICE_REGION", tc.variable)
		args := []string{"--in-memory", "--env-file", file}
		if tc.flag != "" {
			args = append(args, tc.flag)
		}
		if !strings.HasPrefix(tc.want, "region=") {
			if _, _, err := run(t, append([]string{"serve"}, args...)...); err == nil ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("%q: %v, want %s", tc.text, err, tc.want)
			}
			continue
		}
		s := serve(t, args...)
		if err := s.stop(); err != nil || !strings.Contains(s.log.String(), tc.want) {
			t.Errorf("%+v: %v\n%s", tc, err, s.log.String())
		}
	}
}
