package cloudwatch

import (
	"context"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
)

// CompositeAlarm is a composite alarm as clients see it. As the child or parent of another alarm, it lacks all
// pointers, and as a parent its state, too.
type CompositeAlarm struct {
	AlarmName                          string
	AlarmArn                           string
	AlarmDescription                   *string
	AlarmConfigurationUpdatedTimestamp *time.Time `precise:""`
	ActionsEnabled                     *bool
	OKActions                          []string `           wrap:"member" json:",always"`
	AlarmActions                       []string `           wrap:"member" json:",always"`
	InsufficientDataActions            []string `           wrap:"member" json:",always"`
	StateValue                         *string
	StateReason                        *string
	StateReasonData                    *string
	StateUpdatedTimestamp              *time.Time `precise:""`
	StateTransitionedTimestamp         *time.Time `precise:""`
	AlarmRule                          *string
	ActionsSuppressor                  *string
	ActionsSuppressorWaitPeriod        *int32
	ActionsSuppressorExtensionPeriod   *int32
	ActionsSuppressedBy                *string
	ActionsSuppressedReason            *string
	ActionConfiguration                *ActionConfiguration
}

// showParent shows an alarm as a parent of another.
func showParent(a *monitor.Alarm) CompositeAlarm {
	return CompositeAlarm{AlarmName: a.Name.Name, AlarmArn: a.ARN()}
}

// showCompositeChild shows an alarm as a child of another.
func showCompositeChild(a *monitor.Alarm) CompositeAlarm {
	out := showParent(a)
	out.StateValue, out.StateUpdatedTimestamp = new(string(a.State)), &a.StateSet
	return out
}

func showCompositeAlarm(a *monitor.Alarm) CompositeAlarm {
	c := a.Composite
	out := CompositeAlarm{
		AlarmName: a.Name.Name, AlarmArn: a.ARN(), AlarmDescription: optional(a.Description),
		AlarmConfigurationUpdatedTimestamp: &a.Updated,
		ActionsEnabled:                     &a.ActionsEnabled, OKActions: a.OKActions, AlarmActions: a.AlarmActions,
		InsufficientDataActions: a.InsufficientDataActions,
		StateValue:              new(string(a.State)), StateReason: &a.Reason, StateReasonData: optional(a.ReasonData),
		StateUpdatedTimestamp: &a.StateSet, StateTransitionedTimestamp: &a.StateBegan, AlarmRule: &c.Rule,
		ActionsSuppressedBy:     optional(string(c.Suppression.By)),
		ActionsSuppressedReason: optional(c.Suppression.Reason()),
		ActionConfiguration:     showActionConfiguration(a),
	}
	if c.Suppressor != "" {
		out.ActionsSuppressor = &c.Suppressor
		out.ActionsSuppressorWaitPeriod = new(int32(c.Wait))
		out.ActionsSuppressorExtensionPeriod = new(int32(c.Extension))
	}
	return out
}

type putCompositeAlarmInput struct {
	alarmInput
	AlarmRule                        *string `max:"10240"`
	ActionsSuppressor                *string `max:"1600"`
	ActionsSuppressorWaitPeriod      *int32
	ActionsSuppressorExtensionPeriod *int32
}

// putCompositeAlarm requires a permission on all alarms, as AWS does: the alarm's state reveals those of others.
func (s alarms) putCompositeAlarm(
	ctx context.Context, c *protocol.Call, in *putCompositeAlarmInput,
) (*service.Empty, error) {
	may := func(_ monitor.Name, tags map[string]string) error {
		return s.allow(c, "PutCompositeAlarm", service.Subject{Resource: service.ARN(allAlarms(c).ARN()), NewTags: tags})
	}
	is, tags, err := s.newAlarm(c, &in.alarmInput, may, in.describe)
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, true, func(tx *monitor.Tx) error {
		if err := s.checkReferences(is); err != nil {
			return err
		}
		return s.putAlarm(tx, is, tags)
	})
}

// allAlarms is the resource of a permission on all alarms.
func allAlarms(c *protocol.Call) monitor.Name { return monitor.Name{Scope: scope(c), Name: "*"} }

// describe sets the rule, and the suppressor of the actions.
func (in *putCompositeAlarmInput) describe(a *monitor.Alarm) (err error) {
	var v protocol.Violations
	v.Range("actionsSuppressorWaitPeriod", in.ActionsSuppressorWaitPeriod, 0, 1<<31-1)
	v.Range("actionsSuppressorExtensionPeriod", in.ActionsSuppressorExtensionPeriod, 0, 1<<31-1)
	if err := v.Err(); err != nil {
		return err
	}
	if *in.AlarmRule != strings.TrimSpace(*in.AlarmRule) {
		return protocol.ValidationError("AlarmRule must not contain leading or trailing whitespace or be null")
	}
	if a.Composite, err = monitor.NewComposite(a.Scope, *in.AlarmRule); err != nil {
		return protocol.ValidationError("Error in AlarmRule [%s]", err)
	}
	return in.suppressor(a.Composite)
}

