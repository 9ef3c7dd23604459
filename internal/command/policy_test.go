package command_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/command"
)

const orders = "arn:aws:sqs:us-east-1:000000000000:orders"

// policyFiles returns the paths of files with these texts, by name.
func policyFiles(t *testing.T, texts map[string]string) func(args string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(args string) []string {
		out := []string{"policy", "simulate"}
		for _, arg := range strings.Fields(args) {
			if strings.HasSuffix(arg, ".json") {
				arg = filepath.Join(dir, arg)
			}
			out = append(out, strings.ReplaceAll(arg, "ORDERS", orders))
		}
		return out
	}
}

var simulatedPolicies = map[string]string{
	"queue.json": `{"Version":"2012-10-17","Statement":[
  {"Sid":"Network","Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"*","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}},
  {"Sid":"NoPurge","Effect":"Deny","Principal":"*","Action":"sqs:PurgeQueue","Resource":"*"}]}`,
	"bob.json":    `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"arn:aws:sqs:*:000000000000:${aws:username}*"}}`,
	"all.json":    `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`,
	"tags.json":   `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sqs:TagQueue","Resource":"*","Condition":{"ForAllValues:StringEquals":{"aws:TagKeys":["team","cost"]}}}}`,
	"time.json":   `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*","Condition":{"DateLessThan":{"aws:CurrentTime":"2009-06-30T12:00Z"}}}}`,
	"broken.json": `{"Statement":[{"Effect":"Allow"},]}`,
	"other.json":  `{"Statement":{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"arn:aws:sqs:us-east-1:000000000000:other"}}`,
}

func TestSimulateAnswersByItsStatus(t *testing.T) {
	arguments := policyFiles(t, simulatedPolicies)
	const bob = "--caller arn:aws:iam::000000000000:user/path/bob --resource arn:aws:sqs:us-east-1:000000000000:bob-1 "
	for _, tc := range []struct {
		args   string
		status int
		says   string // a part of the output, or of the error
	}{
		{"--caller 000000000000 --action sqs:SendMessage --resource ORDERS", 0, "the account owns the resource"},
		{"--caller 111122223333 --action sqs:SendMessage --resource ORDERS", 1,
			"because no resource-based policy allows the sqs:sendmessage action"},
		{"--caller 111122223333 --action sqs:SendMessageBatch --resource ORDERS --resource-policy queue.json --context aws:SourceIp=10.1.2.3", 0, `allowed by statement "Network"`},
		{"--caller anonymous --action SQS:sendmessage --resource ORDERS --resource-policy queue.json --context AWS:SourceIP=10.1.2.3", 0, `allowed by statement "Network"`},
		{"--caller anonymous --action sqs:SendMessage --resource ORDERS --resource-policy queue.json --context aws:SourceIp=192.0.2.1", 1, "it wants 10.0.0.0/8, the request has 192.0.2.1"},
		{"--caller anonymous --action sqs:SendMessage --resource ORDERS --resource-policy queue.json", 1,
			"The request does not have: aws:SourceIp"},
		{"--caller 000000000000 --action sqs:PurgeQueue --resource ORDERS --resource-policy queue.json", 1,
			"with an explicit deny in a resource-based policy"},
		{"--caller 000000000000 --action sqs:SetQueueAttributes --resource ORDERS --resource-policy queue.json", 0,
			"may always do this"},
		{"--caller 111122223333 --action sqs:DeleteQueue --resource ORDERS --resource-policy queue.json", 1,
			"cannot be given to another account"},
		{bob + "--action sqs:SendMessage", 1, "because no identity-based policy allows"},
		{bob + "--action sqs:SendMessage --policy bob.json", 0, "allowed by statement 1 of"},
		{bob + "--action sqs:SendMessage --policy tags.json --policy bob.json", 0, "bob.json"},
		{bob + "--action sqs:TagQueue --policy tags.json --context aws:TagKeys=team", 0, "allowed"},
		{bob + "--action sqs:TagQueue --policy tags.json --context aws:TagKeys=team --context aws:TagKeys=owner", 1,
			"not met"},
		{bob + "--action sqs:SendMessage --policy time.json", 1, "not met"},
		{bob + "--action sqs:SendMessage --policy time.json --context aws:CurrentTime=2009-06-30T11:59:59Z", 0,
			"allowed"},
		{bob + "--action iam:CreateUser --policy all.json", 0, "allowed"},
		{"--caller arn:aws:sts::000000000000:assumed-role/worker/s1 --action sqs:SendMessage --resource ORDERS --policy all.json", 0, "allowed"},
		{"--caller arn:aws:sts::000000000000:federated-user/jean --action sqs:SendMessage --resource ORDERS --policy all.json", 1, "session policy"},

		{"--caller anonymous --action sqs:SendMessage --resource ORDERS --resource-policy broken.json", 2,
			"broken.json: line 1, column 33"},
		{"--caller anonymous --action sqs:SendMessage --resource ORDERS --resource-policy other.json", 1,
			"which the policy is set on: the statement never applies"},
		{bob + "--action sqs:SendMessage --policy queue.json", 2, "should not specify a principal"},
		{bob + "--action sqs:SendMessage --policy nowhere.json", 2, "nowhere.json"},
		{bob + "--action sqs:Nonsense", 2, "no action of that name"},
		{bob + "--action SendMessage", 2, "--action"},
		{bob + "--action sqs:*", 2, "--action"},
		{bob + "--action sqs:SendMessage --context aws:SourceIp", 2, "--context"},
		{"--caller bob --action sqs:SendMessage --resource ORDERS", 2, "--caller"},
		{"--caller arn:aws:iam::000000000000:role/r --action sqs:SendMessage --resource ORDERS", 2, "--caller"},
		{"--caller anonymous --action sqs:SendMessage --resource orders", 2, "--resource"},
		{"--caller anonymous", 2, "--action is missing"},
		{"--no-such-flag", 2, "unknown flag"},
	} {
		stdout, stderr, err := run(t, arguments(tc.args)...)
		said := stdout + stderr
		if err != nil {
			said += err.Error()
		}
		if command.Status(err) != tc.status || !strings.Contains(said, tc.says) {
			t.Errorf("%s: status %d, want %d with %q:\n%s", tc.args, command.Status(err), tc.status, tc.says, said)
		}
	}
}

