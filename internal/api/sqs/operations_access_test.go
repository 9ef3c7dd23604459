package sqs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// bob is a user with the permissions that a test has set for him.
type bob struct{ may *policy.Policy }

var bobsIdentity = identity.Identity{
	Caller: policy.Caller{
		Kind: policy.User, Account: account, ARN: "arn:aws:iam::" + account + ":user/bob", UserID: "AIDABOB",
	}, AccessKeyID: "AKIABOB",
}

func (b *bob) Principal(id identity.Identity) (access.Principal, bool) {
	p := access.Principal{
		Caller: policy.Caller{Kind: policy.User, Account: id.Account, ARN: id.ARN, UserID: id.UserID, UserName: "bob"},
	}
	if b.may != nil {
		p.Identity = []*policy.Policy{b.may}
	}
	return p, id.ARN == bobsIdentity.ARN
}

// allow lets bob do what the statements say, which are the elements of a list without their braces.
func (b *bob) allow(t *testing.T, statements ...string) {
	t.Helper()
	p, err := policy.Parse(policy.ForIdentity,
		`{"Version":"2012-10-17","Statement":[{`+strings.Join(statements, `},{`)+`}]}`)
	if err != nil {
		t.Fatal(err)
	}
	b.may = p
}

// guarded returns a service without messages, and bob.
func guarded(t *testing.T) (*protocol.Service, *catalog.Catalog, *bob) {
	t.Helper()
	cat := newCatalog(t)
	b := new(bob)
	s := New(Options{Catalog: cat, Shard: &failingShard{}, Access: access.New(b)})
	for _, input := range []string{`{"QueueName":"q","tags":{"team":"a"}}`, `{"QueueName":"dlq"}`,
		`{"QueueName":"source","Attributes":{"RedrivePolicy":"{\"deadLetterTargetArn\":\"` + arnOf("dlq") +
			`\",\"maxReceiveCount\":1}"}}`} {
		if _, err := invoke(t.Context(), t, s, "CreateQueue", input); err != nil {
			t.Fatal(err)
		}
	}
	return s, cat, b
}

func arnOf(name string) string { return "arn:aws:sqs:us-east-1:" + account + ":" + name }

// as calls an operation with the identity who, and returns the refused action, or "".
func as(t *testing.T, s *protocol.Service, who identity.Identity, op, input string) string {
	t.Helper()
	err := attempt(t, s, who, op, input)
	if e := protocol.AsError(err); err != nil && e.Code == "AccessDenied" {
		return e.Message
	}
	return ""
}

// attempt calls an operation with the identity who.
func attempt(t testing.TB, s *protocol.Service, who identity.Identity, op, input string) error {
	t.Helper()
	_, err := invokeAs(t.Context(), t, s, who, op, input)
	return err
}

