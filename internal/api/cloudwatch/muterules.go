package cloudwatch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/muterule"
)

// MuteRule is when alarms are muted, as clients see it.
type MuteRule struct{ Schedule *MuteSchedule }

// MuteSchedule is when the windows of a rule begin, and how long they are.
type MuteSchedule struct {
	Expression *string `max:"256"`
	Duration   *string `max:"50"`
	Timezone   *string `max:"50"`
}

// MuteTargets are the alarms of a rule.
type MuteTargets struct {
	AlarmNames []string `max:"200,255" wrap:"member" json:",always"` // the model allows 100
}

// muting has the operations on mute rules.
type muting struct {
	*core
	rules *muterule.Rules
}

func (s muting) register(wire *protocol.Service) {
	protocol.Register(wire, "DeleteAlarmMuteRule", s.deleteAlarmMuteRule, protocol.Control)
	protocol.Register(wire, "GetAlarmMuteRule", s.getAlarmMuteRule)
	protocol.Register(wire, "ListAlarmMuteRules", s.listAlarmMuteRules)
	protocol.Register(wire, "PutAlarmMuteRule", s.putAlarmMuteRule, protocol.Control)
}

type putAlarmMuteRuleInput struct {
	Name        *string `max:"255"`
	Description *string `max:"1024"`
	Rule        *MuteRule
	MuteTargets *MuteTargets
	Tags        []service.Tag `max:"50" wrap:"member"`
	StartDate   *time.Time
	ExpireDate  *time.Time
}

// muteRuleOf returns the key of the rule of that name, in the account and region of a request.
func muteRuleOf(c *protocol.Call, name string) muterule.Key {
	return muterule.Key{Scope: scope(c), Name: name}
}

// allowMuteRule is allow for a rule, which may not exist.
func (s muting) allowMuteRule(c *protocol.Call, action string, k muterule.Key, newTags map[string]string) error {
	about := service.Subject{Resource: service.ARN(k.ARN()), NewTags: newTags}
	if r := s.rules.Get(k); r != nil {
		about.Tags = r.Tags
	}
	return s.allow(c, action, about)
}

// putAlarmMuteRule needs a permission on the rule, and on each alarm that it mutes.
func (s muting) putAlarmMuteRule(
	ctx context.Context, c *protocol.Call, in *putAlarmMuteRuleInput,
) (*service.Empty, error) {
	tags, err := checkTags(in.Tags)
	if err != nil {
		return nil, err
	}
	is := in.rule(muteRuleOf(c, *in.Name), tags, s.now())
	if err := s.allowMuteRule(c, "PutAlarmMuteRule", is.Key, tags); err != nil {
		return nil, err
	}
	for _, name := range is.Alarms {
		about := s.aboutAlarm(monitor.Name{Scope: is.Scope, Name: name})
		if err := s.allow(c, "PutAlarmMuteRule", about); err != nil {
			return nil, err
		}
	}
	if err := checkSchedule(is); err != nil {
		return nil, err
	}
	if err := s.room(); err != nil {
		return nil, service.NoRoom(err)
	}
	return nil, failure(s.rules.Put(ctx, is, func() error { return s.checkTargets(is) }))
}

// rule returns the rule that a request puts.
func (in *putAlarmMuteRuleInput) rule(k muterule.Key, tags map[string]string, now time.Time) *muterule.Rule {
	schedule := in.Rule.Schedule
	is := &muterule.Rule{
		Key: k, Description: in.Description, Expression: text(schedule.Expression), Duration: text(schedule.Duration),
		Timezone: "UTC", Updated: now.UTC().Truncate(time.Millisecond), Tags: tags,
	}
	if schedule.Timezone != nil {
		is.Timezone = *schedule.Timezone
	}
	if in.MuteTargets != nil {
		is.Alarms = in.MuteTargets.AlarmNames
	}
	if in.StartDate != nil {
		is.Start = in.StartDate.UTC().Truncate(time.Minute)
	}
	if in.ExpireDate != nil {
		is.Expire = in.ExpireDate.UTC().Truncate(time.Minute)
	}
	return is
}

// checkSchedule refuses a schedule that has no meaning.
func checkSchedule(r *muterule.Rule) error {
	_, err := muterule.Parse(r.Expression, r.Duration, r.Timezone)
	switch {
	case errors.Is(err, muterule.ErrDuration):
		return protocol.ValidationError("The Duration provided is not valid.")
	case errors.Is(err, muterule.ErrAt):
		return protocol.ValidationError("At expressions must be a valid date in 'yyyy-MM-ddThh:mm' format")
	case errors.Is(err, muterule.ErrTimezone):
		return protocol.ValidationError("The Timezone provided is not valid.")
	case err != nil:
		return protocol.ValidationError("The Expression provided is not valid.")
	case r.Kind() == muterule.OneTime && !(r.Start.IsZero() && r.Expire.IsZero()):
		return protocol.ValidationError("StartDate and ExpireDate must not be specified with an at expression.")
	case !r.Expire.IsZero() && !r.Expire.After(r.Start):
		return protocol.ValidationError("ExpireDate must be after StartDate.")
	}
	return nil
}