// suppressor sets the suppressor of the actions.
func (in *putCompositeAlarmInput) suppressor(c *monitor.Composite) error {
	wait, extension := in.ActionsSuppressorWaitPeriod, in.ActionsSuppressorExtensionPeriod
	switch {
	case in.ActionsSuppressor == nil && (wait != nil || extension != nil):
		return protocol.ValidationError(
			"ActionsSuppressorWaitPeriod and ActionsSuppressorExtensionPeriod can only be specified with ActionsSuppressor.")
	case in.ActionsSuppressor != nil && (wait == nil || extension == nil):
		return protocol.ValidationError(
			"ActionsSuppressorWaitPeriod and ActionsSuppressorExtensionPeriod are required with ActionsSuppressor.",
		)
	case in.ActionsSuppressor != nil:
		c.Suppressor, c.Wait, c.Extension = *in.ActionsSuppressor, int(*wait), int(*extension)
	}
	return nil
}

// checkReferences checks that the alarms to which a composite alarm refers exist, and that none of them has too many
// parents.
func (s alarms) checkReferences(is *monitor.Alarm) error {
	var missing []string
	for _, child := range is.Composite.Children() {
		if s.monitor.Alarm(child) == nil {
			missing = append(missing, arnOf(child))
		}
		if s.monitor.CountParents(child, is.Name) >= monitor.MaxParents {
			return errLimit("The alarm %s is in the rules of %d composite alarms; it cannot be in more.", child.Name, monitor.MaxParents)
		}
	}
	if len(missing) > 0 {
		return protocol.ValidationError("Could not save the composite alarm as alarms [%s] in the alarm rule do not exist",
			service.Shorten(strings.Join(missing, ", ")))
	}
	if ref := is.Composite.Suppressor; ref != "" && s.monitor.Alarm(monitor.Referenced(is.Scope, ref)) == nil {
		return protocol.ValidationError(
			"Could not save the composite alarm as the suppressor alarm [%s] does not exist",
			service.Shorten(ref),
		)
	}
	return nil
}

// arnOf returns the ARN of an alarm that a rule names. The name of one of another region or account is its ARN.
func arnOf(child monitor.Name) string {
	if strings.HasPrefix(child.Name, "arn:") {
		return child.Name
	}
	return child.ARN()
}

// putAlarm adds an alarm, or replaces the configuration of the existing one of its name and kind.
func (s alarms) putAlarm(tx *monitor.Tx, is *monitor.Alarm, tags map[string]string) error {
	put, was := is.Clone(), s.monitor.Alarm(is.Name)
	switch {
	case was != nil && (was.Composite == nil) != (is.Composite == nil):
		return protocol.ValidationError("The alarm %s exists and is %s.", is.Name.Name, kindOf(was))
	case was != nil:
		return tx.Update(was, put, s.now())
	}
	if err := alarmQuota.Allow(s.monitor.CountIn(is.Scope)); err != nil {
		return err
	}
	put.Tags = tags
	return tx.Create(put, s.now())
}

// kindOf returns the kind of an alarm in words.
func kindOf(a *monitor.Alarm) string {
	if a.Composite != nil {
		return "a composite alarm"
	}
	return "a metric alarm"
}

// checkDelete checks that alarms can be deleted together: at most one of them is composite, and no remaining alarm
// depends on one of them.
func (s alarms) checkDelete(going []*monitor.Alarm) error {
	var composite *monitor.Alarm
	for _, a := range going {
		if a.Composite == nil {
			continue
		}
		if composite != nil {
			return protocol.ValidationError("You can delete at most one composite alarm in one operation.")
		}
		composite = a
	}
	var needed []string
	for _, a := range going {
		staying := service.Filter(s.monitor.Dependents(a.Name), func(d *monitor.Alarm) bool {
			return d != composite || a == composite
		})
		if len(staying) > 0 {
			needed = append(needed, a.Name.Name)
		}
	}
	switch len(needed) {
	case 0:
		return nil
	case 1:
		return protocol.ValidationError("Cannot delete %s as there are composite alarm(s) depending on it.", needed[0])
	}
	return protocol.ValidationError("Cannot delete %s as there are composite alarm(s) depending on them.",
		service.Shorten(strings.Join(needed, ",")))
}
