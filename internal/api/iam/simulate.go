package iam

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

func (s *Service) registerSimulator(wire *protocol.Service) {
	protocol.Register(wire, "SimulatePrincipalPolicy", s.simulatePrincipal)
	protocol.Register(wire, "SimulateCustomPolicy", s.simulateCustom)
	protocol.Register(wire, "GetContextKeysForCustomPolicy", s.contextKeysCustom)
	protocol.Register(wire, "GetContextKeysForPrincipalPolicy", s.contextKeysPrincipal)
}

// ContextEntry states the value of a condition key for a simulation.
type ContextEntry struct {
	ContextKeyName   string   `max:"256"`
	ContextKeyValues []string `wrap:"member" max:"50,2048"`
	ContextKeyType   string   `max:"64"`
}

type simulateInput struct {
	PolicySourceArn                    *string        `max:"2048"`
	PolicyInputList                    []string       `wrap:"member" max:"100,128K"`
	PermissionsBoundaryPolicyInputList []string       `wrap:"member" max:"100,128K"`
	ActionNames                        []string       `wrap:"member" max:"1000,128"`
	ResourceArns                       []string       `wrap:"member" max:"1000,2048"`
	ResourcePolicy                     *string        `max:"128K"`
	ResourceOwner                      *string        `max:"2048"`
	CallerArn                          *string        `max:"2048"`
	ContextEntries                     []ContextEntry `wrap:"member" max:"50"`
	ResourceHandlingOption             *string        `max:"64"`
	Marker                             *string        `max:"2048"`
	MaxItems                           *int32
}

// Place is where a statement begins or ends in its document.
type Place struct{ Line, Column int32 }

// Statement is a statement that has decided.
type Statement struct {
	SourcePolicyId   string
	SourcePolicyType string
	StartPosition    Place
	EndPosition      Place
}

// EvaluationResult is what would become of one action on one resource.
type EvaluationResult struct {
	EvalActionName       string
	EvalResourceName     string
	EvalDecision         string
	MatchedStatements    []Statement `json:",always" wrap:"member"`
	MissingContextValues []string    `json:",always" wrap:"member"`

	PermissionsBoundaryDecisionDetail *BoundaryDecision
}

// BoundaryDecision says whether the boundary would let it pass.
type BoundaryDecision struct{ AllowedByPermissionsBoundary bool }

type simulateOutput struct {
	EvaluationResults []EvaluationResult `json:",always" wrap:"member"`
	IsTruncated       bool
	Marker            string `json:",omitempty"`
}

func (s *Service) simulateCustom(_ context.Context, c *protocol.Call, in *simulateInput) (*simulateOutput, error) {
	if err := s.allow(c, "SimulateCustomPolicy", subject{arn: anything}); err != nil {
		return nil, err
	}
	return s.simulate(c, in, nil)
}

func (s *Service) simulatePrincipal(_ context.Context, c *protocol.Call, in *simulateInput) (*simulateOutput, error) {
	e, err := s.source(c, in.PolicySourceArn, "SimulatePrincipalPolicy")
	if err != nil {
		return nil, err
	}
	return s.simulate(c, in, e)
}

// source returns the user, group or role whose policies a request is about.
func (s *Service) source(c *protocol.Call, name *string, action string) (*directory.Entity, error) {
	var v protocol.Violations
	arn := v.Required("policySourceArn", name)
	v.Length("policySourceArn", name, 20, 2048)
	if err := v.Err(); err != nil {
		return nil, err
	}
	arn = service.Shorten(arn)
	if err := s.allow(c, action, subject{arn: arn}); err != nil {
		return nil, err
	}
	e := s.directory.ByARN(arn)
	if e == nil || e.Account != service.Caller(c).Account {
		return nil, errNotFound("%s does not exist", arn)
	}
	return e, nil
}

// simulation is what is the same for all actions and resources of a request.
type simulation struct {
	request policy.Request
	owner   *string
	bounded bool
}

