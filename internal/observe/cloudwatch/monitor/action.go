package monitor

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
)

// Action is a notification that still has to be published.
type Action struct {
	Alarm     Name
	Composite bool   `json:",omitempty"` // the alarm is one
	Target    string // ARN of a topic
	Subject   string
	Message   string // JSON
	Created   time.Time

	id string // the key of its record, behind the prefix
}

// ID returns the identity of the action, which stays the same when it is repeated.
func (a *Action) ID() string { return a.id }

// newAction returns the record of an action of an alarm that left a state.
func newAction(from alarm.State, is *Alarm, target string, late bool, at time.Time) *Action {
	return &Action{
		id:    historyTime(at) + "-" + uuid.NewString(),
		Alarm: is.Name, Composite: is.Composite != nil, Target: target, Subject: subject(is),
		Message: notification(from, is, late), Created: at,
	}
}

// subject returns the subject of a notification. SNS limits subjects to less than a hundred characters.
func subject(a *Alarm) string {
	const most = 99
	text := fmt.Sprintf(`%s: "%s" in %s`, a.State, a.Name.Name, regionName(a.Region))
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-3]) + "..."
	}
	return text
}

// message is the text of a notification.
type message struct {
	AlarmName                          string
	AlarmDescription                   *string
	AWSAccountId                       string
	AlarmConfigurationUpdatedTimestamp string
	NewStateValue                      alarm.State
	NewStateReason                     string
	StateChangeTime                    string
	Region                             string
	AlarmArn                           string
	OldStateValue                      alarm.State
	OKActions                          []string
	AlarmActions                       []string
	InsufficientDataActions            []string
	ActionExecutedAfterMuteWindow      bool
	Trigger                            *trigger          `json:",omitempty"` // of a metric alarm
	AlarmRule                          string            `json:",omitempty"` // of a composite alarm
	TriggeringChildren                 []shownChild      `json:",omitzero"`
	Tags                               map[string]string `json:",omitempty"`
}

// shownChild is a child that has decided the state of a composite alarm.
type shownChild struct {
	Arn   string
	State struct {
		Value     alarm.State
		Timestamp string
	}
}

// trigger is what the alarm watches: a metric or a list of queries. The order of the members is AWS's.
type trigger struct {
	MetricName                       string           `json:",omitempty"`
	Namespace                        string           `json:",omitempty"`
	StatisticType                    string           `json:",omitempty"`
	Statistic                        string           `json:",omitempty"`
	ExtendedStatistic                string           `json:",omitempty"`
	Unit                             json.RawMessage  `json:",omitempty"` // null for a metric without one
	Dimensions                       []shownDimension `json:",omitzero"`  // empty but present for a metric without any
	Period                           int64            `json:",omitempty"`
	EvaluationPeriods                int
	DatapointsToAlarm                int `json:",omitempty"`
	ComparisonOperator               alarm.Comparison
	Threshold                        json.RawMessage `json:",omitempty"`
	ThresholdMetricId                string          `json:",omitempty"`
	TreatMissingData                 alarm.Missing
	EvaluateLowSampleCountPercentile string
	Metrics                          []shownQuery `json:",omitempty"`
}

type shownDimension struct {
	Value string `json:"value"`
	Name  string `json:"name"`
}

type shownQuery struct {
	Expression string `json:",omitempty"`
	Id         string
	Label      string     `json:",omitempty"`
	MetricStat *shownStat `json:",omitempty"`
	Period     int64      `json:",omitempty"`
	ReturnData bool
}

type shownStat struct {
	Metric struct {
		Dimensions []shownDimension
		MetricName string
		Namespace  string
	}
	Period int64
	Stat   string
	Unit   string `json:",omitempty"`
}

// notification returns the text for a topic about the transition from a state. late says that a mute rule has delayed
// it.
func notification(from alarm.State, is *Alarm, late bool) string {
	m := message{
		AlarmName: is.Name.Name, AWSAccountId: is.Account,
		AlarmConfigurationUpdatedTimestamp: is.Updated.UTC().Format(alarm.TimeFormat),
		NewStateValue:                      is.State, NewStateReason: is.Reason,
		StateChangeTime: is.StateBegan.UTC().Format(alarm.TimeFormat), Region: regionName(is.Region),
		AlarmArn: is.ARN(), OldStateValue: from, OKActions: list(is.OKActions), AlarmActions: list(is.AlarmActions),
		InsufficientDataActions: list(is.InsufficientDataActions), Tags: is.shownTags(),
		ActionExecutedAfterMuteWindow: late,
	}
	if is.Composite != nil {
		m.AlarmRule, m.TriggeringChildren = is.Composite.Rule, is.shownChildren()
	} else {
		m.Trigger = is.trigger()
	}
	if is.Description != "" {
		m.AlarmDescription = &is.Description
	}
	return string(encode(m))
}

// shownChildren returns the children that have decided the state, or an empty list if it was set by hand.
func (a *Alarm) shownChildren() []shownChild {
	out := []shownChild{}
	for _, child := range a.triggeredBy() {
		shown := shownChild{Arn: child.ARN}
		shown.State.Value, shown.State.Timestamp = child.State.Value, child.State.Timestamp
		out = append(out, shown)
	}
	return out
}

func (a *Alarm) trigger() *trigger {
	t := &trigger{
		EvaluationPeriods: a.Periods, DatapointsToAlarm: a.ToAlarm, ComparisonOperator: a.Comparison,
		Threshold: a.shownThreshold(), ThresholdMetricId: a.ThresholdID, TreatMissingData: a.missing(),
		EvaluateLowSampleCountPercentile: a.LowSamples,
	}
	if a.Metric == nil {
		if plan, err := a.Plan(); err == nil { // as when the alarm was put
			t.Period = int64(plan.Period() / time.Second)
		}
		t.Metrics = shownQueries(a.Queries)
		return t
	}
	t.MetricName, t.Namespace, t.Dimensions = a.Metric.Metric, a.Metric.Namespace, shownDimensions(a.Metric)
	t.Period = int64(a.Metric.Period / time.Second)
	t.Unit = json.RawMessage("null")
	if a.Metric.Unit != "" {
		t.Unit = encode(a.Metric.Unit)
	}
	if name, ok := upperStatistics[a.Metric.Statistic]; ok {
		t.StatisticType, t.Statistic = "Statistic", name
	} else {
		t.StatisticType, t.ExtendedStatistic = "ExtendedStatistic", a.Metric.Statistic
	}
	return t
}

// shownQueries returns queries as notifications have them.
func shownQueries(queries []metricdata.Query) (out []shownQuery) {
	for _, q := range queries {
		s := shownQuery{
			Expression: q.Expression, Id: q.ID, Label: q.Label, Period: int64(q.Period / time.Second),
			ReturnData: q.Return,
		}
		if q.Stat != nil {
			s.MetricStat = &shownStat{
				Period: int64(q.Stat.Period / time.Second), Stat: q.Stat.Statistic, Unit: q.Stat.Unit,
			}
			s.MetricStat.Metric.Namespace, s.MetricStat.Metric.MetricName = q.Stat.Namespace, q.Stat.Metric
			s.MetricStat.Metric.Dimensions = shownDimensions(q.Stat)
		}
		out = append(out, s)
	}
	return out
}
