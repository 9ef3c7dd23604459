package terraform

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/test/program"
	"github.com/sluicemq/sluice/test/upgrade"
)

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }

// workspace is a directory in which Terraform works.
type workspace struct {
	*testing.T
	dir      string
	endpoint string
	env      []string
}

// quickly has changes made at once: all resources wait at the same time, and none is read that the plan before has
// read.
var quickly = []string{"-auto-approve", "-parallelism=50", "-refresh=false"}

// The declared resources can be made, changed and removed, and after each step there is nothing left to do.
func TestTerraform(t *testing.T) {
	program.Long(t)
	if _, err := exec.LookPath("terraform"); err != nil {
		t.Skipf("Terraform is not installed: %v", err)
	}
	provider := findProvider(t)
	w := newWorkspace(t, provider)
	w.terraform("init")
	for _, changed := range []string{"changed=false", "changed=true"} {
		w.terraform("apply", slices.Concat(quickly, []string{"-var", changed})...)
		w.planIsEmpty("-var", changed)
	}
	w.terraform("destroy", slices.Concat(quickly, []string{"-var", "changed=true"})...)
	w.nothingIsLeft()
}

// newWorkspace starts a server with a bucket for trails, and the provider.
func newWorkspace(t *testing.T, provider string) *workspace {
	t.Helper()
	buckets, data := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(buckets, "trails"), 0o700); err != nil {
		t.Fatal(err)
	}
	server, err := upgrade.Start(context.WithoutCancel(t.Context()), program.Build(t), data, filepath.Join(data, "log"), "SLUICE_TRAIL_DIR="+buckets)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Kill(); err != nil {
			t.Error(err)
		}
	})
	w := &workspace{T: t, dir: t.TempDir(), endpoint: server.Endpoint}
	if err := server.Client().SQS(t.Context(), "CreateQueue", map[string]string{"QueueName": deadLetters}, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(w.dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(t.TempDir(), "terraformrc")
	if err := os.WriteFile(settings, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TF_CLI_CONFIG_FILE=" + settings, "CHECKPOINT_DISABLE=1",
		startProvider(t, provider),
	}
	return w
}

// run runs a command, and returns what it prints.
func (w *workspace) run(command string, args ...string) (string, error) {
	w.Helper()
	args = append([]string{command, "-no-color", "-input=false"}, args...)
	if command != "init" {
		args = append(args, "-var", "endpoint="+w.endpoint)
	}
	cmd := exec.CommandContext(w.Context(), "terraform", args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// terraform runs a command that must succeed.
func (w *workspace) terraform(command string, args ...string) {
	w.Helper()
	if out, err := w.run(command, args...); err != nil {
		w.Fatalf("terraform %s %q: %v\n%s", command, args, err, out)
	}
}

// planIsEmpty makes sure that there is nothing left to do.
func (w *workspace) planIsEmpty(args ...string) {
	w.Helper()
	out, err := w.run("plan", append(args, "-detailed-exitcode", "-parallelism=50")...)
	const differs = 2
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == differs {
		w.Fatalf("after an apply with %q there is something left to do:\n%s", args, out)
	} else if err != nil {
		w.Fatalf("terraform plan %q: %v\n%s", args, err, out)
	}
}

// deadLetters is the name of a queue that is there before Terraform works.
const deadLetters = "orders-failed"

// nothingIsLeft makes sure that the server has removed what Terraform has destroyed.
func (w *workspace) nothingIsLeft() {
	w.Helper()
	c := &upgrade.Client{Endpoint: w.endpoint, ID: upgrade.RootID, Secret: upgrade.RootSecret}
	var queues struct{ QueueUrls []string }
	if err := c.SQS(w.Context(), "ListQueues", map[string]string{}, &queues); err != nil || len(queues.QueueUrls) != 1 {
		w.Errorf("queues: %v %v", queues.QueueUrls, err)
	}
	var topics struct {
		TopicArns []string `xml:"ListTopicsResult>Topics>member>TopicArn"`
	}
	if err := c.Query(w.Context(), "sns", "ListTopics", &topics); err != nil || len(topics.TopicArns) > 0 {
		w.Errorf("topics: %v %v", topics.TopicArns, err)
	}
}
