package policy_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// TestDecisions runs the stories in testdata/decisions. Their language is described in testdata/README.md. The expected
// answer is part of each question, so recording new outputs cannot make a wrong one right.
func TestDecisions(t *testing.T) {
	questions := 0
	datadriven.Walk(t, "testdata/decisions", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s := &story{t: t, pos: d.Pos, version: policy.Version2012, identity: make(map[string][]*policy.Policy)}
			switch d.Cmd {
			case "decide":
				s.run(d.Input)
				questions += s.questions
				return s.out.String()
			case "save":
				return s.save(d.Input)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
	if questions < 120 {
		t.Errorf("%d questions were decided, want at least 120", questions)
	}
}

const (
	accountA = "111122223333"
	accountB = "444455556666"
	queue1   = "arn:aws:sqs:us-east-1:" + accountA + ":queue1"
)

type story struct {
	t         *testing.T
	pos       string
	version   string
	out       strings.Builder
	questions int

	resource *policy.Policy
	boundary *policy.Policy
	session  []*policy.Policy
	identity map[string][]*policy.Policy
	bob      string // his unique id
}

// run reads policies and answers questions.
func (s *story) run(input string) {
	for lines := strings.Split(input, "\n"); len(lines) > 0; {
		line := strings.TrimSpace(lines[0])
		lines = lines[1:]
		switch where, rest, _ := strings.Cut(line, ":"); {
		case line == "":
		case strings.HasPrefix(line, "version "):
			s.version = strings.TrimPrefix(line, "version ")
		case strings.HasPrefix(line, "bob is "):
			s.bob = strings.TrimPrefix(line, "bob is ")
		case line == "bind":
			s.resource = s.resource.Bind(map[string]string{arnOf("bob"): "AIDABOB"})
		case strings.HasPrefix(line, "> "):
			s.ask(strings.TrimPrefix(line, "> "))
		case rest == "":
			var document []string
			for depth := 0; len(lines) > 0; {
				depth += strings.Count(lines[0], "{") - strings.Count(lines[0], "}")
				document = append(document, lines[0])
				lines = lines[1:]
				if depth == 0 {
					break
				}
			}
			s.attach(where, strings.Join(document, "\n"))
		default:
			statements := []string{s.statement(where, rest)}
			for len(lines) > 0 && strings.HasPrefix(strings.TrimSpace(lines[0]), "and ") {
				statements = append(statements,
					s.statement(where, strings.TrimPrefix(strings.TrimSpace(lines[0]), "and")))
				lines = lines[1:]
			}
			s.attach(where, fmt.Sprintf(`{"Version":%q,"Statement":[%s]}`, s.version, strings.Join(statements, ",")))
		}
	}
}

func (s *story) attach(where, document string) {
	use := policy.ForIdentity
	switch where {
	case "queue":
		use = policy.ForResource
	case "trust":
		use = policy.ForTrust
	case "session":
		use = policy.ForSession
	}
	p, err := policy.Parse(use, document)
	if err != nil {
		s.t.Errorf("%s: %v\n%s", s.pos, err, document)
		return
	}
	switch where {
	case "queue", "trust":
		s.resource = p
	case "session":
		s.session = append(s.session, p)
	case "boundary":
		s.boundary = p
	default:
		s.identity[where] = append(s.identity[where], p.Named("the policy of "+where))
	}
}

// statement turns shorthand into JSON:
//
//	allow|deny [not] actions [to|notto principals] [on|noton resources] [if condition]
func (s *story) statement(where, shorthand string) string {
	shorthand, condition, conditional := strings.Cut(shorthand, " if ")
	words := strings.Fields(shorthand)
	st := map[string]any{"Effect": map[string]string{"allow": "Allow", "deny": "Deny"}[words[0]]}
	action := "Action"
	if words = words[1:]; words[0] == "not" {
		action, words = "NotAction", words[1:]
	}
	var actions []string
	for _, a := range strings.Split(words[0], ",") {
		if !strings.Contains(a, ":") && a != "*" {
			a = "sqs:" + a
		}
		actions = append(actions, a)
	}
	st[action] = actions
	if where != "trust" {
		st["Resource"] = queue1
		if where != "queue" {
			st["Resource"] = "*"
		}
	}
	for words = words[1:]; len(words) > 1; words = words[2:] {
		list := strings.Split(words[1], ",")
		switch words[0] {
		case "to", "notto":
			name := map[string]string{"to": "Principal", "notto": "NotPrincipal"}[words[0]]
			st[name] = principalsOf(list)
		case "on", "noton":
			delete(st, "Resource")
			for i := range list {
				list[i] = strings.NewReplacer(":A:", ":"+accountA+":", "A/", accountA+"/", "Q", queue1).Replace(list[i])
			}
			st[map[string]string{"on": "Resource", "noton": "NotResource"}[words[0]]] = list
		default:
			s.t.Fatalf("%s: %s", s.pos, words[0])
		}
	}
	if conditional {
		st["Condition"] = json.RawMessage(condition)
	}
	text, err := json.Marshal(st)
	if err != nil {
		s.t.Fatalf("%s: %s: %v", s.pos, condition, err)
	}
	return string(text)
}

func principalsOf(names []string) any {
	if names[0] == "*" {
		return "*"
	}
	all := make(map[string][]string)
	for _, n := range names {
		switch n {
		case "sns":
			all["Service"] = append(all["Service"], callers[n].Service)
		case "web":
			all["Federated"] = append(all["Federated"], callers[n].Provider)
		default:
			all["AWS"] = append(all["AWS"], arnOf(n))
		}
	}
	return all
}

// arnOf returns the ARN of a principal.
func arnOf(name string) string {
	switch name {
	case "A":
		return accountA
	case "B":
		return accountB
	case "A:root":
		return "arn:aws:iam::" + accountA + ":root"
	case "everybody":
		return "*"
	}
	if strings.HasPrefix(name, "A:") {
		return "arn:aws:iam::" + accountA + strings.TrimPrefix(name, "A")
	}
	if strings.HasPrefix(name, "B:") {
		return "arn:aws:iam::" + accountB + strings.TrimPrefix(name, "B")
	}
	if c, ok := callers[name]; ok {
		return c.ARN
	}
	return name
}

func user(account, name string) policy.Caller {
	return policy.Caller{
		Kind: policy.User, Account: account, ARN: "arn:aws:iam::" + account + ":user/" + name,
		UserID: "AIDA" + strings.ToUpper(name), UserName: name,
	}
}

func root(account string) policy.Caller {
	return policy.Caller{
		Kind: policy.Account, Account: account, ARN: "arn:aws:iam::" + account + ":root", UserID: account,
	}
}

func roleSession(account, role, session string) policy.Caller {
	return policy.Caller{
		Kind: policy.AssumedRole, Account: account,
		ARN:    "arn:aws:sts::" + account + ":assumed-role/" + role + "/" + session,
		UserID: "AROA" + strings.ToUpper(role) + ":" + session,
		Issuer: "arn:aws:iam::" + account + ":role/" + role, IssuerID: "AROA" + strings.ToUpper(role),
		Issued: time.Date(2009, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

// callers are the people of the stories. Those of account A belong to the owner.
var callers = map[string]policy.Caller{
	"anon":   {},
	"rootA":  root(accountA),
	"rootB":  root(accountB),
	"bob":    user(accountA, "bob"),
	"carol":  user(accountA, "carol"),
	"star":   user(accountA, "*"),
	"eve":    user(accountB, "eve"),
	"worker": {ARN: "arn:aws:iam::" + accountA + ":role/worker"},
	"farmer": {ARN: "arn:aws:iam::" + accountB + ":role/farmer"},
	"sess":   roleSession(accountA, "worker", "s1"),
	"sessB":  roleSession(accountB, "farmer", "s1"),
	"fed": {
		Kind: policy.FederatedUser, Account: accountA, ARN: "arn:aws:sts::" + accountA + ":federated-user/jean",
		UserID: accountA + ":jean", Issuer: "arn:aws:iam::" + accountA + ":user/bob", IssuerID: "AIDABOB",
		Issued: time.Date(2009, 1, 1, 0, 0, 0, 0, time.UTC),
	},
	"sns": {Kind: policy.Service, Service: "sns.amazonaws.com"},
	"web": {Kind: policy.WebIdentity, Provider: "arn:aws:iam::" + accountA + ":oidc-provider/login.example.com"},
}

// callerOf also knows callers of the guide's accounts: root:account and user:account/name.
func (s *story) callerOf(name string) policy.Caller {
	if account, ok := strings.CutPrefix(name, "root:"); ok {
		return root(account)
	}
	if rest, ok := strings.CutPrefix(name, "user:"); ok {
		account, name, _ := strings.Cut(rest, "/")
		return user(account, name)
	}
	c, ok := callers[name]
	if !ok {
		s.t.Fatalf("%s: unknown caller %s", s.pos, name)
	}
	if name == "bob" && s.bob != "" {
		c.UserID = s.bob
	}
	return c
}

// policiesOf returns the owner of a caller's identity policies.
var policiesOf = map[string]string{"sess": "worker", "sessB": "farmer", "fed": "bob"}

// ask answers a question: caller action [facts] -> answer.
func (s *story) ask(line string) {
	s.questions++
	question, want, _ := strings.Cut(line, " -> ")
	words := strings.Fields(question)
	r := &policy.Request{
		Caller: s.callerOf(words[0]), Action: words[1], Resource: queue1, Owner: accountA, Rules: sqs,
		Facts:          policy.Facts{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), SecureTransport: true},
		ResourcePolicy: s.resource, Boundary: s.boundary, Session: s.session,
	}
	if !strings.Contains(r.Action, ":") {
		r.Action = "sqs:" + r.Action
	}
	name := words[0]
	if other, ok := policiesOf[name]; ok {
		name = other
	}
	r.Identity = s.identity[name]
	if r.Caller.Kind == policy.Service {
		r.Facts.SourceARN, r.Facts.SourceAccount = "arn:aws:sns:us-east-1:"+accountA+":topic1", accountA
	}
	for _, w := range words[2:] {
		s.fact(r, w)
	}
	d, x := policy.Decide(r), policy.Explain(r)
	if d != x.Decision {
		s.t.Errorf("%s: %s: decided %v, explained %v", s.pos, question, d, x.Decision)
	}
	if d.Result.String() != want {
		s.t.Errorf("%s: %s: got %s, want %s", s.pos, question, x, want)
	}
	fmt.Fprintf(&s.out, "%s\n", reason(d, x))
}

// reason names in one line the policy that has decided.
func reason(d policy.Decision, x policy.Explanation) string {
	text, _, _ := strings.Cut(x.String(), "\n")
	if d.Result != policy.Refused {
		return text
	}
	for _, t := range x.Traces {
		if t.Statement.Effect == policy.Allow && !t.Matched {
			return text + "; " + t.Reason()
		}
	}
	return text
}

func (s *story) fact(r *policy.Request, word string) {
	name, value, _ := strings.Cut(word, "=")
	var err error
	switch name {
	case "on":
		r.Resource = strings.NewReplacer(":A:", ":"+accountA+":").Replace(value)
		if !strings.HasPrefix(value, "arn:") {
			r.Resource = "arn:aws:sqs:us-east-1:" + accountA + ":" + value
		}
		r.Owner = strings.Split(r.Resource, ":")[4]
	case "at":
		r.Facts.Time, err = time.Parse(time.RFC3339, value)
	case "from":
		r.Facts.SourceIP, err = netip.ParseAddr(value)
	case "http":
		r.Facts.SecureTransport = false
	case "agent":
		r.Facts.UserAgent = value
	case "topic":
		r.Facts.SourceARN = "arn:aws:sns:us-east-1:" + accountA + ":" + value
		if strings.HasPrefix(value, "arn:") {
			r.Facts.SourceARN = value
		}
	case "mfa":
		var ago time.Duration
		ago, err = time.ParseDuration(value)
		r.Caller.MFA = r.Facts.Time.Add(-ago)
		r.Caller.Issued = r.Caller.MFA
	case "tags":
		r.Facts.RequestTags = make(map[string]string)
		for _, tag := range strings.Split(value, ",") {
			k, v, _ := strings.Cut(tag, ":")
			r.Facts.RequestTags[k] = v
		}
	case "untag":
		r.Facts.TagKeys = strings.Split(value, ",")
	case "has":
		k, v, _ := strings.Cut(value, ":")
		r.Facts.ResourceTags = map[string]string{k: v}
	case "is":
		k, v, _ := strings.Cut(value, ":")
		r.Caller.Tags = map[string]string{k: v}
	case "key":
		k, v, _ := strings.Cut(value, "~")
		r.Facts.Lookup = func(asked string) (policy.Value, bool) { return policy.Text(v), asked == k }
	case "token":
		r.Caller.Issued = r.Facts.Time.Add(-time.Minute)
	case "alone":
		r.Session = nil
	default:
		s.t.Fatalf("%s: unknown fact %s", s.pos, word)
	}
	if err != nil {
		s.t.Fatalf("%s: %s: %v", s.pos, word, err)
	}
}

// save tries to set a policy, and returns the answer.
func (s *story) save(input string) string {
	header, document, _ := strings.Cut(input, "\n")
	where, shorthand, _ := strings.Cut(header, ":")
	if shorthand != "" {
		document = fmt.Sprintf(`{"Version":%q,"Statement":[%s]}`, s.version, s.statement(where, shorthand))
	}
	use := map[string]policy.Use{
		"queue": policy.ForResource, "identity": policy.ForIdentity, "session": policy.ForSession,
		"trust": policy.ForTrust,
	}[where]
	var err error
	if use == policy.ForResource {
		_, err = policy.ParseResource(document, sqs)
	} else if p, e := policy.Parse(use, document); e != nil {
		err = e
	} else {
		err = p.CheckIAM(policy.MaxUserInline, 0)
	}
	if err == nil {
		return "ok\n"
	}
	return strings.TrimSpace(err.Error()) + "\n"
}