// Each operation needs permission for exactly these actions on these resources: without any one of them it is refused,
// and the refusal names that one.
func TestPermissionsOfOperations(t *testing.T) {
	t.Parallel()
	s, _, b := guarded(t)
	type needs = map[string][]string // actions by the queue that they apply to
	on := func(queue string, actions ...string) needs { return needs{arnOf(queue): actions} }
	moving := func(action string) []string {
		return []string{action, "ReceiveMessage", "DeleteMessage", "GetQueueAttributes"}
	}
	handle := handleOf("x", &catalog.Queue{Name: catalog.Name{Account: account, Region: "us-east-1", Queue: "dlq"}})
	tests := map[string][]struct {
		input string
		needs needs
	}{
		"AddPermission": {{`{"QueueUrl":"q"}`, on("q", "AddPermission")}},
		"CancelMessageMoveTask": {{`{"TaskHandle":"` + handle + `"}`,
			on("dlq", moving("CancelMessageMoveTask")...)}},
		"ChangeMessageVisibility":      {{`{"QueueUrl":"q"}`, on("q", "ChangeMessageVisibility")}},
		"ChangeMessageVisibilityBatch": {{`{"QueueUrl":"q"}`, on("q", "ChangeMessageVisibility")}},
		"CreateQueue": {
			{`{"QueueName":"new","Attributes":{"Nonsense":""}}`, on("new", "CreateQueue")},
			{`{"QueueName":"q"}`, on("q", "CreateQueue")},
			{`{"QueueName":"q","tags":{"team":"a"}}`, on("q", "CreateQueue", "TagQueue")},
		},
		"DeleteMessage":      {{`{"QueueUrl":"q"}`, on("q", "DeleteMessage")}},
		"DeleteMessageBatch": {{`{"QueueUrl":"q"}`, on("q", "DeleteMessage")}},
		"DeleteQueue":        {{`{"QueueUrl":"nobody"}`, on("nobody", "DeleteQueue")}},
		"GetQueueAttributes": {{`{"QueueUrl":"q","AttributeNames":["Policy"]}`, on("q", "GetQueueAttributes")}},
		"GetQueueUrl": {{`{"QueueName":"q"}`, on("q", "GetQueueUrl")},
			{`{"QueueName":"nobody"}`, on("nobody", "GetQueueUrl")}},
		"ListDeadLetterSourceQueues": {{`{"QueueUrl":"dlq"}`, on("dlq", "ListDeadLetterSourceQueues")}},
		"ListMessageMoveTasks": {
			{`{"SourceArn":"` + arnOf("nobody") + `"}`, on("nobody", moving("ListMessageMoveTasks")...)},
		},
		"ListQueueTags":      {{`{"QueueUrl":"q"}`, on("q", "ListQueueTags")}},
		"ListQueues":         {{`{}`, on("*", "ListQueues")}},
		"PurgeQueue":         {{`{"QueueUrl":"q"}`, on("q", "PurgeQueue")}},
		"ReceiveMessage":     {{`{"QueueUrl":"q"}`, on("q", "ReceiveMessage")}},
		"RemovePermission":   {{`{"QueueUrl":"q"}`, on("q", "RemovePermission")}},
		"SendMessage":        {{`{"QueueUrl":"q"}`, on("q", "SendMessage")}},
		"SendMessageBatch":   {{`{"QueueUrl":"q"}`, on("q", "SendMessage")}},
		"SetQueueAttributes": {{`{"QueueUrl":"q"}`, on("q", "SetQueueAttributes")}},
		"StartMessageMoveTask": {
			{`{"SourceArn":"` + arnOf("dlq") + `","DestinationArn":"` + arnOf("q") +
				`","MaxNumberOfMessagesPerSecond":0}`,
				needs{arnOf("dlq"): moving("StartMessageMoveTask"), arnOf("q"): {"SendMessage"}}},
			{`{"SourceArn":"` + arnOf("dlq") + `","MaxNumberOfMessagesPerSecond":0}`,
				needs{arnOf("dlq"): moving("StartMessageMoveTask"), arnOf("source"): {"SendMessage"}}},
		},
		"TagQueue":   {{`{"QueueUrl":"q"}`, on("q", "TagQueue")}},
		"UntagQueue": {{`{"QueueUrl":"q"}`, on("q", "UntagQueue")}},
	}
	known := make(map[string]bool)
	for _, op := range s.Operations() {
		known["sqs:"+strings.TrimSuffix(op.Name, "Batch")] = true
		if len(tests[op.Name]) == 0 {
			t.Errorf("the table lacks the permissions for %s", op.Name)
		}
		for _, tc := range tests[op.Name] {
			var all []string
			for arn, actions := range tc.needs {
				for _, action := range actions {
					all = append(all,
						`"Effect":"Allow","Action":"sqs:`+action+`","Resource":"`+strings.Replace(arn, arnOf("*"), "*",
							1)+`"`)
				}
			}
			b.allow(t, all...)
			if got := as(t, s, bobsIdentity, op.Name, tc.input); got != "" {
				t.Errorf("%s %s, with all permissions: %s", op.Name, tc.input, got)
			}
			for arn, actions := range tc.needs {
				for _, action := range actions {
					b.allow(t, `"Effect":"Allow","Action":"*","Resource":"*"`,
						`"Effect":"Deny","Action":"sqs:`+action+`","Resource":"`+strings.Replace(arn, arnOf("*"), "*",
							1)+`"`)
					want := "User: " + bobsIdentity.ARN + " is not authorized to perform: sqs:" +
						strings.ToLower(action) + " on resource: " +
						strings.Replace(arn, arnOf("*"), arnOf(""), 1) +
						" with an explicit deny in an identity-based policy"
					if got := as(t, s, bobsIdentity, op.Name, tc.input); got != want {
						t.Errorf("%s %s, without %s on %s: %q", op.Name, tc.input, action, arn, got)
					}
				}
			}
			b.may = nil
			if got := as(t, s, bobsIdentity, op.Name, tc.input); got == "" {
				t.Errorf("%s %s needs no permission", op.Name, tc.input)
			}
		}
	}
	if want := slices.Sorted(slices.Values(Rules.Actions)); !slices.Equal(slices.Sorted(maps.Keys(known)), want) {
		t.Errorf("the rules know the actions %v", want)
	}
}

