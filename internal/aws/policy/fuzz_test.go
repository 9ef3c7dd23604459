package policy_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// documents are the policies in the stories.
func documents(tb testing.TB) []string {
	files, err := filepath.Glob("testdata/decisions/*.txt")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no stories: %v", err)
	}
	var all []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, regexp.MustCompile(`(?ms)^[{\[].*?^(?:----|> )`).FindAllString(string(text), -1)...)
	}
	for i, d := range all {
		all[i] = strings.TrimRight(d, "->\n ")
	}
	return append(all,
		`{"Id":"\"\\\/\b\f\n\r\t\u00e9\uD83D\ude00\u0000","Statement":{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}}`,
		`{"Statement":{"Effect":"Allow","Principal":"*","Action":"*","Resource":"*"}}`,
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Federated":"x","CanonicalUser":["y"]},"NotAction":["sqs:*","a-b:c?"],"NotResource":"arn:aws:sqs:*:1:${*}${a:b,'}'}","Condition":{"Bool":{"a:b":true},"NumericEquals":{"a:b":[1,-2.5e3]}}}]}`)
}

// A text that Parse accepts is JSON, is returned unchanged, means the same without its white space, and can be
// evaluated. Parse refuses a text with a place and a reason, and the reason that it is not JSON is correct.
func FuzzParse(f *testing.F) {
	for _, d := range documents(f) {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for use := policy.ForResource; use <= policy.ForTrust; use++ {
			p, err := policy.Parse(use, text)
			var why *policy.Error
			if errors.As(err, &why) {
				if why.Reason == "" || why.Fault == 0 || why.IAM() == "" ||
					why.Fault != policy.OverLimit && (why.Line < 1 || why.Column < 1) {
					t.Fatalf("%#v", why)
				}
				surrogate := strings.Contains(strings.ToLower(text), `\ud`)
				if why.Fault == policy.Syntax && json.Valid([]byte(text)) && utf8.ValidString(text) && !surrogate &&
					!strings.Contains(why.Reason, "nests") {
					t.Fatalf("this is JSON: %v", err)
				}
				continue
			}
			if !json.Valid([]byte(text)) {
				t.Fatal("accepted text that is not JSON")
			}
			var doc struct{ ID string }
			if err := json.Unmarshal([]byte(text), &doc); err != nil || doc.ID != p.ID() {
				t.Fatalf("the Id is %q, want %q, %v", p.ID(), doc.ID, err)
			}
			if p.String() != text || p.Len() == 0 {
				t.Fatalf("%d statements of %q", p.Len(), p)
			}
			var compact strings.Builder
			if err := json.NewEncoder(&compact).Encode(json.RawMessage(text)); err != nil {
				t.Fatal(err)
			}
			again, err := policy.Parse(use, compact.String())
			if err != nil || again.Len() != p.Len() || again.Size() > p.Size()*6 {
				t.Fatalf("without white space: %v", err)
			}
			_ = p.Keys()
			_ = p.Entities()
			r := policy.Request{
				Caller: callers["bob"], Action: "sqs:SendMessage", Resource: queue1, Owner: accountA, Rules: sqs,
			}
			r.Facts.TagKeys = []string{"a"}
			r.Facts.Lookup = func(string) (policy.Value, bool) { return policy.Text("10.0.0.1"), len(text)%2 == 0 }
			s := r
			switch use {
			case policy.ForResource:
				r.ResourcePolicy, s.ResourcePolicy = p, again
				_ = p.CheckResource(sqs)
				_ = p.Warnings(queue1)
			case policy.ForIdentity:
				r.Identity, s.Identity = []*policy.Policy{p}, []*policy.Policy{again}
				_ = p.CheckIAM(policy.MaxManaged, 0)
			case policy.ForSession:
				r.Session, s.Session = []*policy.Policy{p}, []*policy.Policy{again}
			case policy.ForTrust:
				r.ResourcePolicy, s.ResourcePolicy = p, again
			}
			x, y := policy.Explain(&r), policy.Explain(&s)
			if x.Result != y.Result || x.Result != policy.Decide(&r).Result || x.String() == "" {
				t.Fatalf("%s, without white space %s", x, y)
			}
		}
	})
}

// Both matchers agree with the definition.
func FuzzWildcards(f *testing.F) {
	f.Add("*", "")
	f.Add("a*b?c*", "aXbYcZ")
	f.Add("**a*?", "ba")
	f.Add("é?*", "éé")
	f.Add("sqs:*Mess?ge", "SQS:SendMessage")
	f.Add("a:*ab", "a:aab")
	f.Fuzz(func(t *testing.T, pattern, s string) {
		if len(pattern) > 12 || len(s) > 24 || !utf8.ValidString(pattern) || !utf8.ValidString(s) {
			return
		}
		if got, want := policy.GlobMatches(pattern, s), wild([]rune(pattern), []rune(s)); got != want {
			t.Errorf("%q matches %q: %t", pattern, s, got)
		}
		ascii := !strings.ContainsFunc(s, func(c rune) bool { return c >= utf8.RuneSelf })
		if got, ok := policy.ActionMatches(pattern, s); ok && ascii &&
			got != wild([]rune(strings.ToLower(pattern)), []rune(strings.ToLower(s))) {
			t.Errorf("the action %q matches %q: %t", pattern, s, got)
		}
	})
}

// A policy that can be set can have permissions added and removed, which leaves the rest unchanged.
func FuzzPermissions(f *testing.F) {
	for _, d := range documents(f) {
		f.Add(d, "label")
	}
	f.Fuzz(func(t *testing.T, text, label string) {
		if _, err := policy.Parse(policy.ForResource, text); err != nil {
			return
		}
		grant := policy.Permission{Label: label, Accounts: []string{accountB}, Actions: []string{"SendMessage"}}
		with, err := policy.AddPermission(text, queue1, grant, sqs)
		if err != nil {
			return
		}
		p, err := policy.Parse(policy.ForResource, with)
		if err != nil {
			t.Fatalf("what AddPermission has written: %v\n%s", err, with)
		}
		if last := p.Statement(p.Len() - 1); last.Sid != label {
			t.Fatalf("the last statement is %q", last.Sid)
		}
		without, err := policy.RemovePermission(with, label)
		if err != nil {
			t.Fatal(err)
		}
		before, after := normal(t, text), normal(t, without)
		if before != after {
			t.Fatalf("the rest has changed:\n%s\n%s", before, after)
		}
		if _, err := policy.RemovePermission(without, label); err == nil {
			t.Fatal("removed twice")
		}
	})
}

// normal returns a policy in one normal form, with its statements as a list.
func normal(t *testing.T, text string) string {
	var doc map[string]any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	doc["Statement"] = many(doc["Statement"])
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
