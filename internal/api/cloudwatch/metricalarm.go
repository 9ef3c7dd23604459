package cloudwatch

import (
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
)

// MetricAlarm is a metric alarm as clients see it. As the child of another alarm, it lacks all pointers.
type MetricAlarm struct {
	AlarmName                          string
	AlarmArn                           string
	AlarmDescription                   *string
	AlarmConfigurationUpdatedTimestamp *time.Time `precise:""`
	ActionsEnabled                     *bool
	OKActions                          []string `           wrap:"member" json:",always"`
	AlarmActions                       []string `           wrap:"member" json:",always"`
	InsufficientDataActions            []string `           wrap:"member" json:",always"`
	StateValue                         string
	StateReason                        *string
	StateReasonData                    *string
	StateUpdatedTimestamp              time.Time  `precise:""`
	StateTransitionedTimestamp         *time.Time `precise:""`
	MetricName                         *string
	Namespace                          *string
	Statistic                          *string
	ExtendedStatistic                  *string
	Dimensions                         []Dimension `           wrap:"member" json:",always"`
	Period                             *int32
	Unit                               *string
	EvaluationPeriods                  *int32
	DatapointsToAlarm                  *int32
	Threshold                          *float64
	ComparisonOperator                 *string
	TreatMissingData                   *string
	EvaluateLowSampleCountPercentile   *string
	Metrics                            []MetricDataQuery `           wrap:"member"`
	ThresholdMetricId                  *string
	EvaluationState                    *string
	EvaluationWindow                   *EvaluationWindow
	WarmUpConfiguration                *WarmUpConfiguration
	ActionConfiguration                *ActionConfiguration
}

// showMetricChild shows an alarm as a child of another.
func showMetricChild(a *monitor.Alarm) MetricAlarm {
	return MetricAlarm{
		AlarmName: a.Name.Name, AlarmArn: a.ARN(), StateValue: string(a.State), StateUpdatedTimestamp: a.StateSet,
	}
}

func (s alarms) showMetricAlarm(a *monitor.Alarm) MetricAlarm {
	out := MetricAlarm{
		AlarmName: a.Name.Name, AlarmArn: a.ARN(), AlarmDescription: optional(a.Description),
		AlarmConfigurationUpdatedTimestamp: &a.Updated,
		ActionsEnabled:                     &a.ActionsEnabled, OKActions: a.OKActions, AlarmActions: a.AlarmActions,
		InsufficientDataActions: a.InsufficientDataActions,
		StateValue:              string(a.State), StateReason: &a.Reason, StateReasonData: optional(a.ReasonData),
		StateUpdatedTimestamp: a.StateSet, StateTransitionedTimestamp: &a.StateBegan,
		EvaluationPeriods: new(int32(a.Periods)), ThresholdMetricId: optional(a.ThresholdID),
		ComparisonOperator: new(string(a.Comparison)),
		TreatMissingData:   optional(string(a.Missing)), EvaluateLowSampleCountPercentile: optional(a.LowSamples),
		Metrics: showQueries(a.Queries),
	}
	if a.ThresholdID == "" {
		out.Threshold = &a.Threshold
	}
	if a.ToAlarm > 0 {
		out.DatapointsToAlarm = new(int32(a.ToAlarm))
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
		out.WarmUpConfiguration = &WarmUpConfiguration{new(int32(w.Minutes)), &w.Fully}
	}
	out.ActionConfiguration = showActionConfiguration(a)
	s.showTrouble(&out, a)
	return out
}

// showTrouble says why an alarm is not evaluated, if it is not.
func (s alarms) showTrouble(out *MetricAlarm, a *monitor.Alarm) {
	switch t := a.Trouble; {
	case t != nil:
		out.EvaluationState = optional(string(t.Kind))
		if t.Reason != "" {
			out.StateReason = &t.Reason
		}
	case a.IsWarmingUp(s.now()):
		out.EvaluationState = optional(inWarmUp)
	}
}

// inWarmUp is the EvaluationState of an alarm in its warm-up period.
const inWarmUp = "IN_WARM_UP"

func showActionConfiguration(a *monitor.Alarm) *ActionConfiguration {
	t := a.ShowTags
	if t == nil {
		return nil
	}
	return &ActionConfiguration{&AlarmTagsPropagation{&t.Enabled, t.Included, t.Excluded}}
}
