package command_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/proof/transit"
)

// A file moves from unsealed keys to a key service, to another one and back, with the same keys. A call that the
// service refuses changes nothing.
func TestKeyReseal(t *testing.T) {
	first := transit.Start(t)
	other := transit.StartAt(t)
	const url = "hashivault://sluice"
	otherURL := url + "?endpoint=" + other.URL
	file := filepath.Join(t.TempDir(), "keys")
	do := func(says string, args ...string) {
		t.Helper()
		if out, _, err := run(t, append([]string{"key"}, args...)...); err != nil || !strings.Contains(out, says) {
			t.Errorf("%v: %v, printed %q", args, err, out)
		}
	}
	refused := func(says string, args ...string) {
		t.Helper()
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := run(t, append([]string{"key"}, args...)...); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", args, err)
		}
		if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
			t.Errorf("%v: the file was changed: %v", args, err)
		}
	}
	do("encrypts", "create", file)
	made, err := keyring.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	refused("leave --from out", "reseal", file, "--from", url)
	refused("want awskms://", "reseal", file, "--encryption-key-url", "vault://x")
	first.Refuse(http.StatusForbidden, "permission denied")
	refused("permission denied", "reseal", file, "--encryption-key-url", url)
	first.Refuse(0, "")
	do("sealed by a key service", "reseal", file, "--encryption-key-url", url)
	refused("sealed only some", "rotate", file)
	refused("name it by --from", "reseal", file, "--encryption-key-url", url)
	do("encrypts", "rotate", file, "--encryption-key-url", url)
	calls := first.Calls()
	do("sealed by a key service", "ls", file)
	if first.Calls() != calls {
		t.Error("ls calls the key service")
	}
	do("sealed by a key service", "reseal", file, "--from", url, "--encryption-key-url", otherURL)
	first.Refuse(http.StatusForbidden, "permission denied")
	do("sealed by a key service", "reseal", file, "--from", otherURL, "--encryption-key-url", otherURL)
	do("encrypts", "reseal", file, "--from", otherURL)
	again, err := keyring.Load(file)
	if err != nil || again.Sealed() || len(again.Keys()) != 2 || again.Keys()[1].ID() != made.First().ID() {
		t.Error(again, err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	do("sealed by a key service", "create", file, "--encryption-key-url", otherURL)
}

// A check of a server's settings finds that its key file cannot belong to its key service, without calling the service.
func TestCheckReadsTheKeyFile(t *testing.T) {
	service := transit.Start(t)
	const url = "hashivault://sluice"
	dir := t.TempDir()
	clear, sealed := filepath.Join(dir, "clear"), filepath.Join(dir, "sealed")
	for _, args := range [][]string{{clear}, {sealed, "--encryption-key-url", url}} {
		if _, _, err := run(t, append([]string{"key", "create"}, args...)...); err != nil {
			t.Fatal(err)
		}
	}
	calls := service.Calls()
	missing := filepath.Join(dir, "missing")
	cluster := []string{"--node", "a", "--cluster", "a=127.0.0.1:6222", "--encryption-key-file", missing}
	for _, c := range []struct {
		says  string // empty: nothing is wrong
		flags []string
	}{
		{"", []string{"--encryption-key-file", clear}},
		{"", []string{"--encryption-key-file", sealed, "--encryption-key-url", url}},
		{"", []string{"--encryption-key-file", missing}},
		{"give its --encryption-key-url", []string{"--encryption-key-file", sealed}},
		{"run sluice key reseal", []string{"--encryption-key-file", clear, "--encryption-key-url", url}},
		{"create it with sluice key create", cluster},
		{"is a directory", []string{"--encryption-key-file", dir}},
	} {
		_, _, err := run(t, append([]string{"serve", "--check", "--data", filepath.Join(dir, "data")}, c.flags...)...)
		if (err != nil) != (c.says != "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.flags, err)
		}
	}
	if service.Calls() != calls {
		t.Error("the key service was called")
	}
}
