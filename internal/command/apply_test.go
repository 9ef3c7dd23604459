package command_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	alarmtypes "github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"pgregory.net/rapid"

	"github.com/sluicemq/sluice/internal/command"
)

// declaredFile is a file that the test writes and applies.
type declaredFile struct{ path string }

func newDeclaredFile(t *testing.T) *declaredFile {
	t.Helper()
	return &declaredFile{filepath.Join(t.TempDir(), "queues.yaml")}
}

func (f *declaredFile) write(t interface{ Fatal(...any) }, text string) {
	if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const nothingToDo = "all is as the file says"

func TestApplyMakesWhatTheSDKSees(t *testing.T) {
	s := serve(t, "--in-memory", "--no-cool-downs")
	as(t, s.exports, "")
	f := newDeclaredFile(t)
	f.write(t, `
name: shop
queues:
  orders: {delay: 7, dead-letters: {queue: failed, max-receives: 3}, tags: {team: sales}}
  failed: {redrive-allow: [orders]}
topics:
  placed: {subscriptions: [{queue: orders, raw: true, filter: {state: [new]}}]}
alarms:
  wait: {queue: orders, metric: ApproximateAgeOfOldestMessage, statistic: Maximum, period: 1m, periods: 3, datapoints: 2, when: '>=', threshold: 1.5, notify: placed}
composite-alarms:
  trouble: {rule: 'ALARM(wait) AND NOT ALARM(deep)', suppressor: wait, suppressor-wait: 1m, suppressor-extension: 30s, notify: placed}
  deep: {rule: 'FALSE', description: 'is made first'}
groups: {clerks: {inline: {read: {Version: 2012-10-17, Statement: {Effect: Allow, Action: ['sqs:Get*', 'sqs:List*'], Resource: '*'}}}}}
users: {ann: {groups: clerks, access-key: true}}
`)
	keys := filepath.Join(t.TempDir(), "keys")
	if _, _, err := run(t, "apply", f.path, "--write-keys", keys); err != nil {
		t.Fatal(err)
	}
	config := aws.Config{
		Region: "us-east-1", BaseEndpoint: aws.String(s.exports["AWS_ENDPOINT_URL_SQS"]),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{
				AccessKeyID: s.exports["AWS_ACCESS_KEY_ID"], SecretAccessKey: s.exports["AWS_SECRET_ACCESS_KEY"],
			}, nil
		}),
	}
	ctx, queues := t.Context(), sqs.NewFromConfig(config)
	url, err := queues.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("orders")})
	if err != nil {
		t.Fatal(err)
	}
	found, err := queues.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: url.QueueUrl, AttributeNames: []types.QueueAttributeName{"All"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if a := found.Attributes; a["DelaySeconds"] != "7" || !strings.Contains(a["RedrivePolicy"], ":failed") ||
		!strings.Contains(a["Policy"], ":placed") {
		t.Errorf("the queue has %v", a)
	}
	tags, err := queues.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: url.QueueUrl})
	if err != nil || tags.Tags["team"] != "sales" || tags.Tags["sluice-applied-by"] != "shop" {
		t.Errorf("it has the tags %v, %v", tags, err)
	}
	if _, err := sns.NewFromConfig(config).Publish(ctx, &sns.PublishInput{
		TopicArn: aws.String("arn:aws:sns:us-east-1:000000000000:placed"), Message: aws.String("hello"),
	}); err != nil {
		t.Error(err)
	}
	alarms, err := cloudwatch.NewFromConfig(config).DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
		AlarmNames: []string{"wait"},
	})
	if err != nil || len(alarms.MetricAlarms) != 1 || alarms.MetricAlarms[0].Statistic != "Maximum" ||
		len(alarms.MetricAlarms[0].AlarmActions) != 1 {
		t.Errorf("the alarm is %v, %v", alarms, err)
	}
	both, err := cloudwatch.NewFromConfig(config).DescribeAlarms(ctx, &cloudwatch.DescribeAlarmsInput{
		AlarmNames: []string{"trouble"}, AlarmTypes: []alarmtypes.AlarmType{alarmtypes.AlarmTypeCompositeAlarm},
	})
	if err != nil || len(both.CompositeAlarms) != 1 || *both.CompositeAlarms[0].ActionsSuppressorWaitPeriod != 60 ||
		len(both.CompositeAlarms[0].AlarmActions) != 1 {
		t.Errorf("the composite alarm is %v, %v", both, err)
	}
	groups, err := iam.NewFromConfig(config).ListGroupsForUser(ctx, &iam.ListGroupsForUserInput{
		UserName: aws.String("ann"),
	})
	if err != nil || len(groups.Groups) != 1 {
		t.Errorf("ann is in %v, %v", groups, err)
	}
	info, err := os.Stat(keys)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of keys is %v, %v", info, err)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", keys)
	if out, _, err := run(t, "queue", "show", "orders", "--profile", "ann"); err != nil {
		t.Errorf("ann, without permission to read: %v %s", err, out)
	}
	more := newDeclaredFile(t)
	more.write(t, "name: more\nqueues: {extra: , orders: {delay: 8}}\n")
	const stopped = "more: stopped: 0 created, 0 changed, 0 deleted, 2 not done"
	if out, _, err := run(t, "apply", more.path, "--profile", "ann"); err == nil || !strings.Contains(out, stopped) ||
		strings.Contains(out, nothingToDo) {
		t.Errorf("ann, without permission to apply: %v %s", err, out)
	}
	if err := os.Chmod(keys, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, "apply", f.path, "--write-keys", keys); err == nil ||
		!strings.Contains(err.Error(), "can be read by others") {
		t.Errorf("a file that everyone can read: %v", err)
	}
}

