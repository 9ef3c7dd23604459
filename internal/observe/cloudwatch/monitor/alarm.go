package monitor

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Name identifies an alarm.
type Name struct {
	series.Scope
	Name string
}

// ARN returns the alarm's Amazon Resource Name.
func (n Name) ARN() string {
	return "arn:aws:cloudwatch:" + n.Region + ":" + n.Account + ":alarm:" + n.Name
}

// Alarm is an alarm with its state: a metric alarm, or a composite alarm, which has none of the fields from Metric to
// WarmUp. It is immutable.
type Alarm struct {
	Name
	Description string `json:",omitempty"`
	Created     time.Time
	Updated     time.Time // its configuration

	ActionsEnabled          bool
	OKActions               []string `json:",omitempty"` // ARNs
	AlarmActions            []string `json:",omitempty"`
	InsufficientDataActions []string `json:",omitempty"`

	Composite *Composite `json:",omitempty"` // nil: it is a metric alarm

	Metric  *metricdata.Stat   `json:",omitempty"` // what it watches, or else
	Queries []metricdata.Query `json:",omitempty"` // one of which is returned

	Periods    int
	ToAlarm    int `json:",omitempty"` // 0: all periods
	Threshold  float64
	Comparison alarm.Comparison
	// ThresholdID is the id of the query whose band replaces Threshold, if the comparison is with one.
	ThresholdID string        `json:",omitempty"`
	Missing     alarm.Missing `json:",omitempty"`
	LowSamples  string        `json:",omitempty"` // EvaluateLowSampleCountPercentile, as given
	Window      Window        `json:",omitempty"`
	WarmUp      *WarmUp       `json:",omitempty"`
	ShowTags    *ShowTags     `json:",omitempty"`

	Tags map[string]string `json:",omitempty"`

	State      alarm.State
	Reason     string
	ReasonData string    `json:",omitempty"`
	StateSet   time.Time // when state or reason were last set
	StateBegan time.Time // when the state became another

	Muted *Muted `json:",omitempty"` // what has become of the state's actions; nil: nothing holds them

	Trouble *Trouble `json:",omitempty"` // why the last evaluation failed; nil: it did not

	size int // of the stored record, in bytes
}

// Window is the position of the evaluated periods.
type Window struct {
	Kind     WindowKind `json:",omitempty"`
	Timezone string     `json:",omitempty"` // of a WallClock
}

// WindowKind is a kind of Window.
type WindowKind string

// The kinds of windows. By default windows slide.
const (
	Sliding   WindowKind = "sliding"
	WallClock WindowKind = "wall clock"
)

// WarmUp delays the evaluation of a new alarm.
type WarmUp struct {
	Minutes int
	Fully   bool `json:",omitempty"` // or until there is enough data
}

// ShowTags selects the alarm's tags for its notifications.
type ShowTags struct {
	Enabled  bool
	Included []string `json:",omitempty"`
	Excluded []string `json:",omitempty"`
}

// Clone returns a copy that may be changed.
func (a *Alarm) Clone() *Alarm {
	c := *a
	c.Tags = maps.Clone(a.Tags)
	if a.Composite != nil {
		c.Composite = new(*a.Composite)
	}
	return &c
}

// Datapoints returns how many datapoints must breach.
func (a *Alarm) Datapoints() int {
	if a.ToAlarm == 0 {
		return a.Periods
	}
	return a.ToAlarm
}

// Plan returns how the alarm's datapoints are found.
func (a *Alarm) Plan() (*metricdata.Plan, error) {
	if a.Metric == nil {
		return metricdata.Check(a.queries())
	}
	plan, err := metricdata.Check([]metricdata.Query{{ID: "m", Stat: a.Metric, Return: true}})
	if wrong, ok := errors.AsType[*metricdata.Error](err); ok {
		return nil, &metricdata.Error{Reason: wrong.Reason} // the query is not the client's
	}
	return plan, err
}

// rule returns the condition that the alarm watches for.
func (a *Alarm) rule(period time.Duration) *alarm.Rule {
	r := &alarm.Rule{
		Comparison: a.Comparison, Threshold: a.Threshold, Periods: a.Periods, ToAlarm: a.Datapoints(),
		Counted: a.ToAlarm > 0,
		Missing: a.Missing, Period: period,
	}
	if a.Metric != nil {
		r.Statistic, r.Unit = a.Metric.Statistic, a.Metric.Unit
	} else {
		r.Computed = true
	}
	if a.Window.Kind == WallClock {
		r.Location, _ = Location(a.Window.Timezone) // it was checked when the alarm was created
	}
	if a.WarmUp != nil {
		r.WarmUp, r.WaitFully = a.Created.Add(time.Duration(a.WarmUp.Minutes)*time.Minute), a.WarmUp.Fully
	}
	return r
}

// Location returns the time zone of that name: an IANA name, or an offset such as +05:30 or UTC-3. An empty name is
// UTC.
func Location(name string) (*time.Location, bool) {
	offset := strings.TrimPrefix(name, "UTC")
	if offset == "" {
		return time.UTC, true
	}
	if offset[0] == '+' || offset[0] == '-' {
		hours, minutes, _ := strings.Cut(offset[1:], ":")
		h, err := strconv.ParseUint(hours, 10, 8)
		if minutes == "" {
			minutes = "0"
		}
		m, err2 := strconv.ParseUint(minutes, 10, 8)
		if err != nil || err2 != nil || h > 14 || m > 59 || m%5 != 0 {
			return nil, false
		}
		seconds := int(h*3600 + m*60)
		if offset[0] == '-' {
			seconds = -seconds
		}
		return time.FixedZone(name, seconds), true
	}
	if name == "Local" { // which is the server's
		return nil, false
	}
	l, err := time.LoadLocation(name)
	return l, err == nil
}

// actions returns the ARNs of the targets to notify when the alarm has entered a state.
func (a *Alarm) actions(s alarm.State) []string {
	switch s {
	case alarm.OK:
		return a.OKActions
	case alarm.Alarm:
		return a.AlarmActions
	}
	return a.InsufficientDataActions
}

// Actions returns the ARNs of all actions.
func (a *Alarm) Actions() []string {
	return slices.Concat(a.OKActions, a.AlarmActions, a.InsufficientDataActions)
}

// shownTags returns the tags for notifications.
func (a *Alarm) shownTags() map[string]string {
	s := a.ShowTags
	if s == nil || !s.Enabled {
		return nil
	}
	out := make(map[string]string)
	for k, v := range a.Tags {
		if (len(s.Included) == 0 || slices.Contains(s.Included, k)) && !slices.Contains(s.Excluded, k) {
			out[k] = v
		}
	}
	return out
}
