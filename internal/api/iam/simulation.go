package iam

import (
	"context"
	"errors"
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

// simulation is the common part of all questions of a request.
type simulation struct {
	request    policy.Request
	owner      *string
	bounded    bool
	statements int // of all policies
}

// Limits of a simulation and its answer: IAM may return fewer results than requested.
const (
	mostQuestions  = 1000        // actions times resources
	mostDocuments  = 64 << 10    // bytes, of all policies of a request together
	mostMatched    = 2000        // statements in the results of an answer
	mostStatements = 100_000     // evaluated for an answer
	mostTime       = time.Second // after which an answer gets no further results
)

// question asks whether an action on a resource would be allowed.
type question struct {
	number           int
	action, resource string
}

func (s *simulator) simulate(
	ctx context.Context, c *protocol.Call, in *simulateInput, e *directory.Entity,
) (*simulateOutput, error) {
	all, err := in.questions()
	if err != nil {
		return nil, err
	}
	order := func(q question) string { return fmt.Sprintf("%09d", q.number) }
	p, err := paginate(all, order, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	done, err := s.take(ctx, service.Caller(c).Account)
	if err != nil {
		return nil, err
	}
	defer done()
	sim, err := s.prepare(c, in, e)
	if err != nil {
		return nil, err
	}
	out := new(simulateOutput)
	matched := 0
	end := s.now().Add(mostTime)
	for i, q := range p.Items {
		if i > 0 && (matched >= mostMatched || i*sim.statements >= mostStatements || s.now().After(end)) {
			n := int32(i)
			if p, err = paginate(all, order, in.Marker, &n); err != nil {
				return nil, err
			}
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(protocol.ServiceUnavailable(), err)
		}
		result := sim.evaluate(q.action, q.resource)
		matched += len(result.MatchedStatements)
		out.EvaluationResults = append(out.EvaluationResults, result)
	}
	out.IsTruncated, out.Marker = p.Next != "", p.Next
	return out, nil
}

// questions returns the questions of a request: each action on each resource.
func (in *simulateInput) questions() ([]question, error) {
	resources := in.ResourceArns
	if len(resources) == 0 {
		resources = []string{"*"}
	}
	switch n := len(in.ActionNames) * len(resources); {
	case n == 0:
		return nil, errInput("ActionNames must name at least one action.")
	case n > mostQuestions:
		return nil, errInput("%d actions on %d resources are %d simulations; a request can have %d.",
			len(in.ActionNames), len(resources), n, mostQuestions)
	}
	var all []question
	for _, action := range in.ActionNames {
		if vendor, name, ok := strings.Cut(action, ":"); !ok || vendor == "" || name == "" ||
			strings.ContainsAny(action, "*?") {
			return nil, errInput("Invalid Action Name: %s", service.Shorten(action))
		}
		for _, resource := range resources {
			all = append(all, question{len(all), action, resource})
		}
	}
	return all, nil
}

// checkDocuments limits the size of all policies of a request together.
func checkDocuments(lists ...[]string) error {
	size := 0
	for _, list := range lists {
		for _, text := range list {
			size += len(text)
		}
	}
	if size > mostDocuments {
		return errInput("The policies have %d bytes; together they can have %d.", size, mostDocuments)
	}
	return nil
}

// prepare reads the policies and facts of a request. If e is not nil, its own policies are added to those of the
// request.
func (s *simulator) prepare(c *protocol.Call, in *simulateInput, e *directory.Entity) (*simulation, error) {
	var resourcePolicy []string
	if in.ResourcePolicy != nil {
		resourcePolicy = []string{*in.ResourcePolicy}
	}
	if err := checkDocuments(in.PolicyInputList, in.PermissionsBoundaryPolicyInputList, resourcePolicy); err != nil {
		return nil, err
	}
	account := service.Caller(c).Account
	sim := &simulation{owner: in.ResourceOwner}
	r := &sim.request
	r.Caller = policy.Caller{
		Kind: policy.User, Account: account, ARN: "arn:aws:iam::" + account + ":user/simulated", UserName: "simulated",
	}
	if e != nil {
		without, err := exclusionsOf(in.PolicyExclusionList)
		if err != nil {
			return nil, err
		}
		own, ok := s.directory.SimulatedPolicies(e, without)
		if !ok {
			return nil, service.Modelled(
				"PolicyEvaluationException", "PolicyEvaluation", 500, "A policy of %s cannot be read.", e.ARN(),
			)
		}
		r.Identity = append(r.Identity, own.Identity...)
		r.Boundary = own.Boundary
		r.Caller = simulatedCaller(e)
	}
	if in.CallerArn != nil {
		user := s.directory.ByARN(*in.CallerArn)
		switch {
		// other accounts' users are not known
		case user != nil && user.Kind == directory.User && user.Account == account:
			r.Caller = simulatedCaller(user)
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
	for _, p := range append(r.Identity, r.Boundary, r.ResourcePolicy) {
		if p != nil {
			sim.statements += p.Len()
		}
	}
	var err error
	r.Facts, err = simulatedFacts(in.ContextEntries, s.now())
	return sim, err
}

func lastComponent(arn string) string { return arn[strings.LastIndexByte(arn, '/')+1:] }

func simulatedCaller(e *directory.Entity) policy.Caller {
	switch e.Kind {
	case directory.Role:
		return policy.Caller{
			Kind: policy.AssumedRole, Account: e.Account,
			ARN:    "arn:aws:sts::" + e.Account + ":assumed-role/" + e.Name + "/simulated",
			UserID: e.ID + ":simulated", Issuer: e.ARN(), IssuerID: e.ID, Tags: e.Tags,
		}
	case directory.Group: // as one of its users
		return policy.Caller{
			Kind:     policy.User,
			Account:  e.Account,
			ARN:      "arn:aws:iam::" + e.Account + ":user/simulated",
			UserName: "simulated",
		}
	}
	return policy.Caller{
		Kind: policy.User, Account: e.Account, ARN: e.ARN(), UserID: e.ID, UserName: e.Name, Tags: e.Tags,
	}
}

var entryTypes = []string{
	"string", "stringList", "numeric", "numericList", "boolean", "booleanList", "ip", "ipList", "binary", "binaryList",
	"date", "dateList",
}

// simulatedFacts returns the facts in the request, and the time.
func simulatedFacts(entries []ContextEntry, now time.Time) (policy.Facts, error) {
	values := make(map[string]policy.Value)
	for _, entry := range entries {
		if !slices.Contains(entryTypes, entry.ContextKeyType) {
			return policy.Facts{}, errInput("%s is not a type of context keys.", service.Shorten(entry.ContextKeyType))
		}
		name := strings.ToLower(entry.ContextKeyName)
		switch list := strings.HasSuffix(entry.ContextKeyType, "List"); {
		case name == "" || !list && len(entry.ContextKeyValues) != 1:
			return policy.Facts{}, errInput(
				"The context key %s must have one value.", service.Shorten(entry.ContextKeyName),
			)
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
	policy.ByIdentity: "IAM Policy", policy.ByBoundary: "Permissions Boundary Policy",
	policy.ByResource: "Resource Policy",
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
		EvalActionName: action, EvalResourceName: resource, EvalDecision: x.Result.String(),
		MissingContextValues: x.Missing,
	}
	for _, t := range x.Traces {
		if !t.Matched || (t.Statement.Effect == policy.Deny) != (x.Result == policy.ExplicitlyDenied) {
			continue
		}
		out.MatchedStatements = append(out.MatchedStatements, Statement{
			SourcePolicyId: t.Policy.Name(), SourcePolicyType: sourceTypes[t.Source],
			StartPosition: place(t.Statement.Began), EndPosition: place(t.Statement.End),
		})
	}
	if sim.bounded {
		out.PermissionsBoundaryDecisionDetail = &BoundaryDecision{x.Allowed() || x.By != policy.ByBoundary}
	}
	if resource != anything {
		out.specify()
	}
	return out
}

// specify adds the result for the resource that the request names, which has the missing context values then.
func (r *EvaluationResult) specify() {
	r.ResourceSpecificResults = []ResourceResult{{
		EvalResourceName: r.EvalResourceName, EvalResourceDecision: r.EvalDecision,
		MatchedStatements: r.MatchedStatements, MissingContextValues: r.MissingContextValues,
		PermissionsBoundaryDecisionDetail: r.PermissionsBoundaryDecisionDetail,
	}}
	r.EvalDecisionDetails, r.MissingContextValues = new(service.Empty), nil
}

func place(p policy.Position) Place { return Place{int32(p.Line), int32(p.Column)} }

// ownerOf returns the account in an ARN, or otherwise the given one.
func ownerOf(arn, account string) string {
	if parts := strings.SplitN(arn, ":", 6); len(parts) == 6 && identity.IsAccount(parts[4]) {
		return parts[4]
	}
	return account
}
