package policy_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// benchmarkPolicy is a queue policy of the maximum size: 20 statements, 50 principals, 10 conditions. The last
// statement applies to bob.
func benchmarkPolicy(tb testing.TB) *policy.Policy {
	var statements []string
	for i := range 19 {
		condition := ""
		if i < 9 {
			condition = fmt.Sprintf(`,"Condition":{"IpAddress":{"aws:SourceIp":["10.%d.0.0/16","2001:db8:%d::/48"]}}`,
				i, i)
		}
		statements = append(statements, fmt.Sprintf(
			`{"Sid":"s%d","Effect":"%s","Principal":{"AWS":["1234567890%02d","arn:aws:iam::111122223333:user/user%d"]},"Action":["sqs:Send*","sqs:ReceiveMessage"],"Resource":"arn:aws:sqs:*:111122223333:queue1"%s}`,
			i, []string{"Allow", "Deny"}[i%2], i, i, condition))
	}
	statements = append(statements,
		`{"Sid":"bob","Effect":"Allow","Principal":{"AWS":"arn:aws:iam::111122223333:user/bob"},"Action":"sqs:SendMessage","Resource":"arn:aws:sqs:us-east-1:111122223333:queue1","Condition":{"StringLike":{"aws:UserAgent":"aws-*"}}}`)
	return parse(tb, policy.ForResource,
		fmt.Sprintf(`{"Version":"2012-10-17","Statement":[%s]}`, strings.Join(statements, ",")))
}

func parse(tb testing.TB, use policy.Use, text string) *policy.Policy {
	tb.Helper()
	p, err := policy.Parse(use, text)
	if err != nil {
		tb.Fatalf("%v\n%s", err, text)
	}
	return p
}

// benchmarkRequests measure the cost of authorization on the important paths.
func benchmarkRequests(tb testing.TB) map[string]*policy.Request {
	request := func(c policy.Caller) *policy.Request {
		return &policy.Request{
			Caller: c, Action: "sqs:SendMessage", Resource: queue1, Owner: accountA, Rules: sqs,
			Facts: policy.Facts{
				Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), SourceIP: netip.MustParseAddr("10.20.30.40"),
				UserAgent: "aws-sdk-go-v2/1.0", SecureTransport: true, Region: "us-east-1",
			},
		}
	}
	all := map[string]*policy.Request{"owner": request(root(accountA)), "large": request(user(accountA, "bob"))}
	all["large"].ResourcePolicy = benchmarkPolicy(tb)
	all["owner-large"] = request(root(accountA))
	all["owner-large"].ResourcePolicy = all["large"].ResourcePolicy
	all["identity"] = request(user(accountA, "bob"))
	all["identity"].Identity = []*policy.Policy{parse(tb, policy.ForIdentity,
		`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"arn:aws:sqs:*:111122223333:*"}}`)}
	all["variable"] = request(user(accountA, "bob"))
	all["variable"].Identity = []*policy.Policy{parse(tb, policy.ForIdentity,
		`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"arn:aws:sqs:*:111122223333:*","Condition":{"StringLike":{"aws:PrincipalArn":"*:user/${aws:username}"}}}}`)}
	return all
}

// The allow path allocates no memory, so authorization causes no work for the garbage collector.
func TestAllowingAllocatesNothing(t *testing.T) {
	for name, r := range benchmarkRequests(t) {
		if d := policy.Decide(r); !d.Allowed() {
			t.Errorf("%s: %s", name, policy.Explain(r))
		}
		if n := testing.AllocsPerRun(100, func() { policy.Decide(r) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	for name, r := range benchmarkRequests(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				policy.Decide(r)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	text := benchmarkPolicy(b).String()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := policy.Parse(policy.ForResource, text); err != nil {
			b.Fatal(err)
		}
	}
}