// checkTargets refuses names of alarms that do not exist.
func (s muting) checkTargets(r *muterule.Rule) error {
	missing := slices.DeleteFunc(slices.Clone(r.Alarms), func(name string) bool {
		return s.monitor.Alarm(monitor.Name{Scope: r.Scope, Name: name}) != nil
	})
	if len(missing) == 0 {
		return nil
	}
	return protocol.ValidationError("The alarms [%s] do not exist.", service.Shorten(strings.Join(missing, ", ")))
}

type muteRuleInput struct {
	AlarmMuteRuleName *string `max:"255"`
}

// deleteAlarmMuteRule deletes a rule. A missing rule is no error, as on AWS.
func (s muting) deleteAlarmMuteRule(
	ctx context.Context, c *protocol.Call, in *muteRuleInput,
) (*service.Empty, error) {
	k := muteRuleOf(c, *in.AlarmMuteRuleName)
	if err := s.allowMuteRule(c, "DeleteAlarmMuteRule", k, nil); err != nil {
		return nil, err
	}
	if s.rules.Get(k) == nil {
		return nil, nil
	}
	return nil, failure(s.rules.Delete(ctx, k))
}

type getAlarmMuteRuleOutput struct {
	Name                 string
	AlarmMuteRuleArn     string
	Description          *string
	Rule                 MuteRule
	MuteTargets          *MuteTargets
	StartDate            *time.Time
	ExpireDate           *time.Time
	Status               string
	LastUpdatedTimestamp time.Time `precise:""`
	MuteType             string
}

func (s muting) getAlarmMuteRule(
	_ context.Context, c *protocol.Call, in *muteRuleInput,
) (*getAlarmMuteRuleOutput, error) {
	k := muteRuleOf(c, *in.AlarmMuteRuleName)
	if err := s.allowMuteRule(c, "GetAlarmMuteRule", k, nil); err != nil {
		return nil, err
	}
	r := s.rules.Get(k)
	if r == nil {
		return nil, errNoMuteRule(k.Name)
	}
	out := &getAlarmMuteRuleOutput{
		Name: r.Name, AlarmMuteRuleArn: r.ARN(), Description: r.Description,
		Rule:      MuteRule{&MuteSchedule{&r.Expression, &r.Duration, &r.Timezone}},
		StartDate: service.OptionalTime(r.Start), ExpireDate: service.OptionalTime(r.Expire),
		Status: string(r.Status(s.now())), LastUpdatedTimestamp: r.Updated, MuteType: string(r.Kind()),
	}
	if len(r.Alarms) > 0 {
		out.MuteTargets = &MuteTargets{r.Alarms}
	}
	return out, nil
}

type listAlarmMuteRulesInput struct {
	AlarmName  *string  `max:"255"`
	Statuses   []string `max:"10,32" wrap:"member"`
	MaxRecords *int32
	NextToken  *string `max:"8K"`
}

type listAlarmMuteRulesOutput struct {
	AlarmMuteRuleSummaries []AlarmMuteRuleSummary `wrap:"member" json:",always"`
	NextToken              string                 `              json:",omitempty"`
}

// AlarmMuteRuleSummary is a rule in a list.
type AlarmMuteRuleSummary struct {
	AlarmMuteRuleArn     string
	ExpireDate           *time.Time
	Status               string
	MuteType             string
	LastUpdatedTimestamp time.Time `precise:""`
}

// muteRulesPage is how many rules a page has that the client does not limit.
const muteRulesPage = 50

func (s muting) listAlarmMuteRules(
	_ context.Context, c *protocol.Call, in *listAlarmMuteRulesInput,
) (*listAlarmMuteRulesOutput, error) {
	if err := s.allow(c, "ListAlarmMuteRules", service.Subject{}); err != nil {
		return nil, err
	}
	now, most := s.now(), muteRulesPage
	if in.MaxRecords != nil {
		most = int(*in.MaxRecords)
	}
	all := service.Filter(s.rules.In(scope(c)), func(r *muterule.Rule) bool {
		return (in.AlarmName == nil || slices.Contains(r.Alarms, *in.AlarmName)) &&
			(len(in.Statuses) == 0 || slices.Contains(in.Statuses, string(r.Status(now))))
	})
	byName := func(r *muterule.Rule) string { return r.Name }
	p, err := paged(service.Paginate(all, byName, text(in.NextToken), "", most))
	if err != nil {
		return nil, err
	}
	summary := func(r *muterule.Rule) AlarmMuteRuleSummary {
		return AlarmMuteRuleSummary{
			r.ARN(), service.OptionalTime(r.Expire), string(r.Status(now)), string(r.Kind()), r.Updated,
		}
	}
	return &listAlarmMuteRulesOutput{service.Convert(p.Items, summary), p.Next}, nil
}