// Reasons for which an apply would be refused are reported before anything is created, with their place in the file.
func TestInvalidApplyIsNotBegun(t *testing.T) {
	s := serve(t, "--in-memory", "--no-cool-downs")
	as(t, s.exports, "")
	f := newDeclaredFile(t)
	for name, c := range map[string]struct{ text, want string }{
		"a value out of range": {"queues:\n  a:\n  b: {visibility-timeout: 13h}",
			":4:27: 13h: visibility-timeout is from 0s to 12h"},
		"another type of queue": {"queues:\n  a:\n  b.fifo: {dead-letters: a}",
			":4:26: a is not of the same type as b.fifo"},
		"a metric": {"queues:\n  a:\nalarms:\n  x: {queue: a, metric: Nope, statistic: Sum, period: 1m, periods: 1, when: '>', threshold: 1}", ":5:25: AWS/SQS has no metric Nope"},
		"a policy": {"queues:\n  a:\nusers:\n  u: {policies: [DoesNotExist]}",
			":5:18: there is no policy DoesNotExist"},
		"a policy of the group": {"queues:\n  a:\ngroups:\n  g: {policies: [AmazonSQSFullAccess, 'arn:aws:iam::000000000000:policy/p']}", ":5:39: there is no policy p"},
		"a boundary": {"queues:\n  a:\nusers:\n  u: {boundary: DoesNotExist}",
			":5:17: there is no policy DoesNotExist"},
		"a queue that is gone": {"queues:\n  a:\n  b: {dead-letters: 'arn:aws:sqs:us-east-1:000000000000:gone'}",
			":4:21: there is no queue gone"},
		"a queue for deliveries": {"queues:\n  a:\ntopics:\n  t: {subscriptions: [{queue: a, dead-letters: 'arn:aws:sqs:us-east-1:000000000000:gone'}]}", ":5:48: there is no queue gone"},
	} {
		f.write(t, "name: shop\n"+c.text)
		for _, verb := range []string{"plan", "apply"} {
			if _, _, err := run(t, verb, f.path); err == nil || command.Status(err) != 1 ||
				!strings.Contains(err.Error(), f.path+c.want) {
				t.Errorf("%s: %s: %v", name, verb, err)
			}
		}
		if out, _, err := run(t, "queue", "ls"); err != nil || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: there are queues: %s, %v", name, out, err)
		}
	}
}

