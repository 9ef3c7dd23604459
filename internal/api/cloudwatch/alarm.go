package cloudwatch

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
)

// alarms has the operations on alarms of both kinds.
type alarms struct{ *core }

func (s alarms) register(wire *protocol.Service) {
	protocol.Register(wire, "DeleteAlarms", s.deleteAlarms, protocol.Control)
	protocol.Register(wire, "DescribeAlarmContributors", s.describeAlarmContributors)
	protocol.Register(wire, "DescribeAlarmHistory", within(s.core, s.describeAlarmHistory))
	protocol.Register(wire, "DescribeAlarms", s.describeAlarms)
	protocol.Register(wire, "DescribeAlarmsForMetric", s.describeAlarmsForMetric)
	protocol.Register(wire, "DisableAlarmActions", s.disableAlarmActions, protocol.Control)
	protocol.Register(wire, "EnableAlarmActions", s.enableAlarmActions, protocol.Control)
	protocol.Register(wire, "PutCompositeAlarm", s.putCompositeAlarm, protocol.Control)
	protocol.Register(wire, "PutMetricAlarm", s.putMetricAlarm, protocol.Control)
	protocol.Register(wire, "SetAlarmState", s.setAlarmState, protocol.Control)
}

// allowAlarm is allow for an alarm, which may not exist. It notes the alarm's name.
func (s alarms) allowAlarm(c *protocol.Call, action string, n monitor.Name, newTags map[string]string) error {
	c.Notes.Set("alarm", n.Name)
	about := s.aboutAlarm(n)
	about.NewTags = newTags
	return s.allow(c, action, about)
}

type alarmNamesInput struct {
	AlarmNames []string `wrap:"member" max:"200,255"` // the model allows 100, and its error shows all
}

// find returns those of the alarms that a request names which exist, if the caller may take the action on each name.
func (s alarms) find(c *protocol.Call, action string, names []string) (found []monitor.Name, err error) {
	for _, n := range names {
		name, err := alarmName(c, &n)
		if err != nil {
			return nil, err
		}
		if err := s.allowAlarm(c, action, name, nil); err != nil {
			return nil, err
		}
		if s.monitor.Alarm(name) != nil && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found, nil
}

// present returns the alarms of these names that exist.
func (s alarms) present(names []monitor.Name) (out []*monitor.Alarm) {
	for _, n := range names {
		if a := s.monitor.Alarm(n); a != nil {
			out = append(out, a)
		}
	}
	return out
}

// deleteAlarms ignores missing alarms, as on AWS.
func (s alarms) deleteAlarms(ctx context.Context, c *protocol.Call, in *alarmNamesInput) (*service.Empty, error) {
	found, err := s.find(c, "DeleteAlarms", in.AlarmNames)
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, false, func(tx *monitor.Tx) error {
		going := s.present(found)
		if err := s.checkDelete(going); err != nil {
			return err
		}
		for _, a := range going {
			if err := tx.Delete(a, s.now()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s alarms) enableAlarmActions(
	ctx context.Context, c *protocol.Call, in *alarmNamesInput,
) (*service.Empty, error) {
	return s.switchActions(ctx, c, "EnableAlarmActions", in, true)
}

func (s alarms) disableAlarmActions(
	ctx context.Context, c *protocol.Call, in *alarmNamesInput,
) (*service.Empty, error) {
	return s.switchActions(ctx, c, "DisableAlarmActions", in, false)
}

// switchActions ignores missing alarms, as on AWS.
func (s alarms) switchActions(
	ctx context.Context,
	c *protocol.Call,
	action string,
	in *alarmNamesInput,
	enabled bool,
) (*service.Empty, error) {
	found, err := s.find(c, action, in.AlarmNames)
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, false, func(tx *monitor.Tx) error {
		for _, a := range s.present(found) {
			if err := tx.EnableActions(a, enabled, s.now()); err != nil {
				return err
			}
		}
		return nil
	})
}

type setAlarmStateInput struct {
	AlarmName       *string `max:"255"`
	StateValue      *string `max:"32"`
	StateReason     *string `max:"1023"`
	StateReasonData *string `max:"4000"`
}

func (s alarms) setAlarmState(ctx context.Context, c *protocol.Call, in *setAlarmStateInput) (*service.Empty, error) {
	name, err := alarmName(c, in.AlarmName)
	if err != nil {
		return nil, err
	}
	d := alarm.Decision{State: alarm.State(*in.StateValue), Reason: *in.StateReason, Data: text(in.StateReasonData)}
	if err := s.allowAlarm(c, "SetAlarmState", name, nil); err != nil {
		return nil, err
	}
	if d.Data != "" && !json.Valid([]byte(d.Data)) {
		return nil, errFormat()
	}
	return nil, s.change(ctx, false, func(tx *monitor.Tx) error {
		a := s.monitor.Alarm(name)
		if a == nil {
			return errNoAlarm()
		}
		return tx.Transition(a, d, s.now())
	})
}
