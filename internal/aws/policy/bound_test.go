package policy_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// A value that is too long to compare makes no Allow match and every Deny match, with every operator.
func TestTooLongFacts(t *testing.T) {
	long := strings.Repeat("x", policy.MaxFact+1)
	many := make([]string, policy.MaxFactList+1)
	for i := range many {
		many[i] = fmt.Sprint("k", i)
	}
	for _, tc := range []struct {
		condition string
		facts     policy.Facts
	}{
		{`{"StringLike":{"aws:UserAgent":"*"}}`, policy.Facts{UserAgent: long}},
		{`{"StringNotLike":{"aws:UserAgent":"y"}}`, policy.Facts{UserAgent: long}},
		{`{"StringEqualsIgnoreCaseIfExists":{"aws:UserAgent":"` + long + `"}}`, policy.Facts{UserAgent: long}},
		{`{"StringLike":{"aws:RequestTag/a":"${aws:UserAgent}"}}`,
			policy.Facts{UserAgent: long, RequestTags: map[string]string{"a": "b"}}},
		{`{"StringLike":{"aws:RequestTag/a":"*"}}`, policy.Facts{RequestTags: map[string]string{"a": long}}},
		{`{"ForAllValues:StringLike":{"aws:TagKeys":"*"}}`, policy.Facts{TagKeys: many}},
		{`{"ForAnyValue:StringLike":{"aws:TagKeys":"k1"}}`, policy.Facts{TagKeys: []string{long}}},
		{`{"ForAllValues:StringNotLike":{"aws:TagKeys":"z"}}`, policy.Facts{TagKeys: many}},
	} {
		for effect, want := range map[string]policy.Result{"Allow": policy.Refused, "Deny": policy.ExplicitlyDenied} {
			p := parse(t, policy.ForResource, fmt.Sprintf(
				`{"Version":"2012-10-17","Statement":{"Effect":%q,"Principal":"*","Action":"*","Resource":"*","Condition":%s}}`, effect, tc.condition))
			r := &policy.Request{
				Action: "sqs:SendMessage", Resource: queue1, Owner: accountA, ResourcePolicy: p, Facts: tc.facts,
			}
			if got := policy.Decide(r).Result; got != want {
				t.Errorf("%s if %.80s: %s, want %s", effect, tc.condition, got, want)
			}
		}
	}
}

// A value that cannot be compared does not make a Deny match that another of its elements excludes.
func TestTooLongFactBesideAnotherElement(t *testing.T) {
	for _, statement := range []string{
		`{"Effect":"Deny","Principal":"*","Action":"sqs:ReceiveMessage","Resource":"*","Condition":{"StringLike":{"aws:UserAgent":"*"}}}`,
		`{"Effect":"Deny","Principal":"` + "*" +
			`","Action":"*","Resource":"arn:aws:sqs:*:*:other","Condition":{"StringLike":{"aws:UserAgent":"*"}}}`,
		`{"Effect":"Deny","Principal":"*","Action":"*","Resource":"*","Condition":{"StringLike":{"aws:UserAgent":"*"},"Bool":{"aws:SecureTransport":true}}}`,
	} {
		p := parse(t, policy.ForResource,
			`{"Statement":[{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"},`+statement+`]}`)
		r := &policy.Request{Action: "sqs:SendMessage", Resource: queue1, Owner: accountA, ResourcePolicy: p}
		r.Facts.UserAgent = strings.Repeat("x", policy.MaxFact+1)
		if got := policy.Decide(r).Result; got != policy.Allowed {
			t.Errorf("%s: %s", statement, got)
		}
	}
}

// Only the pattern * covers a resource that is too long.
func TestTooLongResource(t *testing.T) {
	for resource, want := range map[string]policy.Result{
		"*": policy.Allowed, "arn:aws:sqs:*:" + accountA + ":*": policy.Refused,
	} {
		p := parse(t, policy.ForResource,
			`{"Statement":{"Effect":"Allow","Principal":"*","Action":"*","Resource":"`+resource+`"}}`)
		r := &policy.Request{
			Action:   "sqs:SendMessage",
			Resource: "arn:aws:sqs:us-east-1:" + accountA + ":" + strings.Repeat("q", policy.MaxFact), Owner: accountA,
			ResourcePolicy: p,
		}
		if got := policy.Decide(r).Result; got != want {
			t.Errorf("%s: %s", resource, got)
		}
	}
}

