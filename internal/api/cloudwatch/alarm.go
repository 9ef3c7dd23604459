package cloudwatch

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/alarm"
	"github.com/sluicemq/sluice/internal/observe/metricdata"
	"github.com/sluicemq/sluice/internal/observe/monitor"
	"github.com/sluicemq/sluice/internal/observe/series"
)

// MetricAlarm is an alarm as clients see it.
type MetricAlarm struct {
	AlarmName                          string
	AlarmArn                           string
	AlarmDescription                   *string
	AlarmConfigurationUpdatedTimestamp time.Time `precise:""`
	ActionsEnabled                     bool
	OKActions                          []string `wrap:"member" json:",always"`
	AlarmActions                       []string `wrap:"member" json:",always"`
	InsufficientDataActions            []string `wrap:"member" json:",always"`
	StateValue                         string
	StateReason                        string
	StateReasonData                    *string
	StateUpdatedTimestamp              time.Time `precise:""`
	StateTransitionedTimestamp         time.Time `precise:""`
	MetricName                         *string
	Namespace                          *string
	Statistic                          *string
	ExtendedStatistic                  *string
	Dimensions                         []Dimension `wrap:"member" json:",always"`
	Period                             *int32
	Unit                               *string
	EvaluationPeriods                  int32
	DatapointsToAlarm                  *int32
	Threshold                          float64
	ComparisonOperator                 string
	TreatMissingData                   *string
	EvaluateLowSampleCountPercentile   *string
	Metrics                            []MetricDataQuery `wrap:"member"`
	EvaluationWindow                   *EvaluationWindow
	WarmUpConfiguration                *WarmUpConfiguration
	ActionConfiguration                *ActionConfiguration
}

func showAlarm(a *monitor.Alarm) MetricAlarm {
	out := MetricAlarm{
		AlarmName: a.Name.Name, AlarmArn: a.ARN(), AlarmDescription: optional(a.Description), AlarmConfigurationUpdatedTimestamp: a.Updated,
		ActionsEnabled: a.ActionsEnabled, OKActions: a.OKActions, AlarmActions: a.AlarmActions, InsufficientDataActions: a.InsufficientDataActions,
		StateValue: string(a.State), StateReason: a.Reason, StateReasonData: optional(a.ReasonData),
		StateUpdatedTimestamp: a.StateSet, StateTransitionedTimestamp: a.StateBegan,
		EvaluationPeriods: int32(a.Periods), Threshold: a.Threshold, ComparisonOperator: string(a.Comparison),
		TreatMissingData: optional(string(a.Missing)), EvaluateLowSampleCountPercentile: optional(a.LowSamples), Metrics: showQueries(a.Queries),
	}
	if a.ToAlarm > 0 {
		n := int32(a.ToAlarm)
		out.DatapointsToAlarm = &n
	}
	if m := a.Metric; m != nil {
		out.MetricName, out.Namespace, out.Dimensions = &m.Metric, &m.Namespace, showDimensions(m.Dimensions)
		out.Period, out.Unit = asSeconds(m.Period), optional(m.Unit)
		if slices.Contains(metricdata.Statistics, m.Statistic) {
			out.Statistic = &m.Statistic
		} else {
			out.ExtendedStatistic = &m.Statistic
		}
	}
	switch a.Window.Kind {
	case monitor.Sliding:
		out.EvaluationWindow = &EvaluationWindow{SlidingWindow: new(service.Empty)}
	case monitor.WallClock:
		out.EvaluationWindow = &EvaluationWindow{WallClockWindow: &WallClockWindow{optional(a.Window.Timezone)}}
	}
	if w := a.WarmUp; w != nil {
		n := int32(w.Minutes)
		out.WarmUpConfiguration = &WarmUpConfiguration{&n, &w.Fully}
	}
	if t := a.ShowTags; t != nil {
		out.ActionConfiguration = &ActionConfiguration{&AlarmTagsPropagation{&t.Enabled, t.Included, t.Excluded}}
	}
	return out
}

const (
	metricAlarms = "MetricAlarm"
	alarmsPage   = 50
	mostAlarms   = 100
)

var alarmTypes = []string{"CompositeAlarm", metricAlarms, "LogAlarm"}

type describeAlarmsInput struct {
	AlarmNames          []string `wrap:"member" max:"100,255"`
	AlarmNamePrefix     *string  `max:"255"`
	AlarmTypes          []string `wrap:"member" max:"10,32"`
	ChildrenOfAlarmName *string  `max:"255"`
	ParentsOfAlarmName  *string  `max:"255"`
	StateValue          *string  `max:"32"`
	ActionPrefix        *string  `max:"1024"`
	MaxRecords          *int32
	NextToken           *string `max:"8K"`
}

type describeAlarmsOutput struct {
	CompositeAlarms []compositeAlarm `wrap:"member" json:",always"`
	MetricAlarms    []MetricAlarm    `wrap:"member" json:",always"`
	NextToken       string           `json:",omitempty"`
}

