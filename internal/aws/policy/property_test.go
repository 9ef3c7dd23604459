package policy_test

import (
	"encoding/json"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// The elements of random policies. The pools are small, so that the parts of policies and requests often meet.
var (
	anyAction = rapid.SampledFrom([]string{
		"*", "sqs:*", "sqs:SendMessage", "SQS:sendmessage", "sqs:Send*", "sqs:*Message", "sqs:?endMessage",
		"sqs:ReceiveMessage", "sqs:SetQueueAttributes", "sqs:ListQueues", "sts:AssumeRole",
	})
	anyResource = rapid.SampledFrom([]string{
		"*", queue1, "arn:aws:sqs:*:" + accountA + ":queue1", "arn:aws:sqs:*:" + accountA + ":queue?", "arn:aws:sqs:*",
		"arn:aws:sqs:*:queue1",
		"arn:aws:sqs:us-east-1:" + accountA + ":*e*1", "arn:aws:sqs:*:" + accountA + ":${aws:username}",
		"arn:aws:sqs:*:" + accountA + ":${aws:username}*",
	})
	anyPrincipal = rapid.SampledFrom([]string{
		"*", accountA, accountB, "arn:aws:iam::" + accountA + ":root", arnOf("bob"), arnOf("carol"), arnOf("eve"),
		arnOf("worker"), arnOf("farmer"),
		arnOf("sess"), arnOf("sessB"), arnOf("fed"),
	})
	anyCondition = rapid.SampledFrom([]string{
		`{"IpAddress":{"aws:SourceIp":"10.0.0.0/8"}}`,
		`{"NotIpAddress":{"aws:SourceIp":["10.1.0.0/16","2001:db8::1"]}}`,
		`{"DateLessThan":{"aws:CurrentTime":"2009-06-30T12:00:00Z"}}`,
		`{"DateGreaterThanEquals":{"AWS:CurrentTime":"2009-06-30T12:00:00Z"}}`,
		`{"NumericLessThan":{"aws:EpochTime":1246363200}}`, `{"NumericNotEquals":{"aws:EpochTime":"1246363200"}}`,
		`{"StringEquals":{"aws:username":["bob","eve"]}}`, `{"StringNotEquals":{"aws:username":"bob"}}`,
		`{"StringLike":{"aws:UserAgent":"aws-*"}}`,
		`{"StringNotLike":{"aws:UserAgent":["*cli*","b?b"]}}`,
		`{"StringEqualsIgnoreCaseIfExists":{"aws:username":"BOB"}}`,
		`{"Bool":{"aws:SecureTransport":true}}`, `{"BoolIfExists":{"aws:SecureTransport":"FALSE"}}`,
		`{"Null":{"aws:username":"true"}}`, `{"Null":{"aws:SourceIp":false}}`,
		`{"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:` + accountA + `:topic*"}}`,
		`{"ArnNotEquals":{"aws:SourceArn":"arn:aws:sns:*:topic1"}}`,
		`{"ForAllValues:StringEquals":{"aws:TagKeys":["env","team"]}}`,
		`{"ForAnyValue:StringLike":{"aws:TagKeys":["e*"]}}`,
		`{"ForAnyValue:StringNotEquals":{"aws:TagKeys":["env"]}}`,
		`{"ForAllValues:StringNotLike":{"aws:TagKeys":["e?v"]}}`, `{"StringEquals":{"aws:TagKeys":"env"}}`,
		`{"ForAnyValue:StringEqualsIfExists":{"aws:TagKeys":"env"}}`, `{"StringEquals":{"aws:PrincipalOrgID":"o-1"}}`,
		`{"StringNotEquals":{"aws:PrincipalOrgID":"o-1"}}`,
		`{"StringEquals":{"aws:username":"bob"},"IpAddress":{"aws:SourceIp":["10.1.2.3","192.168.0.0/16"]}}`,
	})
)

// document is a policy that can be divided and put together again.
type document struct {
	Version   string
	Statement []map[string]any
}

func (d *document) String() string {
	if d == nil {
		return ""
	}
	b, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func drawDocument(t *rapid.T, use policy.Use, effects ...string) *document {
	d := &document{Version: rapid.SampledFrom([]string{policy.Version2008, policy.Version2012}).Draw(t, "version")}
	for range rapid.IntRange(1, 3).Draw(t, "statements") {
		d.Statement = append(d.Statement, drawStatement(t, use, effects...))
	}
	return d
}

func drawStatement(t *rapid.T, use policy.Use, effects ...string) map[string]any {
	oneOf := func(name string) string {
		if rapid.IntRange(0, 3).Draw(t, "not "+name) == 0 {
			return "Not" + name
		}
		return name
	}
	st := map[string]any{"Effect": rapid.SampledFrom(effects).Draw(t, "effect")}
	st[oneOf("Action")] = rapid.SliceOfN(anyAction, 1, 2).Draw(t, "actions")
	if use != policy.ForTrust {
		// A NotResource with variables is AWS's least defined corner; the stories cover it.
		name := oneOf("Resource")
		resources := rapid.SliceOfN(anyResource, 1, 2).Draw(t, "resources")
		if name == "NotResource" {
			resources = []string{rapid.SampledFrom([]string{queue1, "arn:aws:sqs:*:" + accountA + ":queue2",
				"*"}).Draw(t, "resource")}
		}
		st[name] = resources
	}
	if use == policy.ForResource || use == policy.ForTrust {
		name := oneOf("Principal")
		switch rapid.IntRange(0, 6).Draw(t, "kind of principal") {
		case 0:
			st[name] = "*"
		case 1:
			st[name] = map[string]any{"Service": "sns.amazonaws.com"}
		case 2:
			st[name] = map[string]any{"Federated": callers["web"].Provider}
		default:
			st[name] = map[string]any{"AWS": rapid.SliceOfN(anyPrincipal, 1, 3).Draw(t, "principals")}
		}
	}
	if rapid.Bool().Draw(t, "conditional") {
		st["Condition"] = json.RawMessage(anyCondition.Draw(t, "condition"))
	}
	return st
}

// situation is a request with the documents of its policies.
type situation struct {
	request  policy.Request
	resource *document
	trust    bool
	identity []*document
	boundary *document
	session  []*document
}

func drawSituation(t *rapid.T, effects ...string) *situation {
	s := new(situation)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(callers)),
		func(n string) bool { return n == "worker" || n == "farmer" })
	s.request = policy.Request{
		Caller: callers[rapid.SampledFrom(names).Draw(t, "caller")],
		Action: rapid.SampledFrom([]string{
			"sqs:SendMessage", "sqs:SendMessage", "sqs:ReceiveMessage", "sqs:SetQueueAttributes", "sqs:ListQueues",
		}).Draw(t, "action"),
		Resource: "arn:aws:sqs:us-east-1:" + accountA + ":" +
			rapid.SampledFrom([]string{"queue1", "queue1", "bob", "bobs", "*"}).Draw(t, "queue"),
		Owner: accountA, Rules: sqs,
		Facts: policy.Facts{
			Time: time.Unix(rapid.SampledFrom([]int64{1246363199, 1246363200, 1246363201}).Draw(t, "time"),
				0).UTC(),
			SecureTransport: rapid.Bool().Draw(t, "secure"),
			UserAgent:       rapid.SampledFrom([]string{"", "aws-cli/1", "bob", "aws-sdk"}).Draw(t, "agent"),
			TagKeys:         rapid.SliceOfN(rapid.SampledFrom([]string{"env", "team", "x"}), 0, 2).Draw(t, "tags"),
		},
	}
	if ip := rapid.SampledFrom([]string{"", "10.1.2.3", "10.2.3.4", "192.168.1.1", "2001:db8::1"}).Draw(t,
		"address"); ip != "" {
		s.request.Facts.SourceIP = netip.MustParseAddr(ip)
	}
	if s.request.Caller.Kind == policy.Service {
		s.request.Facts.SourceARN = "arn:aws:sns:us-east-1:" + accountA + ":topic1"
	}
	if rapid.IntRange(0, 3).Draw(t, "with resource policy") > 0 {
		use := policy.ForResource
		if s.trust = rapid.IntRange(0, 4).Draw(t, "trust") == 0; s.trust {
			use, s.request.Action = policy.ForTrust, "sts:AssumeRole"
		}
		s.resource = drawDocument(t, use, effects...)
	}
	for range rapid.IntRange(0, 2).Draw(t, "identity policies") {
		s.identity = append(s.identity, drawDocument(t, policy.ForIdentity, effects...))
	}
	k := s.request.Caller.Kind
	if k != policy.Account && rapid.IntRange(0, 3).Draw(t, "with boundary") == 0 {
		s.boundary = drawDocument(t, policy.ForIdentity, effects...)
	}
	if k == policy.AssumedRole || k == policy.FederatedUser {
		for range rapid.IntRange(0, 2).Draw(t, "session policies") {
			s.session = append(s.session, drawDocument(t, policy.ForSession, effects...))
		}
	}
	return s
}