// Conditions see the tags in a request and the tags of its queue.
func TestTagsInConditions(t *testing.T) {
	t.Parallel()
	s, _, b := guarded(t)
	for _, tc := range []struct {
		condition, op, input string
		allowed              bool
	}{
		{`"StringEquals":{"aws:ResourceTag/team":"a"}`, "SendMessage", `{"QueueUrl":"q"}`, true},
		{`"StringEquals":{"aws:ResourceTag/team":"b"}`, "SendMessage", `{"QueueUrl":"q"}`, false},
		{`"StringEquals":{"aws:ResourceTag/team":"a"}`, "SendMessage", `{"QueueUrl":"dlq"}`, false},
		{`"StringEquals":{"aws:RequestTag/team":"b"}`, "TagQueue", `{"QueueUrl":"q","Tags":{"team":"b"}}`, true},
		{`"StringEquals":{"aws:RequestTag/team":"b"}`, "TagQueue", `{"QueueUrl":"q","Tags":{"team":"a"}}`, false},
		{`"StringEquals":{"aws:RequestTag/team":"b"}`, "CreateQueue", `{"QueueName":"tagged","tags":{"team":"b"}}`,
			true},
		{`"StringEquals":{"aws:RequestTag/team":"b"}`, "CreateQueue", `{"QueueName":"untagged"}`, false},
		{`"ForAllValues:StringEquals":{"aws:TagKeys":["team"]}`, "UntagQueue", `{"QueueUrl":"q","TagKeys":["team"]}`,
			true},
		{`"ForAllValues:StringEquals":{"aws:TagKeys":["team"]}`, "UntagQueue",
			`{"QueueUrl":"q","TagKeys":["team","cost"]}`, false},
	} {
		b.allow(t, `"Effect":"Allow","Action":"*","Resource":"*","Condition":{`+tc.condition+`}`)
		if got := as(t, s, bobsIdentity, tc.op, tc.input); (got == "") != tc.allowed {
			t.Errorf("%s: %s %s: %q", tc.condition, tc.op, tc.input, got)
		}
	}
}