// compositeAlarm is an alarm on other alarms, of which there are none.
type compositeAlarm struct{ AlarmName string }

func (s *Service) describeAlarms(_ context.Context, c *protocol.Call, in *describeAlarmsInput) (*describeAlarmsOutput, error) {
	var v protocol.Violations
	v.Range("maxRecords", in.MaxRecords, 1, mostAlarms)
	checkState(&v, in.StateValue)
	for _, t := range in.AlarmTypes {
		v.Enum("alarmTypes", &t, alarmTypes...)
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	if err := in.checkFilters(); err != nil {
		return nil, err
	}
	where := scope(c)
	about := monitor.Name{Scope: where, Name: "*"}
	if len(in.AlarmNames) == 1 {
		about.Name = in.AlarmNames[0]
	}
	if err := s.allowAlarm(c, "DescribeAlarms", about, nil); err != nil {
		return nil, err
	}
	out := &describeAlarmsOutput{CompositeAlarms: []compositeAlarm{}, MetricAlarms: []MetricAlarm{}}
	if len(in.AlarmTypes) > 0 && !slices.Contains(in.AlarmTypes, metricAlarms) || in.ParentsOfAlarmName != nil || in.ChildrenOfAlarmName != nil {
		return out, nil
	}
	all := service.Filter(s.monitor.Alarms(where), func(a *monitor.Alarm) bool {
		return (len(in.AlarmNames) == 0 || slices.Contains(in.AlarmNames, a.Name.Name)) &&
			(in.AlarmNamePrefix == nil || strings.HasPrefix(a.Name.Name, *in.AlarmNamePrefix)) &&
			(in.StateValue == nil || string(a.State) == *in.StateValue) &&
			(in.ActionPrefix == nil || slices.ContainsFunc(a.Actions(), func(arn string) bool { return strings.HasPrefix(arn, *in.ActionPrefix) }))
	})
	most := alarmsPage
	if in.MaxRecords != nil {
		most = int(*in.MaxRecords)
	} else if len(in.AlarmNames) > 0 {
		most = mostAlarms
	}
	p, err := paged(service.Paginate(all, func(a *monitor.Alarm) string { return a.Name.Name }, text(in.NextToken), "", most))
	if err != nil {
		return nil, err
	}
	out.MetricAlarms, out.NextToken = service.Convert(p.Items, showAlarm), p.Next
	return out, nil
}

// checkFilters refuses filters that exclude each other. An empty list of names is none.
func (in *describeAlarmsInput) checkFilters() error {
	others := len(in.AlarmNames) > 0 || in.AlarmNamePrefix != nil || len(in.AlarmTypes) > 0 || in.StateValue != nil || in.ActionPrefix != nil
	switch {
	case len(in.AlarmNames) > 0 && in.AlarmNamePrefix != nil:
		return protocol.ValidationError("AlarmNamePrefix and AlarmNames are mutually exclusive: specify one of them.")
	case in.ChildrenOfAlarmName != nil && (others || in.ParentsOfAlarmName != nil):
		return protocol.ValidationError("With ChildrenOfAlarmName only MaxRecords and NextToken can be specified.")
	case in.ParentsOfAlarmName != nil && others:
		return protocol.ValidationError("With ParentsOfAlarmName only MaxRecords and NextToken can be specified.")
	}
	return nil
}

func checkState(v *protocol.Violations, state *string) {
	v.Enum("stateValue", state, string(alarm.Insufficient), string(alarm.Alarm), string(alarm.OK))
}

type describeAlarmsForMetricInput struct {
	MetricName        *string     `max:"255"`
	Namespace         *string     `max:"255"`
	Statistic         *string     `max:"32"`
	ExtendedStatistic *string     `max:"50"`
	Dimensions        []Dimension `wrap:"member" max:"30"`
	Period            *int32
	Unit              *string `max:"32"`
}

type describeAlarmsForMetricOutput struct {
	MetricAlarms []MetricAlarm `wrap:"member" json:",always"`
}

func (s *Service) describeAlarmsForMetric(_ context.Context, c *protocol.Call, in *describeAlarmsForMetricInput) (*describeAlarmsForMetricOutput, error) {
	var v protocol.Violations
	id := series.ID{Scope: scope(c)}
	id.Namespace, id.Metric = checkNames(&v, "", in.Namespace, in.MetricName)
	id.Dimensions = checkDimensions(&v, "dimensions", in.Dimensions)
	checkUnit(&v, "unit", in.Unit)
	v.Enum("statistic", in.Statistic, metricdata.Statistics...)
	v.Range("period", in.Period, 1, 1<<30)
	if err := v.Err(); err != nil {
		return nil, err
	}
	if err := s.allow(c, "DescribeAlarmsForMetric", service.Subject{}); err != nil {
		return nil, err
	}
	statistic := text(in.Statistic) + text(in.ExtendedStatistic)
	all := service.Filter(s.monitor.Alarms(id.Scope), func(a *monitor.Alarm) bool {
		stats := []*metricdata.Stat{a.Metric}
		for _, q := range a.Queries {
			stats = append(stats, q.Stat)
		}
		return slices.ContainsFunc(stats, func(m *metricdata.Stat) bool {
			return m != nil && id.Equal(series.ID{Scope: id.Scope, Namespace: m.Namespace, Metric: m.Metric, Dimensions: m.Dimensions}) &&
				(statistic == "" || m.Statistic == statistic) && (in.Period == nil || m.Period == seconds(in.Period)) && (in.Unit == nil || m.Unit == *in.Unit)
		})
	})
	return &describeAlarmsForMetricOutput{service.Convert(all, showAlarm)}, nil
}

type alarmNamesInput struct {
	AlarmNames []string `wrap:"member" max:"100,255"`
}

// find returns the alarms that a request names, if the caller may take the action on each, and the names of those that
// there are not.
func (s *Service) find(c *protocol.Call, action string, names []string) (found []monitor.Name, missing []string, err error) {
	if names == nil {
		var v protocol.Violations
		v.Required("alarmNames", nil)
		return nil, nil, v.Err()
	}
	for _, n := range names {
		name, err := alarmName(c, &n)
		if err != nil {
			return nil, nil, err
		}
		if err := s.allowAlarm(c, action, name, nil); err != nil {
			return nil, nil, err
		}
		if s.monitor.Alarm(name) == nil {
			missing = append(missing, n)
		} else if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found, missing, nil
}

// each makes a change of alarms, but for those that have gone meanwhile.
func (s *Service) each(ctx context.Context, names []monitor.Name, f func(*monitor.Tx, *monitor.Alarm) error) error {
	return s.change(ctx, false, func(tx *monitor.Tx) error {
		for _, n := range names {
			if a := s.monitor.Alarm(n); a != nil {
				if err := f(tx, a); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// deleteAlarms ignores names of alarms that there are not, unless all are such.
func (s *Service) deleteAlarms(ctx context.Context, c *protocol.Call, in *alarmNamesInput) (*service.Empty, error) {
	found, missing, err := s.find(c, "DeleteAlarms", in.AlarmNames)
	switch {
	case err != nil:
		return nil, err
	case len(missing) > 0 && len(found) == 0:
		return nil, errNotFound("Alarms do not exist: %s.", service.Shorten(strings.Join(missing, ", ")))
	}
	return nil, s.each(ctx, found, func(tx *monitor.Tx, a *monitor.Alarm) error { return tx.Delete(a, s.now()) })
}

func (s *Service) enableAlarmActions(ctx context.Context, c *protocol.Call, in *alarmNamesInput) (*service.Empty, error) {
	return s.switchActions(ctx, c, "EnableAlarmActions", in, true)
}

func (s *Service) disableAlarmActions(ctx context.Context, c *protocol.Call, in *alarmNamesInput) (*service.Empty, error) {
	return s.switchActions(ctx, c, "DisableAlarmActions", in, false)
}

// switchActions ignores names of alarms that there are not, as on AWS.
func (s *Service) switchActions(ctx context.Context, c *protocol.Call, action string, in *alarmNamesInput, enabled bool) (*service.Empty, error) {
	found, _, err := s.find(c, action, in.AlarmNames)
	if err != nil {
		return nil, err
	}
	return nil, s.each(ctx, found, func(tx *monitor.Tx, a *monitor.Alarm) error { return tx.EnableActions(a, enabled, s.now()) })
}

type setAlarmStateInput struct {
	AlarmName       *string `max:"255"`
	StateValue      *string `max:"32"`
	StateReason     *string `max:"1023"`
	StateReasonData *string `max:"4000"`
}

func (s *Service) setAlarmState(ctx context.Context, c *protocol.Call, in *setAlarmStateInput) (*service.Empty, error) {
	name, err := alarmName(c, in.AlarmName)
	if err != nil {
		return nil, err
	}
	var v protocol.Violations
	checkState(&v, in.StateValue)
	d := alarm.Decision{State: alarm.State(v.Required("stateValue", in.StateValue)), Reason: v.Required("stateReason", in.StateReason), Data: text(in.StateReasonData)}
	if err := v.Err(); err != nil {
		return nil, err
	}
	if err := s.allowAlarm(c, "SetAlarmState", name, nil); err != nil {
		return nil, err
	}
	if d.Data != "" && !json.Valid([]byte(d.Data)) {
		return nil, errFormat("The parameter StateReasonData must be valid JSON.")
	}
	return nil, s.change(ctx, false, func(tx *monitor.Tx) error {
		a := s.monitor.Alarm(name)
		if a == nil {
			return errNoAlarm()
		}
		return tx.Transition(a, d, s.now())
	})
}
