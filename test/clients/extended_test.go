package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/s3service"
	"github.com/sluicemq/sluice/test/program"
)

// Amazon's extended client for Python extends and deletes every message that it has offloaded to S3.
func TestExtendedClient(t *testing.T) {
	program.Long(t)
	t.Parallel()
	dir := filepath.Join(root, "test", "clients", "extended")
	command := virtualEnvironment(".venv", "scenario.py")(t, dir)
	buckets := t.TempDir()
	if err := os.Mkdir(filepath.Join(buckets, "bodies"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(environment(start(t)),
		"S3_ENDPOINT_URL="+s3service.Start(t, buckets), "S3_ACCESS_KEY_ID="+s3service.AccessKeyID,
		"S3_SECRET_ACCESS_KEY="+s3service.Secret)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
