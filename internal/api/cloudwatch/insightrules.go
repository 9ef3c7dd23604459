package cloudwatch

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insightrule"
)

const (
	ruleEnabled  = "ENABLED"
	ruleDisabled = "DISABLED"
	// ruleSchema is the schema that AWS shows for every rule on logs.
	ruleSchema = "CloudWatchLogRule/1"
	rulesPage  = 500
)

// insightRules has the operations on rules of Contributor Insights.
type insightRules struct {
	*core
	rules *insightrule.Rules
}

func (s insightRules) register(wire *protocol.Service) {
	protocol.Register(wire, "DeleteInsightRules", s.deleteInsightRules, protocol.Control)
	protocol.Register(wire, "DescribeInsightRules", s.describeInsightRules)
	protocol.Register(wire, "DisableInsightRules", s.disableInsightRules, protocol.Control)
	protocol.Register(wire, "EnableInsightRules", s.enableInsightRules, protocol.Control)
	protocol.Register(wire, "PutInsightRule", s.putInsightRule, protocol.Control, protocol.EmptyResult)
}

type putInsightRuleInput struct {
	RuleName               *string       `max:"128"`
	RuleState              *string       `max:"32"`
	RuleDefinition         *string       `max:"8192"`
	Tags                   []service.Tag `max:"50"   wrap:"member"`
	ApplyOnTransformedLogs *bool
}

func (s insightRules) putInsightRule(
	ctx context.Context, c *protocol.Call, in *putInsightRuleInput,
) (*service.Empty, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	tags, err := checkTags(in.Tags)
	if err != nil {
		return nil, err
	}
	is := &insightrule.Rule{
		Key: ruleOf(c, *in.RuleName), Definition: *in.RuleDefinition, Enabled: text(in.RuleState) != ruleDisabled,
		Transformed: in.ApplyOnTransformedLogs != nil && *in.ApplyOnTransformedLogs, Tags: tags,
	}
	if err := s.allowRule(c, "PutInsightRule", is.Key, tags); err != nil {
		return nil, err
	}
	if len(tags) > 0 && s.rules.Get(is.Key) == nil {
		if err := s.allowRule(c, "TagResource", is.Key, tags); err != nil {
			return nil, err
		}
	}
	if err := s.room(); err != nil {
		return nil, service.NoRoom(err)
	}
	return nil, failure(s.rules.Put(ctx, is))
}

func (in *putInsightRuleInput) check() error {
	var c complaints
	c.ruleName("RuleName", in.RuleName)
	c.oneOf("RuleState", in.RuleState, []string{ruleEnabled, ruleDisabled})
	if c.require("RuleDefinition", in.RuleDefinition) && !isRuleDefinition(*in.RuleDefinition) {
		c.value("The value for parameter RuleDefinition is invalid: " +
			"it must be a JSON object with the schema CloudWatchLogRule of version 1.")
	}
	return c.err()
}

// ruleName checks the name of a rule.
func (c *complaints) ruleName(parameter string, name *string) {
	if c.require(parameter, name) && strings.ContainsFunc(*name, func(r rune) bool { return r < ' ' || r > '~' }) {
		c.value(`The value %s for parameter %s is not matching the expected pattern [\x20-\x7E]+.`, *name, parameter)
	}
}

// isRuleDefinition reports whether a text defines a rule about logs.
func isRuleDefinition(text string) bool {
	var definition struct {
		Schema struct {
			Name    string
			Version int
		}
	}
	err := json.Unmarshal([]byte(text), &definition)
	return err == nil && definition.Schema.Name == "CloudWatchLogRule" && definition.Schema.Version == 1
}

// ruleOf returns the key of a rule of the caller's account and region.
func ruleOf(c *protocol.Call, name string) insightrule.Key {
	return insightrule.Key{Scope: scope(c), Name: name}
}

// allowRule is allow for a rule, which may not exist.
func (s insightRules) allowRule(c *protocol.Call, action string, k insightrule.Key, newTags map[string]string) error {
	about := service.Subject{Resource: service.ARN(k.ARN()), NewTags: newTags}
	if r := s.rules.Get(k); r != nil {
		about.Tags = r.Tags
	}
	return s.allow(c, action, about)
}

