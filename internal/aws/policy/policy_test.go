package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

func TestPolicyKnowsItself(t *testing.T) {
	const text = `{
  "Version": "2012-10-17",
  "Id": "é",
  "Statement": [
    {"Sid": "first", "Effect": "Allow", "Principal": {"AWS": ["arn:aws:iam::111122223333:user/bob", "111122223333"]}, "Action": "sqs:*", "Resource": "*"},
    {"Effect": "Deny", "Principal": {"AWS": ["arn:aws:iam::111122223333:user/bob", "arn:aws:iam::444455556666:role/x/y"]},
     "Action": "sqs:*", "Resource": "arn:aws:sqs:*:*:${aws:username, 'x'}", "Condition": {"StringLike": {"AWS:UserAgent": "${aws:PrincipalTag/Team}*"}}}
  ]
}`
	p := parse(t, policy.ForResource, text)
	if p.String() != text || p.Version() != policy.Version2012 || p.ID() != "é" || p.Len() != 2 ||
		p.Use() != policy.ForResource {
		t.Errorf("%s, version %s, id %s, %d statements", p, p.Version(), p.ID(), p.Len())
	}
	if st := p.Statement(0); st.Sid != "first" || st.Effect != policy.Allow ||
		st.Start != (policy.Position{Line: 5, Column: 5}) || st.End.Line != 5 {
		t.Errorf("first: %+v", st)
	}
	if st := p.Statement(1); st.Sid != "" || st.Effect != policy.Deny ||
		st.Start != (policy.Position{Line: 6, Column: 5}) || st.End.Line != 7 {
		t.Errorf("second: %+v", st)
	}
	if keys := p.Keys(); !slices.Equal(keys, []string{"aws:username", "AWS:UserAgent", "aws:PrincipalTag/Team"}) {
		t.Errorf("keys: %v", keys)
	}
	if e := p.Entities(); !slices.Equal(e, []string{arnOf("bob"), "arn:aws:iam::444455556666:role/x/y"}) {
		t.Errorf("entities: %v", e)
	}
	if n := p.Named("mine"); n.Name() != "mine" || p.Name() != "" || n.String() != text {
		t.Errorf("named %q, before %q", n.Name(), p.Name())
	}
	if v := parse(t, policy.ForIdentity,
		`{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`).Version(); v != policy.Version2008 {
		t.Errorf("without a version it is of %s", v)
	}
}

// A document can be shown with other names of its principals; nothing else in it changes.
func TestRenamed(t *testing.T) {
	const text = "{\"Statement\": [{\"Effect\":\"Allow\", \"Principal\": {\"AWS\": [\"%s\",\n \"111122223333\", \"%s\"]}, \"Action\": \"sts:AssumeRole\",\n" +
		"\"Condition\": {\"ArnEquals\": {\"aws:PrincipalArn\": \"" + "arn:aws:iam::111122223333:user/bob" +
		"\"}}},\n {\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"%s\"},\"Action\":\"sts:TagSession\"}]}"
	in := func(bob, worker string) string { return fmt.Sprintf(text, bob, worker, bob) }
	p := parse(t, policy.ForTrust, in(arnOf("bob"), arnOf("worker")))
	names := map[string]string{arnOf("bob"): "AIDAABCDEFGHIJKLMNOPQ", arnOf("worker"): arnOf("worker")}
	rename := func(arn string) string { return names[arn] }
	if got, want := p.Renamed(rename), in("AIDAABCDEFGHIJKLMNOPQ", arnOf("worker")); got != want {
		t.Errorf("renamed:\n%s\nwant\n%s", got, want)
	}
	gone := parse(t, policy.ForTrust, p.Renamed(rename))
	if ids := gone.IDs(); !slices.Equal(ids, []string{"AIDAABCDEFGHIJKLMNOPQ", "AIDAABCDEFGHIJKLMNOPQ"}) ||
		len(p.IDs()) > 0 {
		t.Errorf("ids: %v, and before %v", ids, p.IDs())
	}
}

// Binding returns another policy; the shared one does not change.
func TestBindLeavesTheOriginal(t *testing.T) {
	p := parse(t, policy.ForResource,
		`{"Statement":{"Effect":"Allow","Principal":{"AWS":["`+arnOf("bob")+`","`+arnOf("worker")+
			`"]},"Action":"*","Resource":"*"}}`)
	bound := p.Bind(map[string]string{arnOf("bob"): "AIDAOLD", arnOf("worker"): "AROAOLD"})
	for _, name := range []string{"bob", "sess"} {
		r := policy.Request{
			Caller: callers[name], Action: "sqs:SendMessage", Resource: queue1, Owner: accountA, Rules: sqs,
			ResourcePolicy: bound,
		}
		if policy.Decide(&r).Allowed() {
			t.Errorf("%s counts as a deleted principal", name)
		}
		if r.ResourcePolicy = p; !policy.Decide(&r).Allowed() {
			t.Errorf("the original has changed for %s", name)
		}
	}
}

