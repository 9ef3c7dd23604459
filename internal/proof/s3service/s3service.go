// Package s3service gives tests a service that speaks Amazon S3: versitygw, in the version that test/s3 names.
package s3service

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/freeport"
)

// The keys of the service.
const (
	AccessKeyID = "user"
	Secret      = "password"
)

// Start runs the service until the test ends, and returns its URL. Its buckets are the directories in buckets. If the
// service cannot be built, the test is skipped.
func Start(t testing.TB, buckets string) (endpoint string) {
	t.Helper()
	program := build(t)
	addresses, err := freeport.Take(1)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(
		t.Context(),
		program,
		"--access",
		AccessKeyID,
		"--secret",
		Secret,
		"--port",
		addresses[0],
		"posix",
		"--sidecar",
		t.TempDir(),
		buckets,
	)
	var log strings.Builder
	run.Stdout, run.Stderr = &log, &log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill()
		_ = run.Wait()
		if t.Failed() {
			t.Logf("the S3 service said:\n%s", log.String())
		}
	})
	endpoint = "http://" + addresses[0]
	eventually.Succeeds(t, func() error {
		answer, err := http.Get(endpoint)
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	})
	return endpoint
}

// build returns the program's path. The go tool keeps what it has built: it is linked once for all packages' tests.
func build(t testing.TB) (program string) {
	t.Helper()
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/sluicemq/sluice").Output()
	if err != nil {
		t.Skipf("the S3 service cannot be built without the go tool: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "tool", "-n", "versitygw")
	cmd.Dir = filepath.Join(strings.TrimSpace(string(root)), "test", "s3")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("the S3 service of test/s3 cannot be built: %v\n%s", err, &stderr)
	}
	return strings.TrimSpace(string(out))
}
