package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The commands create, show, change and remove trails.
func TestTrailCommands(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "audit"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := serve(t, "--in-memory", "--trail-dir", dir)
	for name, value := range s.exports {
		t.Setenv(name, value)
	}
	must := func(want string, args ...string) {
		t.Helper()
		out, _, err := run(t, append([]string{"trail"}, args...)...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%v: %s, %v, want %s", args, out, err, want)
		}
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if _, _, err := run(t, append([]string{"trail"}, args...)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", args, err, want)
		}
	}
	const arn = "arn:aws:cloudtrail:us-east-1:000000000000:trail/all"
	must(arn, "create", "all", "--bucket", "audit", "--prefix", "logs", "--all-regions", "--digests", "--tag",
		"team=red")
	must("arn", "create", "more", "--bucket", "audit", "--off")
	refused("TrailAlreadyExistsException", "create", "all", "--bucket", "audit")
	refused("S3BucketDoesNotExistException", "create", "other", "--bucket", "nowhere")
	must("all    all        audit/logs  on", "ls")
	must("more   us-east-1  audit       off", "ls")
	must("digests              every hour", "show", "all")
	must(arn, "stop", "all")
	must("off", "show", "all")
	must(arn, "start", "all")
	must(`"ReadWriteType":"All"`, "selectors", "all")
	refused("there is no trail nowhere", "show", "nowhere")
	refused("--dir or --s3-endpoint", "validate", "all")
	must("digests: 0, files: 0, problems: 0", "validate", "all", "--dir", dir)
	out, _, err := run(t, "trail", "ls", "--json")
	var list struct{ Trails []struct{ Name string } }
	if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list.Trails) != 2 {
		t.Errorf("ls --json: %s, %v", out, err)
	}
	must(arn, "rm", "all")
	refused("there is no trail all", "rm", "all")
}