// Tags that no queue can have are refused before any policy compares them. The answer says nothing about the queue.
func TestTagsAreCheckedBeforePoliciesSeeThem(t *testing.T) {
	t.Parallel()
	s, _, b := guarded(t)
	b.allow(t, `"Effect":"Deny","Action":"*","Resource":"*"`)
	many := make([]string, 51)
	for i := range many {
		many[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}
	wrong := map[string]string{
		`"k":"` + strings.Repeat("v", 257) + `"`: "Tag values may not exceed 256 characters in length.",
		`"` + strings.Repeat("k", 129) + `":"v"`: "Tag keys must be between 1 and 128 characters in length.",
		strings.Join(many, ","):                  "Too many tags added for queue %s.",
	}
	for tags, message := range wrong {
		for _, name := range []string{"q", "nobody"} {
			want := strings.ReplaceAll(message, "%s", name)
			inputs := map[string]string{
				"TagQueue":    `{"QueueUrl":"http://localhost/` + account + `/` + name + `","Tags":{` + tags + `}}`,
				"CreateQueue": `{"QueueName":"` + name + `","tags":{` + tags + `}}`,
			}
			for op, input := range inputs {
				if e := protocol.AsError(attempt(t, s, bobsIdentity, op, input)); e.Code != "InvalidParameterValue" ||
					e.Message != want {
					t.Errorf("%s of %s by a user without permission: %v, want %s", op, name, e, want)
				}
				if e := protocol.AsError(attempt(t, s, identity.Identity{}, op, input)); e.Code != "AccessDenied" ||
					strings.Contains(e.Message, "tag") {
					t.Errorf("%s of %s by an anonymous caller: %v", op, name, e)
				}
			}
		}
	}
	input := `{"QueueUrl":"q","TagKeys":["` + strings.Repeat("k", 129) + `"]}`
	if e := protocol.AsError(attempt(t, s, bobsIdentity, "UntagQueue", input)); e.Code != "InvalidParameterValue" {
		t.Errorf("UntagQueue by a user without permission: %v", e)
	}
}

// A policy from before policies were validated, which cannot be read, admits only the owner's root, who can replace it.
func TestUnreadablePolicy(t *testing.T) {
	t.Parallel()
	s, cat, b := guarded(t)
	n := catalog.Name{Account: account, Region: "us-east-1", Queue: "q"}
	err := cat.Change(t.Context(), func(tx *catalog.Tx) error {
		_, err := tx.Update(n, cat.Find(n).ID, func(q *catalog.Queue) error {
			q.Attributes.Policy = `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}],}`
			return nil
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.allow(t, `"Effect":"Allow","Action":"*","Resource":"*"`)
	root, other := identity.Root(account, "AKIA"), identity.Root("111111111111", "AKIB")
	url := `{"QueueUrl":"http://localhost/` + account + `/q"`
	for _, who := range []identity.Identity{bobsIdentity, other, {}} {
		if got := as(t, s, who, "SendMessage", url+`,"MessageBody":"m"}`); !strings.HasSuffix(got,
			"because no resource-based policy allows the sqs:sendmessage action") {
			t.Errorf("%s: %q", who.ARN, got)
		}
	}
	err = attempt(t, s, root, "AddPermission", url+`,"Label":"l","AWSAccountIds":["111111111111"],"Actions":["*"]}`)
	if e := protocol.AsError(err); e.Code != "InvalidAttributeValue" || !strings.Contains(e.Message, "line 1, column") {
		t.Errorf("a permission is added to it: %v", err)
	}
	if err := attempt(t, s, root, "SetQueueAttributes", url+`,"Attributes":{"Policy":""}}`); err != nil {
		t.Errorf("the root cannot remove it: %v", err)
	}
	if got := as(t, s, bobsIdentity, "SendMessage", url+`}`); got != "" {
		t.Errorf("it still applies: %s", got)
	}
}

// BenchmarkAuthorize measures the cost of authorization for a request.
func BenchmarkAuthorize(b *testing.B) {
	cat := newCatalog(b)
	own := identity.Root(account, "AKIA")
	n := catalog.Name{Account: account, Region: "us-east-1", Queue: "q"}
	var statements []string
	for range policy.MaxStatements - 1 {
		statements = append(statements,
			`{"Effect":"Allow","Principal":{"AWS":["333333333333","444444444444"]},"Action":["sqs:Send*","sqs:ReceiveMessage"],"Resource":"`+n.ARN()+`"}`)
	}
	statements = append(statements,
		`{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"`+n.ARN()+
			`","Condition":{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"},"DateGreaterThan":{"aws:CurrentTime":"2020-01-01T00:00:00Z"}}}`)
	large := `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
	wire := New(Options{Catalog: cat, Shard: &failingShard{}})
	must := func(op, input string) {
		if err := attempt(b, wire, own, op, input); err != nil {
			b.Fatal(err)
		}
	}
	must("CreateQueue", `{"QueueName":"q"}`)
	s := &Service{catalog: cat, authorizer: service.NewAuthorizer(nil, Rules, nil)}
	for _, tc := range []struct {
		name   string
		who    identity.Identity
		policy string
	}{{"owner", own, ""}, {"owner-large", own, large}, {"anonymous-large", identity.Identity{}, large}} {
		b.Run(tc.name, func(b *testing.B) {
			must("SetQueueAttributes", `{"QueueUrl":"q","Attributes":{"Policy":`+mustJSON(tc.policy)+`}}`)
			c := &protocol.Call{
				Region: "us-east-1", SourceIP: "10.20.30.40", UserAgent: "aws-sdk-go-v2/1.0", Identity: &tc.who,
			}
			r, err := s.resolve(c, n, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if err := s.authorize(c, r, tagging{}, "sqs:SendMessage"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
