package access_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

const (
	owner = "111122223333"
	other = "444455556666"
	queue = "arn:aws:sqs:us-east-1:" + owner + ":queue1"
)

var (
	rules = &policy.Rules{
		Vendor:    "sqs",
		Actions:   []string{"sqs:SendMessage", "sqs:DeleteQueue", "sqs:SetQueueAttributes"},
		OwnerOnly: []string{"sqs:DeleteQueue", "sqs:SetQueueAttributes"},
		Repair:    []string{"sqs:SetQueueAttributes"},
		LowerCase: true,
	}
	ownRoot   = identity.Root(owner, "AKIAOWNER")
	otherRoot = identity.Root(other, "AKIAOTHER")
	bob       = identity.Identity{
		Caller: policy.Caller{
			Kind: policy.User, Account: owner, ARN: "arn:aws:iam::" + owner + ":user/bob", UserID: "AIDABOB",
		},
	}
	eve = identity.Identity{
		Caller: policy.Caller{
			Kind: policy.User, Account: other, ARN: "arn:aws:iam::" + other + ":user/eve", UserID: "AIDAEVE",
		},
	}
	nobody identity.Identity
)

// details describe a request on queue1, and count how often they are read.
type details struct {
	facts policy.Facts
	asked int
}

func (d *details) ARN() string         { d.asked++; return queue }
func (d *details) Facts() policy.Facts { d.asked++; return d.facts }

// users are the principals of a test, with their policies, by ARN.
type users map[string]string

func (u users) Principal(id identity.Identity) (access.Principal, bool) {
	text, known := u[id.ARN]
	p := access.Principal{Caller: policy.Caller{Kind: policy.User, Account: id.Account, ARN: id.ARN, UserID: id.UserID}}
	if text != "" {
		parsed, err := policy.Parse(policy.ForIdentity, text)
		if err != nil {
			panic(err)
		}
		p.Identity = []*policy.Policy{parsed}
	}
	return p, known
}

func statement(effect, principal, action, more string) string {
	if principal != "" {
		principal = `"Principal":"*",`
	}
	return `{"Version":"2012-10-17","Statement":{"Effect":"` + effect + `",` + principal + `"Action":"` + action +
		`","Resource":"*"` + more + `}}`
}