// A prune deletes queues with messages only on request, and reports how many messages there are.
func TestPruneKeepsMessages(t *testing.T) {
	s := serve(t, "--in-memory", "--no-cool-downs")
	as(t, s.exports, "")
	f := newDeclaredFile(t)
	f.write(t, "name: shop\nqueues: {full: , empty: , stays: }\n")
	must := func(want string, args ...string) {
		t.Helper()
		if out, said, err := run(t, args...); err != nil || !strings.Contains(out, want) {
			t.Fatalf("%v: %v\n%s%s", args, err, out, said)
		}
	}
	must("3 created", "apply", f.path)
	must("", "queue", "send", "full", "one")
	must("", "queue", "send", "full", "two")
	f.write(t, "name: shop\nqueues: {stays: , more: }\n")
	if out, _, err := run(t, "plan", "--prune", f.path); command.Status(err) != 2 ||
		!strings.Contains(out,
			"- queue full\n    messages: 2 visible\n- queue empty\nnote: an apply deletes queues that have messages only with --prune-non-empty\n") {
		t.Errorf("the plan: %v\n%s", err, out)
	}
	if out, _, err := run(t, "plan", "--prune", "--json", f.path); command.Status(err) != 2 ||
		!strings.Contains(strings.Join(strings.Fields(out), ""), `"Messages":{"Visible":2,"InFlight":0,"Delayed":0}`) {
		t.Errorf("the plan as JSON: %v\n%s", err, out)
	}
	const refusal = "queue full has messages: 2 visible, which a prune would delete with it"
	if _, _, err := run(t, "apply", "--prune", f.path); command.Status(err) != 1 ||
		!strings.Contains(err.Error(), refusal) || !strings.Contains(err.Error(), "nothing is changed") {
		t.Errorf("without the flag: %v", err)
	}
	if out, _, err := run(t, "queue", "ls"); err != nil || strings.Contains(out, "more") ||
		!strings.Contains(out, "empty") {
		t.Errorf("the server has changed: %v\n%s", err, out)
	}
	if _, _, err := run(t, "apply", "--prune-non-empty", f.path); command.Status(err) != 2 {
		t.Errorf("without --prune: %v", err)
	}
	must("shop: 1 created, 0 changed, 2 deleted", "apply", "--prune", "--prune-non-empty", f.path)
}

// A filter can be replaced by any other, whether the policy or the scope has to change first.
func TestApplyChangesFilters(t *testing.T) {
	s := serve(t, "--in-memory", "--no-cool-downs")
	as(t, s.exports, "")
	f := newDeclaredFile(t)
	const body, attributes = "filter-scope: MessageBody", "filter-scope: MessageAttributes"
	for i, filter := range []string{
		"filter: {order: {state: [new]}}, " + body,
		"filter: {state: [new]}, " + attributes,
		"filter: {order: {state: [old]}}, " + body,
		"filter: {}, " + attributes,
		"filter: {order: {state: [new]}}, " + body,
		"filter: {state: [old]}, " + body,
		"filter: {state: [new]}, " + attributes,
		"filter: {}, " + body,
	} {
		f.write(t, "name: shop\nqueues: {q: }\ntopics: {t: {subscriptions: [{queue: q, "+filter+"}]}}\n")
		if _, _, err := run(t, "apply", f.path); err != nil {
			t.Fatalf("%d: %s: %v", i, filter, err)
		}
		if out, _, err := run(t, "plan", f.path); err != nil || !strings.Contains(out, nothingToDo) {
			t.Errorf("%d: %s: %v, %s", i, filter, err, out)
		}
	}
}