type describeInsightRulesInput struct {
	NextToken  *string `max:"8K"`
	MaxResults *int32
}

type describeInsightRulesOutput struct {
	InsightRules []InsightRule `wrap:"member" json:",always"`
	NextToken    string        `              json:",omitempty"`
}

// InsightRule is a rule as clients see it.
type InsightRule struct {
	Name                   string
	State                  string
	Schema                 string
	Definition             string
	ManagedRule            bool
	ApplyOnTransformedLogs bool
}

func (s insightRules) describeInsightRules(
	_ context.Context, c *protocol.Call, in *describeInsightRulesInput,
) (*describeInsightRulesOutput, error) {
	var v protocol.Violations
	v.Range("maxResults", in.MaxResults, 1, rulesPage)
	if err := v.Err(); err != nil {
		return nil, err
	}
	if err := s.allow(c, "DescribeInsightRules", service.Subject{}); err != nil {
		return nil, err
	}
	most := rulesPage
	if in.MaxResults != nil {
		most = int(*in.MaxResults)
	}
	byName := func(r *insightrule.Rule) string { return r.Name }
	p, err := paged(service.Paginate(s.rules.In(scope(c)), byName, text(in.NextToken), "", most))
	if err != nil {
		return nil, err
	}
	return &describeInsightRulesOutput{service.Convert(p.Items, showRule), p.Next}, nil
}

func showRule(r *insightrule.Rule) InsightRule {
	out := InsightRule{
		Name: r.Name, State: ruleDisabled, Schema: ruleSchema, Definition: r.Definition,
		ApplyOnTransformedLogs: r.Transformed,
	}
	if r.Enabled {
		out.State = ruleEnabled
	}
	return out
}

type ruleNamesInput struct {
	RuleNames []string `max:"100,128" wrap:"member"`
}

type ruleNamesOutput struct {
	Failures []PartialFailure `wrap:"member" json:",always"`
}

// PartialFailure is the reason why one of several rules was not changed.
type PartialFailure struct {
	FailureResource    string
	ExceptionType      string
	FailureCode        string
	FailureDescription string
}

func (s insightRules) enableInsightRules(
	ctx context.Context, c *protocol.Call, in *ruleNamesInput,
) (*ruleNamesOutput, error) {
	return s.changeRules(ctx, c, "EnableInsightRules", in.RuleNames, func(r insightrule.Rule) (*insightrule.Rule, error) {
		r.Enabled = true
		return &r, nil
	})
}

func (s insightRules) disableInsightRules(
	ctx context.Context, c *protocol.Call, in *ruleNamesInput,
) (*ruleNamesOutput, error) {
	return s.changeRules(ctx, c, "DisableInsightRules", in.RuleNames, func(r insightrule.Rule) (*insightrule.Rule, error) {
		r.Enabled = false
		return &r, nil
	})
}

func (s insightRules) deleteInsightRules(
	ctx context.Context, c *protocol.Call, in *ruleNamesInput,
) (*ruleNamesOutput, error) {
	return s.changeRules(ctx, c, "DeleteInsightRules", in.RuleNames, func(insightrule.Rule) (*insightrule.Rule, error) {
		return nil, nil
	})
}

// changeRules changes rules by their names, if the caller may take the action on each. It answers which are missing.
func (s insightRules) changeRules(
	ctx context.Context, c *protocol.Call, action string, names []string,
	f func(insightrule.Rule) (*insightrule.Rule, error),
) (*ruleNamesOutput, error) {
	var bad complaints
	if len(names) == 0 {
		complain(&bad.missing, "The parameter RuleNames is required.")
	}
	for i, name := range names {
		bad.ruleName(entry("RuleNames", i)+"<list element>", &name)
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := s.allowRule(c, action, ruleOf(c, name), nil); err != nil {
			return nil, err
		}
	}
	missing, err := s.rules.Change(ctx, scope(c), slices.Compact(slices.Sorted(slices.Values(names))), f)
	if err != nil {
		return nil, failure(err)
	}
	return &ruleNamesOutput{service.Convert(missing, noRule)}, nil
}

func noRule(name string) PartialFailure {
	return PartialFailure{
		FailureResource: name, ExceptionType: codeNoResource, FailureCode: "ResourceNotFound",
		FailureDescription: "Unknown rule: " + name,
	}
}
