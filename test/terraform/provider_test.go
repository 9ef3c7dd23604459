package terraform

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/test/upgrade"
)

// pluginsVariable names a directory with the provider, in the layout of Terraform's mirrors.
const pluginsVariable = "SLUICE_TEST_TERRAFORM_PLUGINS"

// mirrors are further patterns for the provider: the places where Terraform looks, and below /opt.
var mirrors = []string{
	"/usr/local/share/terraform/plugins", "/usr/share/terraform/plugins", "$HOME/.terraform.d/plugins",
	"$HOME/.local/share/terraform/plugins",
	"/opt/*",
}

// findProvider returns the newest AWS provider on this machine, or skips the test.
func findProvider(t *testing.T) string {
	t.Helper()
	for _, mirror := range append([]string{os.Getenv(pluginsVariable)}, mirrors...) {
		const inMirror = "registry.terraform.io/hashicorp/aws/*/*/terraform-provider-aws_v*"
		found, err := filepath.Glob(filepath.Join(os.ExpandEnv(mirror), inMirror))
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 {
			return slices.Max(found)
		}
	}
	t.Skipf("Terraform's AWS provider is not installed: put it into a mirror, and name that in %s", pluginsVariable)
	return ""
}

// startProvider runs the provider, which all commands share because its start takes seconds. It returns the variable
// that tells Terraform where it is.
func startProvider(t *testing.T, binary string) (reattach string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "-debug")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "AWS_EC2_METADATA_DISABLED=true",
		"AWS_ACCESS_KEY_ID=" + upgrade.RootID, "AWS_SECRET_ACCESS_KEY=" + upgrade.RootSecret,
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.WaitDelay = time.Minute
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // which reports the kill
	})
	const variable = "TF_REATTACH_PROVIDERS="
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), variable); ok {
			return variable + strings.Trim(value, "'")
		}
	}
	t.Fatalf("the provider has not printed its address: %v", lines.Err())
	return ""
}
