package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/command"
)

// served is a data directory that a server has used.
func served(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := serve(t, "--data", dir).stop(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestDoctorAnswersByItsStatus(t *testing.T) {
	sound, damaged := served(t), served(t)
	if err := os.Chmod(filepath.Join(damaged, "credentials"), 0o644); err != nil {
		t.Fatal(err)
	}
	used := filepath.Join(t.TempDir(), "data")
	serve(t, "--data", used)
	tests := []struct {
		args   string
		status int
		stdout string // a part of it
		err    string
	}{
		{"--data " + sound, 0, "is sound", ""},
		{"--data " + damaged, 1, "DAMAGED", "damaged"},
		{"--data " + used, 2, "", "stop the server"},
		{"--data " + filepath.Join(sound, "nowhere"), 2, "", "no data"},
		{"--no-such-flag", 2, "", "unknown flag"},
		{"extra", 2, "", "extra"},
	}
	for _, test := range tests {
		stdout, _, err := run(t, append([]string{"doctor"}, strings.Fields(test.args)...)...)
		if command.Status(err) != test.status || !strings.Contains(stdout, test.stdout) {
			t.Errorf("%s: status %d, %v, printed %q", test.args, command.Status(err), err, stdout)
		}
		if test.err != "" && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want an error about %q", test.args, err, test.err)
		}
	}
}

func TestDoctorSpeaksJSON(t *testing.T) {
	stdout, stderr, err := run(t, "doctor", "--json", "--data", served(t))
	if err != nil || stderr != "" {
		t.Fatalf("%v, %q", err, stderr)
	}
	var report struct {
		Sound  bool
		Checks []struct {
			Name     string
			Counts   map[string]int
			Problems []string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatal(err)
	}
	if !report.Sound || len(report.Checks) == 0 || report.Checks[0].Name != "credentials" ||
		report.Checks[0].Counts["accounts"] != 1 {
		t.Errorf("%+v", report)
	}
}