// The decisions, and the errors of refused callers.
func TestDecide(t *testing.T) {
	everybody := statement("Allow", "*", "sqs:SendMessage", "")
	nobodyAtAll := statement("Deny", "*", "sqs:*", "")
	broken := `{"Statement":[` // as it may have been stored once
	c := access.New(users{bob.ARN: statement("Allow", "", "sqs:*", ""), eve.ARN: ""})
	const (
		allowed    = ""
		noIdentity = "because no identity-based policy allows the %s action"
		noResource = "because no resource-based policy allows the %s action"
		denied     = "with an explicit deny in a resource-based policy"
		noReason   = "on resource: " + queue
	)
	stranger := identity.Identity{
		Caller: policy.Caller{
			Kind: policy.User, Account: owner, ARN: "arn:aws:iam::" + owner + ":user/gone", UserID: "AIDAGONE",
		},
	}
	for _, tc := range []struct {
		who    identity.Identity
		policy string
		action string
		why    string
	}{
		{ownRoot, "", "sqs:SendMessage", allowed},
		{ownRoot, everybody, "sqs:DeleteQueue", allowed},
		{ownRoot, nobodyAtAll, "sqs:SendMessage", denied},
		{ownRoot, nobodyAtAll, "sqs:SetQueueAttributes", allowed},
		{ownRoot, broken, "sqs:SendMessage", allowed},
		{otherRoot, "", "sqs:SendMessage", noResource},
		{otherRoot, everybody, "sqs:SendMessage", allowed},
		{otherRoot, statement("Allow", "*", "sqs:*", ""), "sqs:DeleteQueue", noResource},
		{otherRoot, nobodyAtAll, "sqs:SendMessage", noResource}, // or it would learn that the queue exists
		{otherRoot, broken, "sqs:SendMessage", noResource},
		{nobody, "", "sqs:SendMessage", noResource},
		{nobody, everybody, "sqs:SendMessage", allowed},
		{nobody, everybody, "sqs:DeleteQueue", noResource},
		{nobody, nobodyAtAll, "sqs:SendMessage", noResource},
		{nobody, broken, "sqs:SendMessage", noResource},
		{bob, "", "sqs:SendMessage", allowed},
		{bob, nobodyAtAll, "sqs:SendMessage", denied},
		{bob, broken, "sqs:SendMessage", noResource},
		{eve, "", "sqs:SendMessage", noResource},
		{eve, everybody, "sqs:SendMessage", noIdentity},
		{stranger, everybody, "sqs:SendMessage", noReason},
		{stranger, "", "sqs:SendMessage", noReason},
	} {
		d := c.Decide(&access.Request{
			Caller: tc.who, Rules: rules, Action: tc.action, Owner: owner, Policy: tc.policy, Details: &details{},
		})
		got := allowed
		if d != nil {
			got = d.Error()
		}
		name := tc.who.ARN
		if name == "" {
			name = "anonymous"
		}
		action := strings.ToLower(tc.action)
		want := strings.ReplaceAll(tc.why, "%s", action)
		if (got == allowed) != (want == allowed) || !strings.HasSuffix(got, want) ||
			got != allowed &&
				!strings.HasPrefix(got, "User: "+name+" is not authorized to perform: "+action+" on resource: "+queue) {
			t.Errorf("%s, %s, %s:\ngot  %q\nwant %q", name, tc.policy, tc.action, got, want)
		}
	}
	if d := access.New(nil).Decide(&access.Request{
		Caller: bob, Rules: rules, Action: "sqs:SendMessage", Owner: owner, Policy: everybody, Details: &details{},
	}); d == nil {
		t.Error("bob is allowed where there are no users")
	}
	if d := c.Decide(&access.Request{
		Caller: identity.Identity{Caller: policy.Caller{Kind: policy.Account}}, Rules: rules, Action: "sqs:SendMessage",
		Details: &details{},
	}); d == nil {
		t.Error("no account owns a resource without account")
	}
}

// Facts are read only if there is something to decide.
func TestOwnerIsNotQuestioned(t *testing.T) {
	c := access.New(nil)
	d := &details{}
	r := &access.Request{Caller: ownRoot, Rules: rules, Action: "sqs:SendMessage", Owner: owner, Details: d}
	if n := testing.AllocsPerRun(100, func() {
		if c.Decide(r) != nil {
			t.Error("refused")
		}
	}); n != 0 || d.asked != 0 {
		t.Errorf("%v allocations, %d questions", n, d.asked)
	}
	r.Policy = statement("Allow", "*", "sqs:SendMessage", "")
	if c.Decide(r) != nil || d.asked != 2 {
		t.Errorf("with a policy, %d reads", d.asked)
	}
}

// A policy takes effect at once when it changes, however many policies there are and however many requests are
// authorized concurrently.
func TestPoliciesAreNeverStale(t *testing.T) {
	c := access.New(nil)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 600 { // of 8 KiB each, more than the cache holds
				effect := []string{"Allow", "Deny"}[(i+worker)%2]
				pad := strings.Repeat(" ", 8000) + fmt.Sprint(i%300)
				text := statement(effect, "*", "sqs:SendMessage", `,"Sid":"`+pad+`"`)
				d := c.Decide(&access.Request{
					Rules: rules, Action: "sqs:SendMessage", Owner: owner, Policy: text, Details: &details{},
				})
				if (d == nil) != (effect == "Allow") {
					t.Errorf("%s: %v", effect, d)
				}
			}
		})
	}
	wg.Wait()
}