func TestSimulateSpeaksJSON(t *testing.T) {
	arguments := policyFiles(t, simulatedPolicies)
	type answer struct {
		Decision, By, Message string
		Statements            []struct {
			Source, File, Sid, Effect, Element, Reason string
			Line                                       int
			Applies, Decided                           bool
		}
		MissingContextKeys []string
	}
	simulate := func(context string) (a answer, status int) {
		t.Helper()
		stdout, stderr, err := run(t,
			arguments("--json --caller anonymous --action sqs:SendMessage --resource ORDERS --resource-policy queue.json "+context)...)
		if err := json.Unmarshal([]byte(stdout), &a); err != nil || stderr != "" {
			t.Fatalf("%v: %q, %q", err, stdout, stderr)
		}
		return a, command.Status(err)
	}
	a, status := simulate("--context aws:SourceIp=10.1.2.3")
	if status != 0 || a.Decision != "allowed" || a.By != "resource-based policy" || a.Message != "" ||
		len(a.Statements) != 2 || len(a.MissingContextKeys) != 0 {
		t.Fatalf("status %d, %+v", status, a)
	}
	one, two := a.Statements[0], a.Statements[1]
	if !one.Applies || !one.Decided || one.Sid != "Network" || one.Line != 2 ||
		filepath.Base(one.File) != "queue.json" || one.Effect != "Allow" {
		t.Errorf("the first statement: %+v", one)
	}
	if two.Applies || two.Decided || two.Element != "Action" || two.Reason == "" || two.Effect != "Deny" {
		t.Errorf("the second statement: %+v", two)
	}
	a, status = simulate("")
	if status != 1 || a.Decision != "implicitDeny" ||
		!strings.HasPrefix(a.Message, "User: anonymous is not authorized") ||
		len(a.MissingContextKeys) != 1 || a.MissingContextKeys[0] != "aws:SourceIp" ||
		a.Statements[0].Element != "Condition" {
		t.Errorf("status %d, %+v", status, a)
	}
}
