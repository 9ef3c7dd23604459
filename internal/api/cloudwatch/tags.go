package cloudwatch

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insightrule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/muterule"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// tagging has the operations on the tags of all resources that have some: alarms, dashboards, and both kinds of rules.
type tagging struct {
	*core
	insightRules *insightrule.Rules
	muteRules    *muterule.Rules
}

func (s tagging) register(wire *protocol.Service) {
	protocol.Register(wire, "ListTagsForResource", s.listTagsForResource)
	protocol.Register(wire, "TagResource", s.tagResource, protocol.Control, protocol.EmptyResult)
	protocol.Register(wire, "UntagResource", s.untagResource, protocol.Control, protocol.EmptyResult)
}

type tagResourceInput struct {
	ResourceARN *string       `max:"1024"`
	Tags        []service.Tag `max:"50"   wrap:"member"`
}

type untagResourceInput struct {
	ResourceARN *string  `max:"1024"`
	TagKeys     []string `max:"50,128" wrap:"member"`
}

type listTagsInput struct {
	ResourceARN *string `max:"1024"`
}

type listTagsOutput struct {
	Tags []service.Tag `wrap:"member" json:",always"`
}

// checkTags returns the tags of a request by their keys.
func checkTags(tags []service.Tag) (map[string]string, error) {
	for _, t := range tags {
		if strings.HasPrefix(strings.ToLower(t.Key), "aws:") {
			return nil, errValue("The tag key %s is invalid: keys that begin with aws: belong to AWS.", t.Key)
		}
	}
	out, err := service.TagMap(tags)
	if err != nil {
		return nil, errValue("Duplicate tag keys found.")
	}
	return out, nil
}

// tagged is a resource with tags: an alarm, a dashboard, a rule of Contributor Insights or one that mutes alarms.
type tagged interface {
	tags() map[string]string
}

// monitored is an alarm or a dashboard.
type monitored interface {
	tagged
	retag(tx *monitor.Tx, tags map[string]string) error
}

type taggedAlarm struct{ *monitor.Alarm }

func (a taggedAlarm) tags() map[string]string { return a.Tags }

func (a taggedAlarm) retag(tx *monitor.Tx, tags map[string]string) error {
	return tx.Retag(a.Alarm, tags)
}

type taggedRule struct{ *insightrule.Rule }

type taggedMuteRule struct{ *muterule.Rule }

func (r taggedMuteRule) tags() map[string]string { return r.Tags }

func (r taggedRule) tags() map[string]string { return r.Tags }

type taggedDashboard struct {
	*monitor.Dashboard
	in *monitor.Monitor
}

func (d taggedDashboard) tags() map[string]string { return d.Tags }

func (d taggedDashboard) retag(tx *monitor.Tx, tags map[string]string) error {
	body, err := d.in.Body(d.Dashboard)
	if err != nil {
		return err
	}
	is := *d.Dashboard
	is.Tags = tags
	return tx.PutDashboard(&is, body)
}

// isAlarm reports whether an ARN names an alarm of a scope, whether or not it exists.
func isAlarm(where series.Scope, arn string) bool {
	name, ok := strings.CutPrefix(arn, monitor.Name{Scope: where}.ARN())
	return ok && name != ""
}

// resource returns the resource of an ARN of the caller's account and region, or nil.
func (s tagging) resource(c *protocol.Call, arn string) tagged {
	where := scope(c)
	if name, ok := strings.CutPrefix(arn, monitor.Name{Scope: where}.ARN()); ok {
		if a := s.monitor.Alarm(monitor.Name{Scope: where, Name: name}); a != nil {
			return taggedAlarm{a}
		}
	}
	if name, ok := strings.CutPrefix(arn, ruleOf(c, "").ARN()); ok {
		if r := s.insightRules.Get(ruleOf(c, name)); r != nil {
			return taggedRule{r}
		}
	}
	if name, ok := strings.CutPrefix(arn, muteRuleOf(c, "").ARN()); ok {
		if r := s.muteRules.Get(muteRuleOf(c, name)); r != nil {
			return taggedMuteRule{r}
		}
	}
	if name, ok := strings.CutPrefix(arn, monitor.DashboardARN(where.Account, "")); ok {
		if d := s.monitor.Dashboard(where.Account, name); d != nil {
			return taggedDashboard{d, s.monitor}
		}
	}
	return nil
}