// Limits are applied, changed, taken away and exported like other settings. A tenant's own file and export have none.
// A queue changes between the ways to encrypt, of which it has one at a time.
func TestApplyChangesEncryption(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, "--data", filepath.Join(dir, "data"), "--encryption-key-file", filepath.Join(dir, "keys"))
	as(t, s.exports, "")
	f := newDeclaredFile(t)
	for _, setting := range []string{
		"kms-key: alias/aws/sqs", "managed-encryption: true", "managed-encryption: false",
		"kms-key: alias/aws/sqs, kms-key-reuse: 10m", "managed-encryption: true",
	} {
		f.write(t, "name: shop\nqueues: {orders: {"+setting+"}}\n")
		if out, _, err := run(t, "apply", f.path); err != nil || strings.Contains(out, nothingToDo) {
			t.Errorf("%s: %v\n%s", setting, err, out)
		}
		if out, _, err := run(t, "apply", f.path); err != nil || !strings.Contains(out, nothingToDo) {
			t.Errorf("%s again: %v\n%s", setting, err, out)
		}
	}
}

func TestApplySetsLimits(t *testing.T) {
	s := serve(t, "--in-memory", "--no-cool-downs", "--account", "000000000000", "--account", "111122223333")
	as(t, s.exports, "")
	f := newDeclaredFile(t)
	apply := func(text, want string) {
		t.Helper()
		f.write(t, text)
		out, errs, err := run(t, "apply", f.path)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%s: %s%s%v, want %s", text, out, errs, err, want)
		}
		if out, errs, err = run(t, "plan", f.path); err != nil || !strings.Contains(out, nothingToDo) {
			t.Errorf("then: %s%s%v", out, errs, err)
		}
	}
	apply("name: tenants\nusers: {bob: }\nlimits:\n  111122223333: {sends-per-second: 5, stored-bytes: 20GiB, queues: 2}\n  000000000000/bob: {receives-per-second: 0}\n", "+ limit 111122223333")
	apply("name: tenants\nlimits:\n  111122223333: {queues: 3, stored-bytes: none}\n", "~ limit 111122223333")
	out, _, err := run(t, "export", "--name", "all")
	for _, want := range []string{"limits:\n", "'111122223333':", "sends-per-second: 5\n", "queues: 3\n",
		"000000000000/bob", "receives-per-second: 0\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("the export lacks %s: %s%v", want, out, err)
		}
	}
	if strings.Contains(out, "stored-bytes") {
		t.Errorf("the removed limit is exported: %s", out)
	}
	f.write(t, out)
	if out, errs, err := run(t, "plan", f.path); err != nil || !strings.Contains(out, nothingToDo) {
		t.Errorf("the export: %s%s%v", out, errs, err)
	}
	f.write(t, "name: tenants\nlimits: {999999999999: {queues: 1}}\n")
	if out, _, err := run(t, "apply", f.path); err == nil || !strings.Contains(err.Error(), "NoSuchAccount") {
		t.Errorf("an account that does not exist: %s%v", out, err)
	}
	made, _, err := run(t, "account", "create", "444455556666")
	if err != nil {
		t.Fatal(err)
	}
	as(t, nil, made)
	if out, errs, err := run(t, "export", "--name", "mine"); err != nil || strings.Contains(out, "limits") {
		t.Errorf("a tenant's export: %s%s%v", out, errs, err)
	}
	f.write(t, "name: mine\nlimits: {444455556666: {queues: 100}}\n")
	if out, _, err := run(t, "apply", f.path); err == nil || !strings.Contains(err.Error(), "AccessDenied") {
		t.Errorf("a tenant sets its limits: %s%v", out, err)
	}
}