func TestFactsReachConditions(t *testing.T) {
	c := access.New(nil)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	here := policy.Facts{
		Time: now, SourceIP: netip.MustParseAddr("10.52.176.9"), SecureTransport: true, UserAgent: "agent/1",
	}
	for condition, allowed := range map[string]bool{
		`"IpAddress":{"aws:SourceIp":"10.52.176.0/24"}`:             true,
		`"IpAddress":{"aws:SourceIp":"10.52.177.0/24"}`:             false,
		`"DateLessThan":{"aws:CurrentTime":"2026-01-02T03:04:06Z"}`: true,
		`"DateLessThan":{"aws:CurrentTime":"2026-01-02T03:04:05Z"}`: false,
		`"Bool":{"aws:SecureTransport":"true"}`:                     true,
		`"StringEquals":{"aws:principaltype":"Account"}`:            true,
		`"StringEquals":{"aws:userid":"` + other + `"}`:             true,
		`"ArnEquals":{"aws:PrincipalArn":"` + otherRoot.ARN + `"}`:  true,
		`"StringEquals":{"aws:PrincipalAccount":"` + owner + `"}`:   false,
	} {
		text := statement("Allow", "*", "sqs:SendMessage", `,"Condition":{`+condition+`}`)
		d := c.Decide(&access.Request{
			Caller: otherRoot, Rules: rules, Action: "sqs:SendMessage", Owner: owner, Policy: text,
			Details: &details{facts: here},
		})
		if (d == nil) != allowed {
			t.Errorf("%s: %v", condition, d)
		}
	}
}

// The reason for the operator says more than the error for the caller.
func TestReason(t *testing.T) {
	c := access.New(nil)
	for text, want := range map[string]string{
		"": "no resource-based policy allows it",
		statement("Allow", "*", "sqs:DeleteQueue", ""): "no resource-based policy allows it",
		statement("Deny", "*", "sqs:*", ""):            "statement 1 of the resource-based policy",
		statement("Deny", "*", "sqs:*",
			`,"Sid":"Not on Sundays"`): `statement "Not on Sundays" of the resource-based policy`,
	} {
		d := c.Decide(&access.Request{
			Caller: otherRoot, Rules: rules, Action: "sqs:SendMessage", Owner: owner, Policy: text, Details: &details{},
		})
		if denial, ok := errors.AsType[*access.Denial](d); !ok || denial.Reason() != want {
			t.Errorf("%s: %v, want %s", text, d, want)
		} else if !strings.HasSuffix(d.Error(), "because no resource-based policy allows the sqs:sendmessage action") {
			t.Errorf("%s: the caller gets %s", text, d)
		}
	}
}

// A service is known by its name alone, and has the permissions that the resource's policy gives it for the account on
// whose behalf it acts.
func TestService(t *testing.T) {
	t.Parallel()
	d := access.New(users{})
	topic := func(account string) *details {
		return &details{
			facts: policy.Facts{SourceARN: "arn:aws:sns:us-east-1:" + account + ":t", SourceAccount: account},
		}
	}
	const allow = `{"Statement":{"Effect":"Allow","Principal":%s,"Action":"sqs:SendMessage","Resource":"*","Condition":{%s}}}`
	for _, tc := range []struct {
		principal, condition string
		allowed              bool
	}{
		{`{"Service":"sns.amazonaws.com"}`, `"ArnEquals":{"aws:SourceArn":"arn:aws:sns:*:` + owner + `:t"}`, true},
		{`{"Service":"sns.amazonaws.com"}`, `"StringEquals":{"aws:SourceAccount":"` + other + `"}`, false},
		{`"*"`, `"StringEquals":{"AWS:SourceOwner":"` + owner + `"}`, true},
		{`{"Service":"cloudwatch.amazonaws.com"}`, ``, false},
		{`{"AWS":"` + owner + `"}`, ``, false},
	} {
		r := access.Request{
			Caller: identity.Identity{Caller: policy.Caller{Kind: policy.Service, Service: "sns.amazonaws.com"}},
			Rules:  rules,
			Action: "sqs:SendMessage", Owner: owner, Policy: fmt.Sprintf(allow, tc.principal, tc.condition),
			Details: topic(owner),
		}
		if err := d.Decide(&r); (err == nil) != tc.allowed {
			t.Errorf("%s, %s: %v", tc.principal, tc.condition, err)
		}
		r.Policy = ""
		if err := d.Decide(&r); err == nil ||
			!strings.Contains(err.Error(), "User: sns.amazonaws.com is not authorized") {
			t.Errorf("without a policy: %v", err)
		}
	}
}
