package command_test

import (
	"strings"
	"testing"
)

// TestMigrate moves the resources of one server to another, twice.
func TestMigrate(t *testing.T) {
	source := serve(t, "--in-memory", "--no-cool-downs", "--root-access-key-id", "AKIAMIGRATE",
		"--root-secret-access-key", "migrate-this-please")
	target := serve(t, "--in-memory", "--no-cool-downs", "--account", "123456789012", "--root-access-key-id",
		"AKIAMIGRATE", "--root-secret-access-key", "migrate-this-please")
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIAMIGRATE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "migrate-this-please")
	t.Setenv("AWS_REGION", "us-east-1")
	from, to := source.exports["AWS_ENDPOINT_URL_SQS"], target.exports["AWS_ENDPOINT_URL_SQS"]
	f := newDeclaredFile(t)
	f.write(t, `
name: exported
queues:
  orders: {visibility-timeout: 7, dead-letters: {queue: failed, max-receives: 3}, tags: {team: sales}}
  failed: {redrive-allow: [orders]}
  a: {dead-letters: {queue: b, max-receives: 2}}
  b: {dead-letters: {queue: a, max-receives: 2}}
  pay.fifo: {content-based-deduplication: true, policy: {Statement: {Effect: Allow, Principal: {AWS: "000000000000"}, Action: 'sqs:SendMessage', Resource: 'arn:aws:sqs:us-east-1:000000000000:pay.fifo'}}}
topics:
  placed: {subscriptions: [{queue: orders, raw: true, filter: {state: [new]}}]}
`)
	must := func(args ...string) string {
		t.Helper()
		out, errs, err := run(t, args...)
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out, errs)
		}
		return out
	}
	must("apply", "--endpoint", from, f.path)
	must("queue", "send", "--endpoint", from, "orders", "hello")
	must("queue", "send", "--endpoint", from, "pay.fifo", "1", "--group", "g")

	dry := must("migrate", "--endpoint", to, "--from", from, "--dry-run")
	if !strings.Contains(dry, "+ queue orders\n") || strings.Contains(must("queue", "ls", "--endpoint", to), "orders") {
		t.Errorf("a dry run:\n%s", dry)
	}
	if out := must("migrate", "--endpoint", to, "--from",
		from); !strings.Contains(out, "orders    1      0        0\n") ||
		!strings.Contains(out, "pay.fifo  1      0        0\n") {
		t.Errorf("the run:\n%s", out)
	}
	want := strings.ReplaceAll(must("export", "--endpoint", from), "000000000000", "123456789012")
	if got := must("export", "--endpoint", to); got != want {
		t.Errorf("the target has:\n%s\nwant:\n%s", got, want)
	}
	if out := must("queue", "receive", "--endpoint", to, "orders", "--delete"); !strings.Contains(out, "hello") {
		t.Errorf("received:\n%s", out)
	}

	must("queue", "send", "--endpoint", from, "orders", "again")
	must("queue", "create", "--endpoint", from, "late")
	must("queue", "limit", "--endpoint", to, "failed", "--max-in-flight", "5") // unknown to the source
	f.write(t, "name: other\nqueues: {orders: {visibility-timeout: 8}}")
	must("apply", "--endpoint", to, f.path)
	out := must("migrate", "--endpoint", to, "--from", from, "orders", "late")
	if !strings.Contains(out, "differs, and stays unchanged: queue orders: visibility-timeout\n") ||
		!strings.Contains(out, "late    0 ") {
		t.Errorf("the second run:\n%s", out)
	}
}

func TestMigrateRefuses(t *testing.T) {
	s := serve(t, "--in-memory")
	as(t, s.exports, "")
	here := s.exports["AWS_ENDPOINT_URL_SQS"]
	if _, _, err := run(t, "queue", "create", "jobs"); err != nil {
		t.Fatal(err)
	}
	byName := strings.Replace(here, "127.0.0.1", "localhost", 1)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no source":            {nil, "--from is missing"},
		"two sources":          {[]string{"--from", "http://127.0.0.1:1", "--from-aws"}, "--from-aws"},
		"the same endpoint":    {[]string{"--from", here}, "is the source and the target"},
		"the same server":      {[]string{"--from", byName}, "are the same server"},
		"too many workers":     {[]string{"--from", here, "--workers", "65"}, "want 1 to 64"},
		"a queue that is none": {[]string{"--from", byName, "nothing"}, "the source has no queue nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := run(t, append([]string{"migrate"}, c.args...)...); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
