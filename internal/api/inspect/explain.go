package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type explainAccessInput struct {
	QueueUrl  string         `max:"2048"`
	Principal string         `max:"2048"` // an ARN, an account, or anonymous
	Action    string         `max:"128"`  // with its service: sqs:SendMessage
	Context   []contextEntry `max:"50"`
}

// contextEntry is a fact about the request that conditions use.
type contextEntry struct {
	Key    string   `max:"256"`
	Values []string `max:"50,2048"`
}

type explainAccessOutput struct {
	Decision           string      // allowed, implicitDeny or explicitDeny, as IAM's simulator says
	By                 string      // which policies have decided, or lack an Allow
	Message            string      `json:",omitempty"` // the error message that the caller would get
	Rule               string      `json:",omitempty"` // the rule that has decided instead of a policy
	Statements         []statement `json:",always"`
	MoreStatements     int64       `json:",omitempty"` // how many others there are, which do not apply
	MissingContextKeys []string    `json:",always"`    // that conditions use and Context lacks
	Assumed            string      `json:",omitempty"` // an assumption about facts that are unknown here
	Remedy             *remedy     // what would allow the request
}

// statement is the result of a policy's statement.
type statement struct {
	Source  string // which kind of policy
	Policy  string `json:",omitempty"` // its name
	Line    int64
	Sid     string `json:",omitempty"`
	Effect  string
	Applies bool
	Decided bool
	Element string `json:",omitempty"` // that does not match
	Reason  string
}

// remedy is what would have to be changed.
type remedy struct {
	Text      string
	Statement string `json:",omitempty"` // to be added, as JSON
}

// statementsShown bounds how many statements an answer has.
const statementsShown = 100

// explainAccess returns whether a principal may take an action on a queue, which statement decides, and which statement
// would allow it. It knows the policies of the account that owns the queue. For callers of other accounts, it assumes
// that their own account allows the action.
func (s *inspector) explainAccess(
	_ context.Context, c *protocol.Call, in *explainAccessInput,
) (*explainAccessOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "ExplainAccess")
	if err != nil {
		return nil, err
	}
	action, rules, err := s.action(in.Action)
	if err != nil {
		return nil, err
	}
	p, assumed, err := s.principal(in.Principal, q.Name.Account)
	if err != nil {
		return nil, err
	}
	lookup, err := contextOf(in.Context)
	if err != nil {
		return nil, err
	}
	facts := policy.Facts{Time: s.authorizer.Now(), Region: q.Name.Region, ResourceTags: q.Tags, Lookup: lookup}
	ids := q.Attributes.PolicyIDs
	if assumed != "" {
		ids = "" // the policy means a caller of another account by its ARN, too
	}
	request, x, readable := s.access.Explain(&access.Request{
		Rules: rules, Action: action, Owner: q.Name.Account, Policy: q.Attributes.Policy, PolicyIDs: ids,
		Details: stated{q.Name.ARN(), facts},
	}, p)
	if !readable {
		return nil, protocol.ValidationError(
			"The policy of the queue cannot be read: it refuses everything except its owner's calls that replace it.",
		)
	}
	out := &explainAccessOutput{
		Decision: x.Result.String(), By: x.By.String(), Rule: x.Rule, MissingContextKeys: x.Missing, Assumed: assumed,
		Remedy: remedyFor(request, &x),
	}
	if !x.Allowed() {
		out.Message = x.Message(request)
	}
	out.addStatements(&x)
	return out, nil
}

// stated is an access.Details with the facts in a request.
type stated struct {
	arn   string
	facts policy.Facts
}

func (s stated) ARN() string         { return s.arn }
func (s stated) Facts() policy.Facts { return s.facts }

// action returns an action as requests write it, with the rules of its service. A batch needs the action of its
// entries.
func (s *inspector) action(text string) (string, *policy.Rules, error) {
	for _, rules := range s.services {
		for _, known := range rules.Actions {
			if strings.EqualFold(known, text) || rules.Vendor == "sqs" && strings.EqualFold(known+"Batch", text) {
				return known, rules, nil
			}
		}
	}
	return "", nil, protocol.ValidationError(
		"Action is %q, which is not an action here; an example is sqs:SendMessage.",
		service.Shorten(text),
	)
}

// principal returns the caller that a text means, with its policies as of now. A caller of another account is known by
// its ARN only: whether there is such a user or role, its id, its tags and its policies are for its own account.
// assumed lists the assumptions about it, and is empty for others.
func (s *inspector) principal(text, owner string) (p access.Principal, assumed string, _ error) {
	caller, ok := identity.ParseCaller(text)
	if !ok {
		caller, ok = sessionOfRole(text)
	}
	switch {
	case !ok:
		const must = "it must be the ARN of a user, role or root, an account's 12 digits, or anonymous"
		return p, "", protocol.ValidationError("Principal is %q; %s.", service.Shorten(text), must)
	case caller.Kind == policy.Anonymous, caller.Kind == policy.Account:
		return access.Principal{Caller: caller}, "", nil
	case caller.Account != owner:
		all, err := policy.Parse(
			policy.ForIdentity,
			`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`,
		)
		allowed := []*policy.Policy{all.Named("what the caller's account allows")}
		return access.Principal{Caller: caller, Identity: allowed},
			"The caller's own account, " + caller.Account + ", allows it.", err
	}
	entity := s.directory.ByARN(cmp.Or(caller.Issuer, caller.ARN))
	if entity == nil || entity.Kind == directory.Group {
		return p, "", protocol.ValidationError(
			"Principal is %q, and there is no such user or role.", service.Shorten(text),
		)
	}
	if p, ok = s.directory.EffectivePolicies(entity); !ok {
		return p, "", protocol.ValidationError("A policy of %s cannot be read: everything that it asks for is refused.", entity.ARN())
	}
	p.Caller = known(caller, entity)
	return p, "", nil
}