func TestServeApplies(t *testing.T) {
	t.Cleanup(command.ShortenApplyPauses())
	f := newDeclaredFile(t)
	data, keys := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "keys")
	f.write(t,
		"name: shop\nqueues: {orders: }\nusers: {ann: {access-key: true}}\naccounts: {\"111122223333\": {regions: {eu-west-1: {queues: {far: }}}}}\n")
	options := []string{"--data", data, "--account", "000000000000,111122223333", "--apply", f.path, "--write-keys",
		keys}
	var first []byte
	for range 2 { // the second time nothing is left to do
		s := serve(t, options...)
		as(t, s.exports, "")
		if out, _, err := run(t, "queue", "ls"); err != nil || !strings.Contains(out, "orders") {
			t.Errorf("%s %v", out, err)
		}
		t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(data, "credentials"))
		for _, profile := range []string{"000000000000", "111122223333"} {
			if out, _, err := run(t, "plan", f.path, "--profile", profile); profile == "000000000000" &&
				(err != nil || !strings.Contains(out, nothingToDo)) {
				t.Errorf("%s %v", out, err)
			}
		}
		if out, _, err := run(t, "queue", "ls", "--profile", "111122223333", "--region", "eu-west-1"); err != nil ||
			!strings.Contains(out, "far") {
			t.Errorf("%s %v", out, err)
		}
		text, err := os.ReadFile(keys)
		if err != nil || first != nil && string(first) != string(text) {
			t.Errorf("the keys are %q, %v", text, err)
		}
		first = text
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
	}
	f.write(t, "name: shop\nqueue: {}\n")
	if _, _, err := run(t, "serve", "--check", "--apply", f.path); err == nil ||
		!strings.Contains(err.Error(), "did you mean queues") {
		t.Errorf("an invalid file: %v", err)
	}
	f.write(t,
		"name: shop\nqueues: {q: {policy: {Statement: {Effect: Allow, Action: 'sqs:*', Resource: '*', Principal: {AWS: 'arn:aws:iam::000000000000:user/nobody'}}}}}\n")
	if _, _, err := run(t, "serve", "--in-memory", "--listen", "127.0.0.1:0", "--apply", f.path,
		"--no-cool-downs"); err == nil || !strings.Contains(err.Error(), "create queue q") {
		t.Errorf("a file that cannot be applied: %v", err)
	}
}