func (s *Service) simulate(c *protocol.Call, in *simulateInput, e *directory.Entity) (*simulateOutput, error) {
	if len(in.ActionNames) == 0 {
		return nil, errInput("ActionNames must name at least one action.")
	}
	for _, action := range in.ActionNames {
		if vendor, name, ok := strings.Cut(action, ":"); !ok || vendor == "" || name == "" || strings.ContainsAny(action, "*?") {
			return nil, errInput("Invalid Action Name: %s", service.Shorten(action))
		}
	}
	sim, err := s.prepare(c, in, e)
	if err != nil {
		return nil, err
	}
	resources := in.ResourceArns
	if len(resources) == 0 {
		resources = []string{"*"}
	}
	type question struct {
		n                int
		action, resource string
	}
	var all []question
	for _, action := range in.ActionNames {
		for _, resource := range resources {
			all = append(all, question{len(all), action, resource})
		}
	}
	p, err := paginate(all, func(q question) string { return fmt.Sprintf("%09d", q.n) }, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	results := service.Convert(p.Items, func(q question) EvaluationResult { return sim.evaluate(q.action, q.resource) })
	return &simulateOutput{results, p.Next != "", p.Next}, nil
}

// prepare reads the policies and facts of a request. With an entity its own
// policies count besides those of the request.
func (s *Service) prepare(c *protocol.Call, in *simulateInput, e *directory.Entity) (*simulation, error) {
	account := service.Caller(c).Account
	sim := &simulation{owner: in.ResourceOwner}
	r := &sim.request
	r.Caller = policy.Caller{Kind: policy.User, Account: account, ARN: "arn:aws:iam::" + account + ":user/simulated", UserName: "simulated"}
	if e != nil {
		own, ok := s.directory.Standing(e)
		if !ok {
			return nil, service.Modelled("PolicyEvaluationException", "PolicyEvaluation", 500, "A policy of %s cannot be read.", e.ARN())
		}
		r.Identity = append(r.Identity, own.Identity...)
		r.Boundary = own.Boundary
		r.Caller = simulatedCaller(e)
	}
	if in.CallerArn != nil {
		caller := s.directory.ByARN(*in.CallerArn)
		switch {
		case caller != nil && caller.Kind == directory.User:
			r.Caller = simulatedCaller(caller)
		case strings.HasSuffix(*in.CallerArn, ":user/"+lastComponent(*in.CallerArn)) && e == nil:
			r.Caller.ARN, r.Caller.UserName = *in.CallerArn, lastComponent(*in.CallerArn)
		default:
			return nil, errInput("%s is not the ARN of a user.", service.Shorten(*in.CallerArn))
		}
	}
	parse := func(use policy.Use, text, name string) (*policy.Policy, error) {
		p, err := policy.Parse(use, text)
		if err != nil {
			return nil, errInput("Invalid policy: %v", err)
		}
		return p.Named(name), nil
	}
	for i, text := range in.PolicyInputList {
		p, err := parse(policy.ForIdentity, text, "PolicyInputList."+strconv.Itoa(i+1))
		if err != nil {
			return nil, err
		}
		r.Identity = append(r.Identity, p)
	}
	if len(in.PermissionsBoundaryPolicyInputList) > 1 {
		return nil, errInput("There can be one permissions boundary only.")
	}
	for _, text := range in.PermissionsBoundaryPolicyInputList {
		p, err := parse(policy.ForIdentity, text, "PermissionsBoundaryPolicyInputList.1")
		if err != nil {
			return nil, err
		}
		r.Boundary = p
	}
	if in.ResourcePolicy != nil {
		if in.CallerArn == nil && (e == nil || e.Kind == directory.Group) {
			return nil, errInput("CallerArn is required with a ResourcePolicy.")
		}
		p, err := parse(policy.ForResource, *in.ResourcePolicy, "ResourcePolicy")
		if err != nil {
			return nil, err
		}
		r.ResourcePolicy = p
	}
	sim.bounded = r.Boundary != nil
	var err error
	r.Facts, err = simulatedFacts(in.ContextEntries, s.now())
	return sim, err
}

func lastComponent(arn string) string { return arn[strings.LastIndexByte(arn, '/')+1:] }

func simulatedCaller(e *directory.Entity) policy.Caller {
	switch e.Kind {
	case directory.Role:
		return policy.Caller{
			Kind: policy.AssumedRole, Account: e.Account, ARN: "arn:aws:sts::" + e.Account + ":assumed-role/" + e.Name + "/simulated",
			UserID: e.ID + ":simulated", Issuer: e.ARN(), IssuerID: e.ID, Tags: e.Tags,
		}
	case directory.Group: // as one of its users
		return policy.Caller{Kind: policy.User, Account: e.Account, ARN: "arn:aws:iam::" + e.Account + ":user/simulated", UserName: "simulated"}
	}
	return policy.Caller{
		Kind: policy.User, Account: e.Account, ARN: e.ARN(), UserID: e.ID, UserName: e.Name, Tags: e.Tags,
	}
}

var entryTypes = []string{
	"string", "stringList", "numeric", "numericList", "boolean", "booleanList", "ip", "ipList", "binary", "binaryList",
	"date", "dateList",
}

// simulatedFacts are those that the request states; the time is the only one that
// there is without.
func simulatedFacts(entries []ContextEntry, now time.Time) (policy.Facts, error) {
	values := make(map[string]policy.Value)
	for _, entry := range entries {
		if !slices.Contains(entryTypes, entry.ContextKeyType) {
			return policy.Facts{}, errInput("%s is not a type of context keys.", service.Shorten(entry.ContextKeyType))
		}
		name := strings.ToLower(entry.ContextKeyName)
		switch list := strings.HasSuffix(entry.ContextKeyType, "List"); {
		case name == "" || !list && len(entry.ContextKeyValues) != 1:
			return policy.Facts{}, errInput("The context key %s must have one value.", service.Shorten(entry.ContextKeyName))
		case list:
			values[name] = policy.List(entry.ContextKeyValues)
		default:
			values[name] = policy.Text(entry.ContextKeyValues[0])
		}
	}
	return policy.Facts{
		Time: now,
		Lookup: func(name string) (policy.Value, bool) {
			v, ok := values[name]
			return v, ok
		},
	}, nil
}

var sourceTypes = map[policy.Source]string{
	policy.ByIdentity: "IAM Policy", policy.ByBoundary: "Permissions Boundary Policy", policy.ByResource: "Resource Policy",
}

func (sim *simulation) evaluate(action, resource string) EvaluationResult {
	r := sim.request
	r.Action, r.Resource = action, resource
	switch {
	case sim.owner != nil && strings.HasPrefix(*sim.owner, "arn:aws:iam::") && len(*sim.owner) > 25:
		r.Owner = (*sim.owner)[13:25]
	case sim.owner != nil && identity.IsAccount(*sim.owner):
		r.Owner = *sim.owner
	default:
		r.Owner = ownerOf(resource, r.Caller.Account)
	}
	x := policy.Explain(&r)
	out := EvaluationResult{
		EvalActionName: action, EvalResourceName: resource, EvalDecision: x.Result.String(), MissingContextValues: x.Missing,
	}
	for _, t := range x.Traces {
		if !t.Matched || (t.Statement.Effect == policy.Deny) != (x.Result == policy.ExplicitlyDenied) {
			continue
		}
		out.MatchedStatements = append(out.MatchedStatements, Statement{
			SourcePolicyId: t.Policy.Name(), SourcePolicyType: sourceTypes[t.Source],
			StartPosition: place(t.Statement.Start), EndPosition: place(t.Statement.End),
		})
	}
	if sim.bounded {
		out.PermissionsBoundaryDecisionDetail = &BoundaryDecision{x.Allowed() || x.By != policy.ByBoundary}
	}
	return out
}

func place(p policy.Position) Place { return Place{int32(p.Line), int32(p.Column)} }

// ownerOf returns the account in an ARN, or else the caller's.
func ownerOf(arn, account string) string {
	if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 && identity.IsAccount(parts[4]) {
		return parts[4]
	}
	return account
}

type contextKeysInput struct {
	PolicySourceArn *string  `max:"2048"`
	PolicyInputList []string `wrap:"member" max:"100,128K"`
}

type contextKeysOutput struct {
	ContextKeyNames []string `json:",always" wrap:"member"`
}

func (s *Service) contextKeysCustom(_ context.Context, c *protocol.Call, in *contextKeysInput) (*contextKeysOutput, error) {
	if err := s.allow(c, "GetContextKeysForCustomPolicy", subject{arn: anything}); err != nil {
		return nil, err
	}
	return contextKeys(in.PolicyInputList, nil)
}

func (s *Service) contextKeysPrincipal(_ context.Context, c *protocol.Call, in *contextKeysInput) (*contextKeysOutput, error) {
	e, err := s.source(c, in.PolicySourceArn, "GetContextKeysForPrincipalPolicy")
	if err != nil {
		return nil, err
	}
	own, _ := s.directory.Standing(e)
	return contextKeys(in.PolicyInputList, own.Identity)
}

func contextKeys(texts []string, policies []*policy.Policy) (*contextKeysOutput, error) {
	for _, text := range texts {
		p, err := policy.Parse(policy.ForIdentity, text)
		if err != nil {
			return nil, errInput("Invalid policy: %v", err)
		}
		policies = append(policies, p)
	}
	var keys []string
	for _, p := range policies {
		if p != nil {
			keys = append(keys, p.Keys()...)
		}
	}
	slices.Sort(keys)
	return &contextKeysOutput{slices.Compact(keys)}, nil
}