// sessionOfRole returns a session of the role that has that ARN.
func sessionOfRole(arn string) (policy.Caller, bool) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "iam" || !identity.IsAccount(parts[4]) {
		return policy.Caller{}, false
	}
	path, ok := strings.CutPrefix(parts[5], "role/")
	name := path[strings.LastIndexByte(path, '/')+1:]
	return policy.Caller{
		Kind: policy.AssumedRole, Account: parts[4], Issuer: arn,
		ARN: "arn:" + parts[1] + ":sts::" + parts[4] + ":assumed-role/" + name + "/session",
	}, ok && name != ""
}

// known completes a caller with the facts about the user or role.
func known(c policy.Caller, e *directory.Entity) policy.Caller {
	c.UserID, c.Tags = e.ID, e.Tags
	if c.Issuer != "" {
		c.IssuerID = e.ID
		c.UserID += ":" + c.ARN[strings.LastIndexByte(c.ARN, '/')+1:]
	}
	return c
}

// contextOf returns a function that knows the keys of the entries.
func contextOf(entries []contextEntry) (func(name string) (policy.Value, bool), error) {
	values := make(map[string]policy.Value)
	for _, e := range entries {
		switch {
		case e.Key == "" || len(e.Values) == 0:
			return nil, protocol.ValidationError("Context has an entry without a key or without a value.")
		case len(e.Values) == 1 && !strings.EqualFold(e.Key, "aws:TagKeys"):
			values[strings.ToLower(e.Key)] = policy.Text(e.Values[0])
		default:
			values[strings.ToLower(e.Key)] = policy.List(e.Values)
		}
	}
	return func(name string) (policy.Value, bool) { v, ok := values[name]; return v, ok }, nil
}

// addStatements adds what became of the statements: the one that has decided first, then those that apply, then the
// others.
func (out *explainAccessOutput) addStatements(x *policy.Explanation) {
	rank := func(st *statement) int {
		switch {
		case st.Decided:
			return 0
		case st.Applies:
			return 1
		case st.Element != "Action" && st.Element != "NotAction":
			return 2
		}
		return 3
	}
	out.Statements = []statement{}
	for i := range x.Traces {
		t := &x.Traces[i]
		out.Statements = append(out.Statements, statement{
			Source: t.Source.String(), Policy: t.Policy.Name(), Line: int64(t.Statement.Start.Line),
			Sid: t.Statement.Sid, Effect: t.Statement.Effect.String(),
			Applies: t.Matched, Decided: t.Policy == x.Policy && t.Statement.Index == x.Statement, Element: t.Element,
			Reason: t.Reason(),
		})
	}
	slices.SortStableFunc(out.Statements, func(a, b statement) int { return rank(&a) - rank(&b) })
	if more := len(out.Statements) - statementsShown; more > 0 {
		out.Statements, out.MoreStatements = out.Statements[:statementsShown], int64(more)
	}
}

// remedyFor returns the statement that would allow a refused request.
func remedyFor(r *policy.Request, x *policy.Explanation) *remedy {
	own := map[string]any{"Effect": "Allow", "Action": r.Action, "Resource": r.Resource}
	switch {
	case x.Allowed():
		return nil
	case x.Result == policy.ExplicitlyDenied:
		return &remedy{
			Text: fmt.Sprintf(
				"Take the Deny at line %d out of the %s, or narrow it: no Allow outweighs a Deny.",
				x.Policy.Statement(x.Statement).Start.Line,
				x.By,
			),
		}
	case x.Rule != "":
		return &remedy{Text: "Nothing: " + x.Rule + "."}
	case x.By == policy.ByBoundary:
		return &remedy{"Add this statement to the permissions boundary of the caller, which limits what policies allow.", asJSON(own)}
	case x.By == policy.BySession:
		return &remedy{"The policy that was passed when the session was created must allow it, too.", asJSON(own)}
	case x.By == policy.ByIdentity && r.Caller.Account == r.Owner:
		return &remedy{
			"Add this statement to a policy of the caller, or an Allow that names the caller to the policy of the queue.",
			asJSON(own),
		}
	}
	who := any("*")
	if r.Caller.Kind != policy.Anonymous {
		arn := r.Caller.ARN
		if r.Caller.Issuer != "" {
			arn = r.Caller.Issuer
		}
		who = map[string]any{"AWS": arn}
	}
	own["Principal"] = who
	return &remedy{"Add this statement to the policy of the queue.", asJSON(own)}
}

func asJSON(v any) string {
	b, _ := json.Marshal(v) // texts only
	return string(b)
}