// dearest are the most expensive requests that we could think of: the contents that a client can put into a policy,
// with those that a client can put into a request.
func dearest(tb testing.TB) map[string]*policy.Request {
	all := make(map[string]*policy.Request)
	add := func(name string, use policy.Use, condition string, facts policy.Facts) {
		principal := ""
		if use == policy.ForResource {
			principal = `"Principal":"*",`
		}
		var statements []string
		for range max(1, min(20, 100_000/len(condition))) {
			statements = append(statements,
				fmt.Sprintf(`{"Effect":"Deny",%s"Action":"sqs:*","Resource":"*","Condition":%s}`, principal, condition))
		}
		p := parse(tb, use, `{"Version":"2012-10-17","Statement":[`+strings.Join(statements, ",")+`]}`)
		r := &policy.Request{
			Caller: user(accountA, "bob"), Action: "sqs:TagQueue", Resource: queue1, Owner: accountA, Facts: facts,
		}
		if use == policy.ForResource {
			r.ResourcePolicy = p
		} else {
			r.Identity = []*policy.Policy{p, p, p, p, p, p, p, p, p, p}
		}
		all[name] = r
	}
	longest := strings.Repeat("a", policy.MaxFact)
	tagged := policy.Facts{RequestTags: map[string]string{"x": longest}}
	copies := strings.Repeat("${aws:RequestTag/x}", 300)
	add("copies of a long value", policy.ForResource, `{"StringLike":{"aws:RequestTag/x":"`+copies+`"}}`, tagged)
	add("copies, ignoring case", policy.ForIdentity, `{"StringEqualsIgnoreCase":{"aws:RequestTag/x":"`+copies+`"}}`,
		tagged)
	add("a pattern that backtracks", policy.ForResource, `{"StringLike":{"aws:RequestTag/x":"*`+longest[:1000]+`b"}}`,
		tagged)
	add("stars", policy.ForIdentity, `{"StringLike":{"aws:RequestTag/x":"`+strings.Repeat("*a", 1000)+`b"}}`, tagged)
	var operands, tags []string
	requestTags := make(map[string]string)
	for i := range policy.MaxFactList {
		operands = append(operands, fmt.Sprintf(`"*%d%s"`, i, longest[:40]))
		tags = append(tags, fmt.Sprint(longest[:500], i))
		requestTags[tags[i]] = longest[:256]
	}
	set := `["` + strings.Trim(strings.Join(operands, ","), `"`) + `"]`
	add("many values, many operands", policy.ForIdentity, `{"ForAnyValue:StringLike":{"aws:TagKeys":`+set+`}}`,
		policy.Facts{TagKeys: tags})
	add("ARNs", policy.ForIdentity, `{"ForAnyValue:ArnLike":{"aws:TagKeys":`+set+`}}`, policy.Facts{TagKeys: tags})
	add("base64", policy.ForIdentity,
		`{"BinaryEquals":{"aws:RequestTag/x":[`+strings.TrimSuffix(strings.Repeat(`"aaaa",`, 500), ",")+`]}}`, tagged)
	var keys []string
	for i := range 200 {
		keys = append(keys, fmt.Sprintf(`"aws:RequestTag/%s%d":"x"`, strings.ToUpper(longest[:500]), i+1000))
	}
	add("tags of nearly the same name", policy.ForIdentity, `{"StringLikeIfExists":{`+strings.Join(keys, ",")+`}}`,
		policy.Facts{RequestTags: requestTags})
	return all
}

// For any policy and request, a decision takes at most MaxSteps, which is a few milliseconds (BenchmarkDearest), and a
// few megabytes.
func TestCostIsBounded(t *testing.T) {
	for name, r := range dearest(t) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		steps := policy.Steps(r)
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 32<<20 {
			t.Errorf("%s: %d bytes", name, bytes)
		}
		if steps > policy.MaxSteps {
			t.Errorf("%s: %d steps", name, steps)
		}
	}
}

func BenchmarkDearest(b *testing.B) {
	for name, r := range dearest(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				policy.Decide(r)
			}
		})
	}
}

// For all policies and requests a decision stays within its steps, and a value that is too long allows nothing.
func FuzzCost(f *testing.F) {
	f.Add("StringLike", "*aaaa*aaab", "aaaa", 500, 10)
	f.Add("StringLike", "${aws:RequestTag/x}${aws:RequestTag/x}", "aaaaaaaa", 250, 20)
	f.Add("StringNotEqualsIgnoreCase", "${aws:RequestTag/x}", "é", 900, 3)
	f.Add("ForAnyValue:ArnLike", "arn:*:*:?*:*a", ":a", 400, 30)
	f.Add("BinaryEquals", "YWE=", "YWE=", 3000, 30)
	f.Fuzz(func(t *testing.T, operator, operand, value string, copies, operands int) {
		if copies < 0 || operands < 1 || copies > 4096 || operands > 256 || len(value)*copies > 1<<20 ||
			len(operand)*operands > 64<<10 {
			return
		}
		list := make([]string, operands)
		for i := range list {
			list[i] = operand
		}
		condition := map[string]any{operator: map[string]any{"aws:RequestTag/x": list}}
		text, err := json.Marshal(map[string]any{"Version": policy.Version2012, "Statement": map[string]any{
			"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*", "Condition": condition,
		}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse(policy.ForResource, string(text))
		if err != nil {
			return
		}
		long := strings.Repeat(value, copies)
		r := &policy.Request{Action: "sqs:TagQueue", Resource: queue1, Owner: accountA, ResourcePolicy: p}
		r.Facts.RequestTags = map[string]string{"x": long}
		if steps := policy.Steps(r); steps > policy.MaxSteps {
			t.Fatalf("%d steps", steps)
		}
		if len(long) > policy.MaxFact && operator != "Null" && policy.Decide(r).Allowed() {
			t.Fatal("allowed by a value that is too long")
		}
	})
}
