package cloudwatch

import (
	"strings"
	"unicode"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// alarmInput holds the common parameters of all kinds of alarms.
type alarmInput struct {
	AlarmName               *string `max:"255"`
	AlarmDescription        *string `max:"1024"`
	ActionsEnabled          *bool
	OKActions               []string `max:"20,1024" wrap:"member"` // the model allows 5, and its error shows all
	AlarmActions            []string `max:"20,1024" wrap:"member"`
	InsufficientDataActions []string `max:"20,1024" wrap:"member"`
	ActionConfiguration     *ActionConfiguration
	Tags                    []service.Tag `max:"50"     wrap:"member"`
}

// ActionConfiguration configures notifications.
type ActionConfiguration struct {
	AlarmTagsPropagation *AlarmTagsPropagation
}

// AlarmTagsPropagation selects the alarm's tags for notifications.
type AlarmTagsPropagation struct {
	Enabled         *bool
	IncludedTagKeys []string `wrap:"member" max:"50,128"`
	ExcludedTagKeys []string `wrap:"member" max:"50,128"`
}

// newAlarm returns the alarm that a request puts and its tags, if the caller may put it and, if it is new, tag it.
// describe sets the properties of its kind.
func (s alarms) newAlarm(
	c *protocol.Call, in *alarmInput, may func(monitor.Name, map[string]string) error,
	describe func(*monitor.Alarm) error,
) (*monitor.Alarm, map[string]string, error) {
	name, err := alarmName(c, in.AlarmName)
	if err != nil {
		return nil, nil, err
	}
	tags, err := checkTags(in.Tags)
	if err != nil {
		return nil, nil, err
	}
	if err := may(name, tags); err != nil {
		return nil, nil, err
	}
	c.Notes.Set("alarm", name.Name)
	a := &monitor.Alarm{
		Name: name, Description: text(in.AlarmDescription),
		ActionsEnabled: in.ActionsEnabled == nil || *in.ActionsEnabled,
		OKActions:      in.OKActions, AlarmActions: in.AlarmActions,
		InsufficientDataActions: in.InsufficientDataActions,
	}
	if err := describe(a); err != nil {
		return nil, nil, err
	}
	if a.ShowTags, err = in.ActionConfiguration.showTags(); err != nil {
		return nil, nil, err
	}
	if err := checkActions(a); err != nil {
		return nil, nil, err
	}
	if len(tags) > 0 && s.monitor.Alarm(name) == nil {
		err = s.allowAlarm(c, "TagResource", name, tags)
	}
	return a, tags, err
}

// alarmName returns the name of an alarm that a request is about.
func alarmName(c *protocol.Call, name *string) (monitor.Name, error) {
	var v protocol.Violations
	v.Characters("alarmName", name, func(r rune) bool { return !unicode.IsControl(r) && r != unicode.ReplacementChar }, `[^\x00-\x1F\x7F]+`)
	return monitor.Name{Scope: scope(c), Name: text(name)}, v.Err()
}

// showTags returns the tags for notifications, or nil.
func (c *ActionConfiguration) showTags() (*monitor.ShowTags, error) {
	if c == nil || c.AlarmTagsPropagation == nil {
		return nil, nil
	}
	p := c.AlarmTagsPropagation
	if p.IncludedTagKeys != nil && p.ExcludedTagKeys != nil {
		return nil, protocol.ValidationError("AlarmTagsPropagation must not have both IncludedTagKeys and ExcludedTagKeys.")
	}
	return &monitor.ShowTags{Enabled: *p.Enabled, Included: p.IncludedTagKeys, Excluded: p.ExcludedTagKeys}, nil
}

// checkActions checks that the actions of an alarm can be carried out.
func checkActions(a *monitor.Alarm) error {
	for _, arn := range a.Actions() {
		if err := checkAction(a.Scope, arn); err != nil {
			return err
		}
	}
	return nil
}

// checkAction checks that an action is a topic of the region.
func checkAction(in series.Scope, arn string) error {
	parts := strings.SplitN(arn, ":", 6)
	switch {
	case len(parts) < 6 || parts[0] != "arn" || parts[5] == "":
		return protocol.ValidationError("Invalid arn syntax: %s", service.Shorten(arn))
	case parts[2] != "sns":
		return protocol.ValidationError(
			"The action %s is not supported by Sluice: an action is the ARN of an SNS topic.",
			service.Shorten(arn),
		)
	case parts[3] != in.Region:
		return protocol.ValidationError("Invalid region %s specified. Only %s is supported.", parts[3], in.Region)
	}
	return nil
}
