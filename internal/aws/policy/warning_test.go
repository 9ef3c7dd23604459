package policy_test

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// A policy that names a key that no request has, or another queue, gets a warning.
func TestWarnings(t *testing.T) {
	const statement = `{"Version":"2012-10-17","Statement":{"Effect":"Deny","Principal":"*","Action":"sqs:*","Resource":"%r","Condition":{%c}}}`
	for _, tc := range []struct{ resource, condition, want string }{
		{"*", `"StringEquals":{"aws:SourceIp":"x"}`, ""},
		{"*", `"StringEquals":{"aws:ResourceTag/a":"x","IAM:ResourceTag/a":"x","aws:PrincipalTag/b":"x"}`, ""},
		{"*", `"StringEquals":{"iam:PermissionsBoundary":"x","iam:PolicyARN":"x","sts:ExternalId":"x"}`, ""},
		{"*", `"StringEquals":{"acme:Anything":"x"}`, ""},
		{"*", `"StringEquals":{"aws:PrincipalOrgID":"x"}`,
			"no request has the condition key aws:PrincipalOrgID here: the condition is never met"},
		{"*", `"StringNotEquals":{"iam:PermissionBoundary":"x"}`,
			"no request has the condition key iam:PermissionBoundary here: the condition is always met"},
		{"*", `"StringEqualsIfExists":{"sqs:QueueName":"x"}`,
			"no request has the condition key sqs:QueueName here: the condition is always met"},
		{"*", `"Null":{"sts:AWSServiceName":"true"}`,
			"no request has the condition key sts:AWSServiceName here: Null sees it as absent"},
		{"*", `"StringEquals":{"aws:RequestTag":"x"}`, "no request has the condition key aws:RequestTag here"},
		{"*", `"StringEquals":{"AWS:SourceOwner":"1","sns:Protocol":"sqs","sns:Endpoint":"x"}`, ""},
		{"*", `"StringEquals":{"sns:Topic":"x"}`, "no request has the condition key sns:Topic here"},
		{queue1, ``, ""},
		{"arn:aws:sqs:*:" + accountA + ":${aws:username}1", ``, ""},
		{"arn:aws:sqs:*:" + accountA + ":queue2", ``, "no Resource of this statement is " + queue1},
		{"queue1", ``, "no Resource of this statement is " + queue1},
		{"a*", ``, "no Resource of this statement is " + queue1},
		{"/" + accountA + "/queue1", ``, ""},
		{"/7/queue1", ``, "no Resource of this statement is " + queue1},
	} {
		p := parse(t, policy.ForResource, strings.NewReplacer("%r", tc.resource, "%c", tc.condition).Replace(statement))
		got := p.Warnings(queue1)
		if tc.want == "" {
			if len(got) > 0 {
				t.Errorf("%s %s: %v", tc.resource, tc.condition, got)
			}
			continue
		}
		if len(got) != 1 || !strings.HasPrefix(got[0].Text, tc.want) || got[0].Line != 1 || got[0].Column < 60 {
			t.Errorf("%s %s: %v, want %s", tc.resource, tc.condition, got, tc.want)
		}
	}
}

// A policy that misspells an action of a service whose actions are known gets a warning.
func TestWarningsOfActions(t *testing.T) {
	for actions, want := range map[string]string{
		`["sqs:SendMessage","SQS:sendm*","*","s3:Anything"]`: "",
		`"sqs:SendMesage"`:       "sqs has no action sqs:sendmesage",
		`"sqs:Recv*"`:            "sqs has no action sqs:recv*",
		`"sqs:SendMessageBatch"`: "a batch is covered by the action of its entries and cannot be named; name sqs:sendmessage",
	} {
		p := parse(t, policy.ForIdentity, `{"Statement":{"Effect":"Allow","Action":`+actions+`,"Resource":"*"}}`)
		if got := p.Warnings("", sqs); want == "" && len(got) > 0 ||
			want != "" && (len(got) != 1 || got[0].Text != want) {
			t.Errorf("%s: %v, want %s", actions, got, want)
		}
		if got := p.Warnings(""); len(got) > 0 {
			t.Errorf("%s, of no known service: %v", actions, got)
		}
	}
}

// A queue's policy may name any resource. A text that is not a pattern for the queue does not cover it, even if it
// begins or ends like one.
func TestResourcesThatAreNotTheQueue(t *testing.T) {
	for resource, covers := range map[string]bool{
		queue1: true, "*": true, "arn:aws:sqs:*:" + accountA + ":queue?": true, accountA + "/queue1": true,
		"/" + accountA + "/queue1": true,
		"queue1":                   false, "a*": false, "**": true, "**1": false, "": false,
		"arn:aws:sqs:us-east-1:" + accountA + ":queue2": false, "/7/queue1": false,
		"http://localhost/" + accountA + "/queue1": false,
	} {
		for _, effect := range []string{"Allow", "Deny"} {
			p, err := policy.ParseResource(
				`{"Statement":{"Effect":"`+effect+`","Principal":"*","Action":"sqs:SendMessage","Resource":"`+resource+
					`"}}`, sqs)
			if err != nil {
				t.Errorf("%q: %v", resource, err)
				continue
			}
			r := &policy.Request{
				Action: "sqs:SendMessage", Resource: queue1, Owner: accountA, Rules: sqs, ResourcePolicy: p,
			}
			want := policy.Refused
			if covers {
				want = map[string]policy.Result{"Allow": policy.Allowed, "Deny": policy.ExplicitlyDenied}[effect]
			}
			if got := policy.Decide(r).Result; got != want {
				t.Errorf("%s on %q: %s, want %s", effect, resource, got, want)
			}
		}
	}
}
