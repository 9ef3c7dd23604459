package iam

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// simulator serves the operations that simulate policies.
type simulator struct {
	*core
	turns // each simulation may take a while
}

func (s *simulator) register(wire *protocol.Service) {
	protocol.Register(wire, "SimulatePrincipalPolicy", s.simulatePrincipal)
	protocol.Register(wire, "SimulateCustomPolicy", s.simulateCustom)
	protocol.Register(wire, "GetContextKeysForCustomPolicy", s.contextKeysCustom)
	protocol.Register(wire, "GetContextKeysForPrincipalPolicy", s.contextKeysPrincipal)
}

// ContextEntry sets the value of a condition key for a simulation.
type ContextEntry struct {
	ContextKeyName   string   `max:"256"`
	ContextKeyValues []string `max:"50,2048" wrap:"member"`
	ContextKeyType   string   `max:"64"`
}

type simulateInput struct {
	PolicySourceArn                    *string        `max:"2048"`
	PolicyInputList                    []string       `max:"100,128K"  wrap:"member"`
	PermissionsBoundaryPolicyInputList []string       `max:"100,128K"  wrap:"member"`
	ActionNames                        []string       `max:"1000,128"  wrap:"member"`
	ResourceArns                       []string       `max:"1000,2048" wrap:"member"`
	ResourcePolicy                     *string        `max:"128K"`
	ResourceOwner                      *string        `max:"2048"`
	CallerArn                          *string        `max:"2048"`
	ContextEntries                     []ContextEntry `max:"50"        wrap:"member"`
	ResourceHandlingOption             *string        `max:"64"`
	PolicyExclusionList                []Exclusion    `max:"256"       wrap:"member"`
	Marker                             *string        `max:"2048"`
	MaxItems                           *int32
}

// Place is the beginning or the end of a statement in its document.
type Place struct{ Line, Column int32 }

// Statement is a statement of a policy that decided.
type Statement struct {
	SourcePolicyId   string
	SourcePolicyType string
	StartPosition    Place
	EndPosition      Place
}

// EvaluationResult is the result for one action on one resource.
type EvaluationResult struct {
	EvalActionName       string
	EvalResourceName     string
	EvalDecision         string
	MatchedStatements    []Statement `json:",always" wrap:"member"`
	MissingContextValues []string    `json:",always" wrap:"member"`

	PermissionsBoundaryDecisionDetail *BoundaryDecision
	EvalDecisionDetails               *service.Empty   // of a resource that the request names
	ResourceSpecificResults           []ResourceResult `wrap:"member"`
}

// ResourceResult is the result for a resource that the request names.
type ResourceResult struct {
	EvalResourceName     string
	EvalResourceDecision string
	MatchedStatements    []Statement `json:",always" wrap:"member"`
	MissingContextValues []string    `json:",always" wrap:"member"`

	PermissionsBoundaryDecisionDetail *BoundaryDecision
}

// BoundaryDecision is the decision of the boundary.
type BoundaryDecision struct{ AllowedByPermissionsBoundary bool }

type simulateOutput struct {
	EvaluationResults []EvaluationResult `json:",always"    wrap:"member"`
	IsTruncated       bool
	Marker            string `json:",omitempty"`
}

func (s *simulator) simulateCustom(ctx context.Context, c *protocol.Call, in *simulateInput) (*simulateOutput, error) {
	if err := s.allow(c, "SimulateCustomPolicy", subject{arn: anything}); err != nil {
		return nil, err
	}
	return s.simulate(ctx, c, in, nil)
}

func (s *simulator) simulatePrincipal(
	ctx context.Context, c *protocol.Call, in *simulateInput,
) (*simulateOutput, error) {
	e, err := s.source(c, in.PolicySourceArn, "SimulatePrincipalPolicy")
	if err != nil {
		return nil, err
	}
	return s.simulate(ctx, c, in, e)
}

// source returns the user, group or role whose policies a request simulates.
func (s *simulator) source(c *protocol.Call, name *string, action string) (*directory.Entity, error) {
	arn := orEmpty(name)
	arn = service.Shorten(arn)
	if err := s.allow(c, action, subject{arn: arn}); err != nil {
		return nil, err
	}
	if !entityARN.MatchString(arn) {
		return nil, errInput("Invalid Entity Arn: %s does not clearly define entity type and name.", arn)
	}
	e := s.directory.ByARN(arn)
	if e == nil || e.Account != service.Caller(c).Account || !slices.Contains(allKinds, e.Kind) {
		return nil, errNotFound("%s does not exist", arn)
	}
	return e, nil
}

// entityARN is the form of the ARNs of users, groups and roles.
var entityARN = regexp.MustCompile(`^arn:aws[a-z-]*:iam::[0-9]{12}:(user|group|role)/.+$`)

type contextKeysInput struct {
	PolicySourceArn *string  `max:"2048"`
	PolicyInputList []string `max:"100,128K" wrap:"member"`
}

type contextKeysOutput struct {
	ContextKeyNames []string `json:",always" wrap:"member"`
}

func (s *simulator) contextKeysCustom(
	_ context.Context, c *protocol.Call, in *contextKeysInput,
) (*contextKeysOutput, error) {
	if err := s.allow(c, "GetContextKeysForCustomPolicy", subject{arn: anything}); err != nil {
		return nil, err
	}
	return contextKeys(in.PolicyInputList, nil)
}

func (s *simulator) contextKeysPrincipal(
	_ context.Context, c *protocol.Call, in *contextKeysInput,
) (*contextKeysOutput, error) {
	e, err := s.source(c, in.PolicySourceArn, "GetContextKeysForPrincipalPolicy")
	if err != nil {
		return nil, err
	}
	own, _ := s.directory.EffectivePolicies(e)
	return contextKeys(in.PolicyInputList, own.Identity)
}

func contextKeys(texts []string, policies []*policy.Policy) (*contextKeysOutput, error) {
	if err := checkDocuments(texts); err != nil {
		return nil, err
	}
	for _, text := range texts {
		p, err := policy.Parse(policy.ForIdentity, text)
		if err != nil {
			return nil, errInput("Invalid policy: %v", err)
		}
		policies = append(policies, p)
	}
	var keys []string
	known := make(map[string]bool) // in lower case
	for _, p := range policies {
		if p == nil {
			continue
		}
		for _, key := range p.Keys() {
			if folded := strings.ToLower(key); !known[folded] {
				known[folded] = true
				keys = append(keys, key)
			}
		}
	}
	return &contextKeysOutput{keys}, nil
}