// ask parses the documents and decides.
func (s *situation) ask(t *rapid.T) policy.Decision {
	r := s.parsed(t)
	return policy.Decide(&r)
}

func (s *situation) parsed(t *rapid.T) policy.Request {
	r := s.request
	read := func(use policy.Use, d *document) *policy.Policy {
		if d == nil {
			return nil
		}
		p, err := policy.Parse(use, d.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, d)
		}
		return p
	}
	use := policy.ForResource
	if s.trust {
		use = policy.ForTrust
	}
	r.ResourcePolicy, r.Boundary = read(use, s.resource), read(policy.ForIdentity, s.boundary)
	for _, d := range s.identity {
		r.Identity = append(r.Identity, read(policy.ForIdentity, d))
	}
	for _, d := range s.session {
		r.Session = append(r.Session, read(policy.ForSession, d))
	}
	return r
}

// documents returns the existing documents, each with its use.
func (s *situation) documents() map[*document]policy.Use {
	all := make(map[*document]policy.Use)
	for _, d := range s.identity {
		all[d] = policy.ForIdentity
	}
	for _, d := range s.session {
		all[d] = policy.ForSession
	}
	if s.boundary != nil {
		all[s.boundary] = policy.ForIdentity
	}
	if s.resource != nil {
		all[s.resource] = policy.ForResource
		if s.trust {
			all[s.resource] = policy.ForTrust
		}
	}
	return all
}