// Many goroutines read a policy at once. This test is for the race detector.
func TestManyReadersAtOnce(t *testing.T) {
	requests := benchmarkRequests(t)
	var readers sync.WaitGroup
	for range 4 {
		for _, r := range requests {
			readers.Go(func() {
				for range 20 {
					if mine := *r; !policy.Decide(&mine).Allowed() || !policy.Explain(&mine).Allowed() {
						t.Error("refused")
					}
				}
			})
		}
	}
	readers.Wait()
}

func TestRefusalsAreWordedAsAWSDoes(t *testing.T) {
	const send = `{"Statement":{"Effect":"%s","Action":"sqs:SendMessage","Resource":"*"%s}}`
	identity := func(effect string) []*policy.Policy {
		return []*policy.Policy{parse(t, policy.ForIdentity, fmt.Sprintf(send, effect, ""))}
	}
	session := func(effect, action string) []*policy.Policy {
		return []*policy.Policy{parse(t, policy.ForSession,
			strings.Replace(fmt.Sprintf(send, effect, ""), "SendMessage", action, 1))}
	}
	resource := func(effect string) *policy.Policy {
		return parse(t, policy.ForResource, fmt.Sprintf(send, effect, `,"Principal":"*"`))
	}
	const prefix = " is not authorized to perform: sqs:sendmessage on resource: " + queue1
	for _, tc := range []struct {
		caller string
		set    func(r *policy.Request)
		want   string
	}{
		{"bob", func(*policy.Request) {},
			"User: " + arnOf("bob") + prefix + " because no identity-based policy allows the sqs:sendmessage action"},
		{"bob", func(r *policy.Request) { r.Identity = identity("Deny") },
			"User: " + arnOf("bob") + prefix + " with an explicit deny in an identity-based policy"},
		{"bob", func(r *policy.Request) { r.Identity, r.ResourcePolicy = identity("Allow"), resource("Deny") },
			"User: " + arnOf("bob") + prefix + " with an explicit deny in a resource-based policy"},
		{"bob", func(r *policy.Request) {
			r.Identity = identity("Allow")
			r.Boundary = parse(t, policy.ForIdentity,
				`{"Statement":{"Effect":"Allow","Action":"sns:*","Resource":"*"}}`)
		}, "User: " + arnOf("bob") + prefix + " because no permissions boundary allows the sqs:sendmessage action"},
		{"bob", func(r *policy.Request) { r.Boundary = identity("Deny")[0] },
			"User: " + arnOf("bob") + prefix + " with an explicit deny in a permissions boundary"},
		{"sess", func(r *policy.Request) {
			r.Identity, r.Session = identity("Allow"),
				session("Allow", "ReceiveMessage")
		},
			"User: " + arnOf("sess") + prefix + " because no session policy allows the sqs:sendmessage action"},
		{"sess", func(r *policy.Request) { r.Session = session("Deny", "*") },
			"User: " + arnOf("sess") + prefix + " with an explicit deny in a session policy"},
		{"fed", func(r *policy.Request) { r.Identity = identity("Allow") },
			"User: " + arnOf("fed") + prefix + " because no session policy allows the sqs:sendmessage action"},
		{"eve", func(r *policy.Request) { r.Identity = identity("Allow") },
			"User: " + arnOf("eve") + prefix + " because no resource-based policy allows the sqs:sendmessage action"},
		{"eve", func(r *policy.Request) { r.ResourcePolicy = resource("Allow") },
			"User: " + arnOf("eve") + prefix + " because no identity-based policy allows the sqs:sendmessage action"},
		{"anon", func(*policy.Request) {},
			"User: anonymous" + prefix + " because no resource-based policy allows the sqs:sendmessage action"},
		{"sns", func(*policy.Request) {},
			"User: sns.amazonaws.com" + prefix + " because no resource-based policy allows the sqs:sendmessage action"},
		{"bob", func(r *policy.Request) {
			r.Action, r.Rules, r.Resource = "sts:AssumeRole", nil, arnOf("worker")
			r.ResourcePolicy = parse(t, policy.ForTrust,
				`{"Statement":{"Effect":"Allow","Principal":{"AWS":"444455556666"},"Action":"sts:AssumeRole"}}`)
		}, "User: " + arnOf("bob") + " is not authorized to perform: sts:AssumeRole on resource: " + arnOf("worker")},
		{"bob", func(r *policy.Request) { r.Action, r.Rules = "iam:CreateUser", nil },
			"User: " + arnOf("bob") + " is not authorized to perform: iam:CreateUser on resource: " + queue1 +
				" because no identity-based policy allows the iam:CreateUser action"},
	} {
		r := &policy.Request{
			Caller: callers[tc.caller], Action: "sqs:SendMessage", Resource: queue1, Owner: accountA, Rules: sqs,
		}
		tc.set(r)
		d := policy.Decide(r)
		if got := d.Message(r); d.Allowed() || got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.caller, got, tc.want)
		}
	}
}

