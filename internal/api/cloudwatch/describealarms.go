package cloudwatch

import (
	"context"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

const (
	metricAlarms = "MetricAlarm"
	composites   = "CompositeAlarm"
	alarmsPage   = 50
	mostAlarms   = 100
)

// typesOf returns the types of alarms in a request: by default metric alarms. There are no log alarms.
func typesOf(names []string) monitor.AlarmTypes {
	return monitor.AlarmTypes{
		Metric: len(names) == 0 || slices.Contains(names, metricAlarms), Composite: slices.Contains(names, composites),
	}
}

type describeAlarmsInput struct {
	AlarmNames          []string `wrap:"member" max:"200,255"` // the model allows 100, and its error shows all
	AlarmNamePrefix     *string  `              max:"255"`
	AlarmTypes          []string `wrap:"member" max:"10,32"`
	ChildrenOfAlarmName *string  `              max:"255"`
	ParentsOfAlarmName  *string  `              max:"255"`
	StateValue          *string  `              max:"32"`
	ActionPrefix        *string  `              max:"1024"`
	MaxRecords          *int32
	NextToken           *string `              max:"8K"`
}

type describeAlarmsOutput struct {
	CompositeAlarms []CompositeAlarm `wrap:"member" json:",always"`
	MetricAlarms    []MetricAlarm    `wrap:"member" json:",always"`
	NextToken       string           `              json:",omitempty"`
}

func (s alarms) describeAlarms(
	_ context.Context, c *protocol.Call, in *describeAlarmsInput,
) (*describeAlarmsOutput, error) {
	if err := in.checkFilters(); err != nil {
		return nil, err
	}
	if err := s.allowAlarm(c, "DescribeAlarms", in.about(c), nil); err != nil {
		return nil, err
	}
	all, as := s.described(c, in)
	most := alarmsPage
	if in.MaxRecords != nil {
		most = int(*in.MaxRecords)
	} else if len(in.AlarmNames) > 0 {
		most = mostAlarms
	}
	p, err := paged(
		service.Paginate(all, func(a *monitor.Alarm) string { return a.Name.Name }, text(in.NextToken), "", most),
	)
	if err != nil {
		return nil, err
	}
	out := &describeAlarmsOutput{CompositeAlarms: []CompositeAlarm{}, MetricAlarms: []MetricAlarm{}, NextToken: p.Next}
	for _, a := range p.Items {
		if a.Composite != nil {
			out.CompositeAlarms = append(out.CompositeAlarms, as.composite(a))
		} else {
			out.MetricAlarms = append(out.MetricAlarms, as.metric(a))
		}
	}
	return out, nil
}

// about returns the alarm on which the caller needs a permission: what composite alarms show is about all alarms.
func (in *describeAlarmsInput) about(c *protocol.Call) monitor.Name {
	about := allAlarms(c)
	if len(in.AlarmNames) == 1 && !typesOf(in.AlarmTypes).Composite {
		about.Name = in.AlarmNames[0]
	}
	return about
}

// shape is the form in which alarms are shown.
type shape struct {
	metric    func(*monitor.Alarm) MetricAlarm
	composite func(*monitor.Alarm) CompositeAlarm
}

// described returns the alarms that a request selects, ordered by name, and the form in which they are shown.
func (s alarms) described(c *protocol.Call, in *describeAlarmsInput) ([]*monitor.Alarm, shape) {
	where := scope(c)
	switch {
	case in.ChildrenOfAlarmName != nil:
		as := shape{showMetricChild, showCompositeChild}
		if of := s.monitor.Alarm(monitor.Name{Scope: where, Name: *in.ChildrenOfAlarmName}); of != nil {
			return s.monitor.Children(of), as
		}
		return nil, as
	case in.ParentsOfAlarmName != nil:
		return s.monitor.Parents(monitor.Name{Scope: where, Name: *in.ParentsOfAlarmName}), shape{
			showMetricChild, showParent,
		}
	}
	return service.Filter(s.monitor.Alarms(where), in.matches), shape{s.showMetricAlarm, showCompositeAlarm}
}

// matches reports whether a request selects an alarm.
func (in *describeAlarmsInput) matches(a *monitor.Alarm) bool {
	types := typesOf(in.AlarmTypes)
	return (types.Composite && a.Composite != nil || types.Metric && a.Composite == nil) &&
		(len(in.AlarmNames) == 0 || slices.Contains(in.AlarmNames, a.Name.Name)) &&
		(in.AlarmNamePrefix == nil || strings.HasPrefix(a.Name.Name, *in.AlarmNamePrefix)) &&
		(in.StateValue == nil || string(a.State) == *in.StateValue) &&
		(in.ActionPrefix == nil || slices.ContainsFunc(a.Actions(), func(arn string) bool {
			return strings.HasPrefix(arn, *in.ActionPrefix)
		}))
}

// checkFilters refuses filters that exclude each other. An empty list of names is none.
func (in *describeAlarmsInput) checkFilters() error {
	others := len(in.AlarmNames) > 0 || in.AlarmNamePrefix != nil || len(in.AlarmTypes) > 0 || in.StateValue != nil ||
		in.ActionPrefix != nil
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

type describeAlarmsForMetricInput struct {
	MetricName        *string     `max:"255"`
	Namespace         *string     `max:"255"`
	Statistic         *string     `max:"32"`
	ExtendedStatistic *string     `max:"50"`
	Dimensions        []Dimension `max:"30"  wrap:"member"`
	Period            *int32
	Unit              *string `max:"32"`
}

type describeAlarmsForMetricOutput struct {
	MetricAlarms []MetricAlarm `wrap:"member" json:",always"`
}

// describeAlarmsForMetric leaves out, as AWS does, alarms on expressions that use the metric.
func (s alarms) describeAlarmsForMetric(
	_ context.Context,
	c *protocol.Call,
	in *describeAlarmsForMetricInput,
) (*describeAlarmsForMetricOutput, error) {
	id := series.ID{
		Scope: scope(c), Namespace: *in.Namespace, Metric: *in.MetricName, Dimensions: dimensionsOf(in.Dimensions),
	}
	if err := s.allow(c, "DescribeAlarmsForMetric", service.Subject{}); err != nil {
		return nil, err
	}
	statistic := text(in.Statistic) + text(in.ExtendedStatistic)
	all := service.Filter(s.monitor.Alarms(id.Scope), func(a *monitor.Alarm) bool {
		m := a.Metric
		return m != nil &&
			id.Equal(series.ID{Scope: id.Scope, Namespace: m.Namespace, Metric: m.Metric, Dimensions: m.Dimensions}) &&
			(statistic == "" || m.Statistic == statistic) && (in.Period == nil || m.Period == seconds(in.Period)) &&
			(in.Unit == nil || m.Unit == *in.Unit)
	})
	return &describeAlarmsForMetricOutput{service.Convert(all, s.showMetricAlarm)}, nil
}