func TestDecisionsAreThoseOfTheModel(t *testing.T) {
	seen := make(map[policy.Result]int)
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t, "Allow", "Allow", "Deny")
		m := &model{request: &s.request, resource: s.resource.String(), trust: s.trust, boundary: s.boundary.String()}
		for _, d := range s.identity {
			m.identity = append(m.identity, d.String())
		}
		for _, d := range s.session {
			m.session = append(m.session, d.String())
		}
		got, want := s.ask(t), m.decide()
		seen[got.Result]++
		if got.Result != want {
			r := s.parsed(t)
			t.Fatalf("got %s, the model says %s\nresource %s\nidentity %v\nboundary %s\nsession %v\n%s",
				got.Result, want, m.resource, m.identity, m.boundary, m.session, policy.Explain(&r))
		}
	})
	if len(seen) < 3 {
		t.Errorf("the situations are not varied enough: %v", seen)
	}
}

func TestDenyNeverWidens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t, "Allow", "Allow", "Deny")
		before := s.ask(t)
		for d, use := range s.documents() {
			extra := drawStatement(t, use, "Deny")
			at := rapid.IntRange(0, len(d.Statement)).Draw(t, "place")
			d.Statement = slices.Insert(d.Statement, at, extra)
			if after := s.ask(t); after.Allowed() && !before.Allowed() {
				t.Fatalf("an additional Deny allows a refused request: %v", extra)
			}
			d.Statement = slices.Delete(d.Statement, at, at+1)
		}
	})
}

func TestOrderNeverMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t, "Allow", "Allow", "Deny")
		before := s.ask(t)
		for d := range s.documents() {
			d.Statement = rapid.Permutation(d.Statement).Draw(t, "statements")
		}
		s.identity = rapid.Permutation(s.identity).Draw(t, "identity policies")
		s.session = rapid.Permutation(s.session).Draw(t, "session policies")
		if after := s.ask(t); after.Result != before.Result {
			t.Fatalf("in another order %s, before %s", after.Result, before.Result)
		}
	})
}

// Only a matching Allow, or owning the resource, allows a request.
func TestNothingIsAllowedWithoutAllow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t, "Allow", "Deny")
		r := s.parsed(t)
		x := policy.Explain(&r)
		if !x.Allowed() {
			return
		}
		if x.Policy == nil {
			if r.Caller.Kind != policy.Account || r.Caller.Account != r.Owner || x.By != policy.ByOwner {
				t.Fatalf("allowed by no policy: %s", x)
			}
			return
		}
		if st := x.Policy.Statement(x.Statement); st.Effect != policy.Allow {
			t.Fatalf("allowed by a Deny: %s", x)
		}
		if !slices.ContainsFunc(x.Traces, func(tr policy.Trace) bool {
			return tr.Policy == x.Policy && tr.Statement.Index == x.Statement && tr.Matched
		}) {
			t.Fatalf("allowed by a statement that does not match: %s", x)
		}
		if slices.ContainsFunc(x.Traces, func(tr policy.Trace) bool {
			return tr.Matched && tr.Statement.Effect == policy.Deny && x.By != policy.ByOwner
		}) && r.Caller.Kind != policy.Anonymous && r.Caller.Kind != policy.Service &&
			r.Caller.Kind != policy.WebIdentity {
			t.Fatalf("allowed against a Deny: %s", x)
		}
	})
}

// Explain reaches the same verdict as Decide, and the same explanation each time.
func TestExplanationsAreDecisions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSituation(t, "Allow", "Deny")
		r := s.parsed(t)
		d, x := policy.Decide(&r), policy.Explain(&r)
		if d != x.Decision || x.String() != policy.Explain(&r).String() {
			t.Fatalf("decided %v, explained %s", d, x)
		}
		for _, tr := range x.Traces {
			if tr.Matched != (tr.Element == "") || tr.Reason() == "" {
				t.Fatalf("not explained: %+v", tr)
			}
		}
		if !d.Allowed() && d.Message(&r) == "" {
			t.Fatal("refused without an explanation")
		}
	})
}
