package terraform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
	client   *upgrade.Client
	env      []string
}

// quickly makes changes concurrent: all resources wait at the same time, and none is read that the previous plan has
// read.
var quickly = []string{"-auto-approve", "-parallelism=50", "-refresh=false"}

// The declared resources can be imported, created, changed and removed, and after each step nothing is left to do.
// Terraform plans to recreate resources that were deleted outside it, and can remove the rest.
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
	w.deleteGone()
	w.planMakesGone("-var", "changed=true")
	w.terraform("destroy", "-auto-approve", "-parallelism=50", "-var", "changed=true") // reads existing ones first
	w.nothingIsLeft()
}

// newWorkspace starts a server with a bucket for trails, and the provider.
func newWorkspace(t *testing.T, provider string) *workspace {
	t.Helper()
	buckets, data := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(buckets, "trails"), 0o700); err != nil {
		t.Fatal(err)
	}
	server, err := upgrade.Start(context.WithoutCancel(t.Context()), program.Build(t), data, filepath.Join(data, "log"),
		"SLUICE_TRAIL_DIR="+buckets)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Kill(); err != nil {
			t.Error(err)
		}
	})
	w := &workspace{T: t, dir: t.TempDir(), endpoint: server.Endpoint}
	w.client = server.Client()
	w.makeOlder()
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

// run runs a command, and returns its output.
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

// planIsEmpty checks that nothing is left to do.
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

// older are the queues that exist before Terraform runs: two that it only reads, and one that it imports.
var older = []string{"orders-failed", "orders-lost", "adopted"}

// makeOlder creates the resources that exist before Terraform runs.
func (w *workspace) makeOlder() {
	w.Helper()
	for _, name := range older {
		w.does(w.client.SQS(w.Context(), "CreateQueue", map[string]string{"QueueName": name}, nil))
	}
	w.does(w.client.Query(w.Context(), "sns", "CreateTopic", nil, "Name", "adopted"))
	w.does(w.client.Query(w.Context(), "iam", "CreateUser", nil, "UserName", "adopted"))
	w.does(w.client.CloudWatch(w.Context(), "PutMetricAlarm", map[string]any{
		"AlarmName": "adopted", "Namespace": "shop", "MetricName": "Orders", "Statistic": "Sum", "Threshold": 1,
		"ComparisonOperator": "LessThanThreshold", "Period": 60, "EvaluationPeriods": 1,
	}, nil))
}

func (w *workspace) does(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// gone are the resources that deleteGone deletes.
var gone = []string{
	"aws_sns_topic.gone", "aws_iam_user.gone", "aws_iam_group.gone", "aws_iam_group_policy.gone",
	"aws_cloudwatch_dashboard.gone", "aws_cloudwatch_metric_alarm.gone",
}

// deleteGone deletes resources that Terraform has created.
func (w *workspace) deleteGone() {
	w.Helper()
	for _, call := range [][]string{
		{"sns", "DeleteTopic", "TopicArn", "arn:aws:sns:us-east-1:000000000000:gone"},
		{"iam", "DeleteUser", "UserName", "gone"},
		{"iam", "DeleteGroupPolicy", "GroupName", "gone", "PolicyName", "gone"},
		{"iam", "DeleteGroup", "GroupName", "gone"},
	} {
		w.does(w.client.Query(w.Context(), call[0], call[1], nil, call[2:]...))
	}
	names := []string{"gone"}
	w.does(w.client.CloudWatch(w.Context(), "DeleteDashboards", map[string]any{"DashboardNames": names}, nil))
	w.does(w.client.CloudWatch(w.Context(), "DeleteAlarms", map[string]any{"AlarmNames": names}, nil))
}

// planMakesGone checks that a plan recreates the deleted resources, and nothing else.
func (w *workspace) planMakesGone(args ...string) {
	w.Helper()
	out, err := w.run("plan", append(args, "-parallelism=50")...)
	w.does(err)
	for _, name := range gone {
		if !strings.Contains(out, "# "+name+" will be created") {
			w.Errorf("%s was deleted, and is not planned", name)
		}
	}
	if want := fmt.Sprintf("Plan: %d to add, 0 to change, 0 to destroy.", len(gone)); !strings.Contains(out, want) {
		w.Errorf("want %q in the plan:\n%s", want, out)
	}
}

// nothingIsLeft checks that the server has removed everything that Terraform has destroyed.
func (w *workspace) nothingIsLeft() {
	w.Helper()
	var queues struct{ QueueUrls []string }
	w.does(w.client.SQS(w.Context(), "ListQueues", map[string]string{}, &queues))
	if len(queues.QueueUrls) != 2 { // which Terraform only reads
		w.Errorf("queues: %v", queues.QueueUrls)
	}
	var topics struct {
		TopicArns []string `xml:"ListTopicsResult>Topics>member>TopicArn"`
	}
	w.does(w.client.Query(w.Context(), "sns", "ListTopics", &topics))
	var users struct {
		Names []string `xml:"ListUsersResult>Users>member>UserName"`
	}
	w.does(w.client.Query(w.Context(), "iam", "ListUsers", &users))
	var roles struct {
		Names []string `xml:"ListRolesResult>Roles>member>RoleName"`
	}
	w.does(w.client.Query(w.Context(), "iam", "ListRoles", &roles))
	if left := slices.Concat(topics.TopicArns, users.Names, roles.Names); len(left) > 0 {
		w.Errorf("left: %v", left)
	}
}