// findTagged returns the resource that a request names, if the caller may take the action on it.
func (s tagging) findTagged(c *protocol.Call, action string, arn *string, about service.Subject) (tagged, error) {
	written := *arn
	found := s.resource(c, written)
	about.Resource = service.ARN(written)
	if found != nil {
		about.Tags = found.tags()
	}
	if err := s.allow(c, action, about); err != nil {
		return nil, err
	}
	if found == nil {
		return nil, errNoResource(written)
	}
	return found, nil
}

// retag changes the tags of the resource that a request names.
func (s tagging) retag(ctx context.Context, c *protocol.Call, arn *string, f func(tags map[string]string)) error {
	if name, ok := strings.CutPrefix(*arn, ruleOf(c, "").ARN()); ok {
		return s.retagRule(ctx, ruleOf(c, name), f)
	}
	if name, ok := strings.CutPrefix(*arn, muteRuleOf(c, "").ARN()); ok {
		return s.retagMuteRule(ctx, muteRuleOf(c, name), f)
	}
	return s.change(ctx, false, func(tx *monitor.Tx) error {
		found, ok := s.resource(c, *arn).(monitored)
		if !ok {
			return errNoResource(*arn)
		}
		tags, err := changed(found, f)
		if err != nil {
			return err
		}
		return found.retag(tx, tags)
	})
}

func (s tagging) retagRule(ctx context.Context, k insightrule.Key, f func(tags map[string]string)) error {
	retag := func(r insightrule.Rule) (_ *insightrule.Rule, err error) {
		r.Tags, err = changed(taggedRule{&r}, f)
		return &r, err
	}
	missing, err := s.insightRules.Change(ctx, k.Scope, []string{k.Name}, retag)
	if len(missing) > 0 {
		return errNoResource(k.ARN())
	}
	return failure(err)
}

func (s tagging) retagMuteRule(ctx context.Context, k muterule.Key, f func(tags map[string]string)) error {
	found, err := s.muteRules.Retag(ctx, k, func(r muterule.Rule) (map[string]string, error) {
		return changed(taggedMuteRule{&r}, f)
	})
	if err == nil && !found {
		return errNoResource(k.ARN())
	}
	return failure(err)
}

// changed returns the tags of a resource after a change.
func changed(of tagged, f func(tags map[string]string)) (map[string]string, error) {
	tags := maps.Clone(of.tags())
	if tags == nil {
		tags = make(map[string]string)
	}
	f(tags)
	if len(tags) > service.MaxTags {
		return nil, errValue("A resource can have at most %d tags.", service.MaxTags)
	}
	return tags, nil
}

func (s tagging) tagResource(ctx context.Context, c *protocol.Call, in *tagResourceInput) (*service.Empty, error) {
	added, err := checkTags(in.Tags)
	if err != nil {
		return nil, err
	}
	if len(added) == 0 {
		return nil, errMissing("Tags")
	}
	if _, err := s.findTagged(c, "TagResource", in.ResourceARN, service.Subject{NewTags: added}); err != nil {
		return nil, err
	}
	return nil, s.retag(ctx, c, in.ResourceARN, func(tags map[string]string) { maps.Copy(tags, added) })
}

func (s tagging) untagResource(ctx context.Context, c *protocol.Call, in *untagResourceInput) (*service.Empty, error) {
	if len(in.TagKeys) == 0 {
		return nil, errMissing("TagKeys")
	}
	if _, err := s.findTagged(c, "UntagResource", in.ResourceARN, service.Subject{TagKeys: in.TagKeys}); err != nil {
		return nil, err
	}
	return nil, s.retag(ctx, c, in.ResourceARN, func(tags map[string]string) {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
	})
}

// listTagsForResource returns no tags for an alarm that does not exist, or no longer exists.
func (s tagging) listTagsForResource(_ context.Context, c *protocol.Call, in *listTagsInput) (*listTagsOutput, error) {
	found, err := s.findTagged(c, "ListTagsForResource", in.ResourceARN, service.Subject{})
	e, refused := errors.AsType[*protocol.Error](err)
	if refused && e.Code == codeNoResource && isAlarm(scope(c), *in.ResourceARN) {
		return &listTagsOutput{[]service.Tag{}}, nil
	}
	if err != nil {
		return nil, err
	}
	return &listTagsOutput{service.TagList(found.tags())}, nil
}