// drawFile returns a file of random resources with random settings.
func drawFile(t *rapid.T, name string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	some := func(label string, of ...string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(of), 0, -1, rapid.ID).Draw(t, label)
	}
	maybe := func(what string) bool { return rapid.Bool().Draw(t, what) }
	line("name: %s", name)
	queues := some("queues", "a", "b", "c.fifo", "d.fifo")
	line("queues:")
	for _, q := range queues {
		line("  %s:", q)
		fifo := strings.HasSuffix(q, ".fifo")
		for _, setting := range some("settings of "+q, "visibility-timeout: 1m", "retention: 2d", "delay: 3",
			"wait: 20s", "max-message-size: 2KiB", "tags: {x: '1', y: 'a b'}", "managed-encryption: false") {
			line("    %s", setting)
		}
		if fifo && maybe("dedup") {
			line("    content-based-deduplication: true")
			line("    deduplication-scope: messageGroup")
		}
		for _, other := range queues {
			if other != q && fifo == strings.HasSuffix(other, ".fifo") && maybe(q+" to "+other) {
				line("    dead-letters: {queue: %s, max-receives: %d}", other, rapid.IntRange(1, 9).Draw(t, "receives"))
			}
		}
		if maybe("policy") {
			line("    policy: {Version: 2012-10-17, Statement: [{Sid: x, Effect: Allow, Principal: {AWS: ['111122223333']}, Action: [sqs:SendMessage], Resource: '${queue.%s}'}]}", q)
		}
	}
	topics := some("topics", "s", "t")
	line("topics:")
	for _, topic := range topics {
		line("  %s:\n    display-name: '%s'\n    subscriptions:", topic,
			rapid.SampledFrom([]string{"News", "$${queue.x}", "yes", "1"}).Draw(t, "display name"))
		for _, q := range queues {
			if !strings.HasSuffix(q, ".fifo") && maybe("subscribe "+q) {
				line("      - {queue: %s, raw: %v, permission: %v}", q, maybe("raw"), maybe("permission"))
			}
		}
		if maybe("url") {
			line("      - {url: 'https://u:secret@hooks.example.com/%s', filter: {n: [{numeric: ['>', 1]}], x: [null, true, 1.50]}}", topic)
		}
	}
	line("alarms:")
	var watched []string
	for _, q := range queues {
		if maybe("alarm") {
			watched = append(watched, "on "+q)
			line("  'on %s': {queue: %s, metric: NumberOfMessagesSent, statistic: Sum, period: 5m, periods: 2, when: '<', threshold: 1e2, notify: [%s], missing-data: breaching}", q, q, strings.Join(topics, ", "))
		}
	}
	line("composite-alarms:")
	for _, name := range watched {
		if maybe("composite") {
			line("  'a %s': {rule: 'ALARM(\"%s\") OR OK(\"%s\")', notify: [%s]}", name, name, watched[0],
				strings.Join(topics, ", "))
			if maybe("nested") {
				line("  '0 all': {rule: 'NOT ALARM(\"a %s\")', suppressor: '%s', suppressor-wait: 1m, suppressor-extension: 0s}", name, name)
			}
			break
		}
	}
	policies := some("policies", "p", "q")
	line("policies:")
	for _, p := range policies {
		line("  %s: {path: /x/, document: {Version: 2012-10-17, Statement: {Effect: Allow, Action: ['sqs:*', 'sns:Publish'], Resource: '*'}}}", p)
	}
	groups := some("groups", "g", "h")
	line("groups:")
	for _, g := range groups {
		line("  %s: {policies: [%s]}", g, strings.Join(append(policies, "AmazonSQSFullAccess"), ", "))
	}
	line("users:")
	for _, u := range some("users", "u", "v") {
		line("  %s: {groups: [%s], access-key: %v, inline: {i: {Version: 2012-10-17, Statement: {Effect: Deny, Action: 'sqs:*', Resource: '*'}}}}", u, strings.Join(groups, ", "), maybe("key"))
	}
	line("roles:")
	for _, r := range some("roles", "r") {
		line("  %s: {max-session: 2h, description: 'a role', trust: {Version: 2012-10-17, Statement: {Effect: Allow, Principal: {AWS: '000000000000'}, Action: sts:AssumeRole}}, policies: [%s]}", r, strings.Join(policies, ", "))
	}
	return b.String()
}

// An apply creates the resources of the file, an export shows the existing ones, and a prune leaves those in the file.
func TestApplyExportAndPruneAgree(t *testing.T) {
	s := serve(t, "--in-memory", "--no-cool-downs")
	as(t, s.exports, "")
	f := newDeclaredFile(t)
	must := func(args ...string) string {
		t.Helper()
		out, _, err := run(t, args...)
		if err != nil {
			text, _ := os.ReadFile(f.path) // unreadable resources are not shown
			t.Fatalf("%v: %v\n%s\n%s", args, err, out, text)
		}
		return out
	}
	files := rapid.Custom(func(t *rapid.T) string { return drawFile(t, "drawn") })
	for seed := range 12 { // each changes the result of the previous one
		f.write(t, files.Example(seed))
		must("apply", "--prune", "--prune-non-empty", f.path) // an alarm may have notified a queue
		must("drift", f.path)
		f.write(t, must("export", "--name", "exported"))
		must("plan", "--prune", f.path)
	}
	f.write(t, "name: drawn\n")
	must("apply", "--prune", "--prune-non-empty", f.path)
	for line := range strings.Lines(must("export")) {
		if strings.HasSuffix(line, ":\n") && !strings.HasPrefix(line, " ") && line != "groups:\n" {
			t.Errorf("left are %s", line)
		}
	}
}