// A policy that is bound to a user still means that user after a rename, and never another user who gets the old name.
func TestRenamedPrincipals(t *testing.T) {
	p := parse(t, policy.ForResource, fmt.Sprintf(
		`{"Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"},{"Effect":"Deny","Principal":{"AWS":[%q,%q]},"Action":"*","Resource":"*"}]}`,
		arnOf("bob"), arnOf("worker"))).Bind(map[string]string{arnOf("bob"): "AIDABOB", arnOf("worker"): "AROAWORKER"})
	renamed, another := user(accountA, "x/innocent"), user(accountA, "bob")
	renamed.UserID, another.UserID = "AIDABOB", "AIDAANOTHER"
	session, otherSession := roleSession(accountA, "renamed", "s1"), roleSession(accountA, "worker", "s1")
	session.IssuerID, otherSession.IssuerID = "AROAWORKER", "AROAANOTHER"
	federated := callers["fed"]
	federated.Issuer = renamed.ARN
	for name, tc := range map[string]struct {
		caller policy.Caller
		want   policy.Result
	}{
		"bob": {callers["bob"], policy.ExplicitlyDenied}, "bob renamed": {renamed, policy.ExplicitlyDenied},
		"another bob":                           {another, policy.Allowed},
		"a session of the role":                 {session, policy.ExplicitlyDenied},
		"a session of another role of its name": {otherSession, policy.Allowed},
		"a session of bob renamed":              {federated, policy.ExplicitlyDenied},
	} {
		r := &policy.Request{
			Caller: tc.caller, Action: "sqs:SendMessage", Resource: queue1, Owner: accountA, Rules: sqs,
			ResourcePolicy: p,
		}
		if got := policy.Decide(r).Result; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// A mistake in the server must not apply a policy to another use.
func TestPoliciesKeepToTheirUse(t *testing.T) {
	p := parse(t, policy.ForSession, `{"Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}`)
	for name, r := range map[string]*policy.Request{
		"identity": {Identity: []*policy.Policy{p}},
		"boundary": {Boundary: p},
		"resource": {ResourcePolicy: p},
		"session":  {Session: []*policy.Policy{parse(t, policy.ForIdentity, p.String())}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: evaluated", name)
				}
			}()
			policy.Decide(r)
		}()
	}
}

// Nothing is assumed about a request's missing facts.
func TestZeroRequestIsRefused(t *testing.T) {
	if d := policy.Decide(new(policy.Request)); d.Allowed() {
		t.Errorf("got %+v", d)
	}
	r := &policy.Request{Action: "sqs:SendMessage", Resource: queue1, Owner: accountA, Rules: sqs}
	r.ResourcePolicy = parse(t, policy.ForResource,
		`{"Statement":{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*","Condition":{"DateLessThan":{"aws:CurrentTime":"2009"}}}}`)
	if policy.Decide(r).Allowed() {
		t.Error("a missing time counts as an early one")
	}
	r = &policy.Request{
		Caller: policy.Caller{Kind: policy.Account}, Action: "sqs:SendMessage", Resource: queue1, Rules: sqs,
	}
	if policy.Decide(r).Allowed() {
		t.Error("a missing account equals the owner's, which is also missing")
	}
}

func TestExplanation(t *testing.T) {
	r := &policy.Request{
		Caller: callers["bob"], Action: "sqs:SendMessage", Resource: queue1, Owner: accountA, Rules: sqs,
	}
	r.Identity = []*policy.Policy{parse(t, policy.ForIdentity, `{"Statement":[
		{"Sid":"receive","Effect":"Allow","Action":"sqs:ReceiveMessage","Resource":"*"},
		{"Effect":"Allow","Action":"sqs:*","Resource":"*","Condition":{"IpAddress":{"aws:SourceIp":["10.0.0.0/8","192.168.0.0/16"]}}}]}`).Named("Workers")}
	r.ResourcePolicy = parse(t, policy.ForResource, `{"Statement":[
		{"Sid":"no","Effect":"Deny","Principal":{"AWS":"111122223333"},"Action":"sqs:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":false}}},
		{"Sid":"yes","Effect":"Allow","Principal":{"AWS":"444455556666"},"Action":"sqs:*","Resource":"*"}]}`)
	x := policy.Explain(r)
	const want = `explicitDeny by statement "no" of the resource-based policy
  identity-based policy, statement "receive" of Workers (Allow, line 2) does not apply: Action does not name sqs:SendMessage
  identity-based policy, statement 2 of Workers (Allow, line 3) does not apply: IpAddress aws:SourceIp is not met: it wants 10.0.0.0/8 or 192.168.0.0/16, the request has none
  resource-based policy, statement "no" (Deny, line 2) applies: Action, Resource and all conditions match
  resource-based policy, statement "yes" (Allow, line 3) does not apply: Principal does not name arn:aws:iam::111122223333:user/bob
`
	if x.String() != want {
		t.Errorf("got\n%s\nwant\n%s", x, want)
	}
	if !slices.Equal(x.Missing, []string{"aws:SourceIp"}) {
		t.Errorf("missing: %v", x.Missing)
	}
}
