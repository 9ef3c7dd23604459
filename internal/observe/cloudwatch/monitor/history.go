package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// ItemKind is the kind of a history item.
type ItemKind string

// The kinds of history items.
const (
	Configured ItemKind = "ConfigurationUpdate"
	StateSet   ItemKind = "StateUpdate"
	Acted      ItemKind = "Action"
)

var kindLetters = map[ItemKind]string{Configured: "C", StateSet: "S", Acted: "A"}

// Item is an event of an alarm.
type Item struct {
	Alarm     string
	Composite bool `json:",omitempty"` // the alarm is or was a composite alarm
	Kind      ItemKind
	Time      time.Time
	Summary   string
	Data      string // JSON
}

// letter encodes the kind of an item and of its alarm in the key: lower case means a composite alarm.
func (i *Item) letter() string {
	if i.Composite {
		return strings.ToLower(kindLetters[i.Kind])
	}
	return kindLetters[i.Kind]
}

// HistoryKept is how long items are kept.
const HistoryKept = 14 * 24 * time.Hour

// historyKey returns the key of an item. Keys are in order of time; n distinguishes items of the same time.
func historyKey(s series.Scope, i *Item, n int) string {
	return historyPrefix(s) + historyTime(i.Time) + fmt.Sprintf("-%04d-%s-%s", n, i.letter(), escape(i.Alarm))
}

func historyPrefix(s series.Scope) string { return keyHistory + s.Account + "/" + s.Region + "/" }

func historyTime(t time.Time) string { return fmt.Sprintf("%013d", max(0, t.UnixMilli())) }

// splitHistoryKey parses the part of a key behind its scope.
func splitHistoryKey(rest string) (at string, letter, name string, ok bool) {
	parts := strings.SplitN(rest, "-", 4)
	if len(parts) != 4 {
		return "", "", "", false
	}
	return parts[0], parts[2], parts[3], true
}

// keyFactor is how many times more memory than its text the key of an item takes while a page is searched.
const keyFactor = 2

// HistoryFilter selects items. Empty fields match all.
type HistoryFilter struct {
	series.Scope
	Alarm    string
	Types    AlarmTypes
	Kind     ItemKind
	From, To time.Time
}

// AlarmTypes are the requested types of alarms.
type AlarmTypes struct{ Metric, Composite bool }

// matches reports whether the filter selects an item with this letter, alarm name and time in its key.
func (f *HistoryFilter) matches(letter, name, at string) bool {
	of := strings.ToUpper(letter)
	isComposite := of != letter
	return (f.Alarm == "" || name == escape(f.Alarm)) && (f.Kind == "" || of == kindLetters[f.Kind]) &&
		(f.Types == AlarmTypes{} || f.Types.Composite && isComposite || f.Types.Metric && !isComposite) &&
		(f.From.IsZero() || at >= historyTime(f.From)) && (f.To.IsZero() || at <= historyTime(f.To))
}

// HistoryKeys returns the keys of the items that a filter selects, oldest first. Item returns the item of a key.
// HistoryKeys counts them for the request of ctx; see package budget.
func (m *Monitor) HistoryKeys(ctx context.Context, f HistoryFilter) ([]string, error) {
	prefix, request := historyPrefix(f.Scope), budget.Of(ctx)
	var keys []string
	var failed error
	err := control.Records(m.control.Store(), prefix, func(key string, _ []byte) bool {
		if failed = request.Work(1); failed != nil {
			return false
		}
		at, letter, name, ok := splitHistoryKey(key[len(prefix):])
		if ok && f.matches(letter, name, at) {
			failed = request.Hold(keyFactor * len(key))
			keys = append(keys, key)
		}
		return failed == nil
	})
	return keys, errors.Join(err, failed)
}

// Item returns the item of a key, or nil if it no longer exists.
func (m *Monitor) Item(key string) (*Item, error) {
	b, err := m.control.Store().Get([]byte(key))
	if b == nil || err != nil {
		return nil, err
	}
	i := new(Item)
	return i, json.Unmarshal(b, i)
}

// AddItem adds an item to the history of an alarm. If the scope has MaxItems, the oldest items are removed.
func (tx *Tx) AddItem(s series.Scope, i *Item) error {
	i.Time = i.Time.UTC().Truncate(time.Millisecond)
	for n := 0; ; n++ {
		key := historyKey(s, i, n)
		was, err := tx.tx.Get(key)
		if err != nil {
			return err
		}
		if was == nil {
			tx.tx.Put(key, encode(i))
			tx.added[s]++
			return nil
		}
	}
}

// maxData is the maximum size of an item's data in bytes.
const maxData = 4095

// record is the data of an item in its JSON form. Its members are in AWS's order.
type record struct {
	Version string         `json:"version"`
	Type    string         `json:"type,omitempty"`
	Created *configuration `json:"createdAlarm,omitempty"`
	Updated *configuration `json:"updatedAlarm,omitempty"`
	Deleted *configuration `json:"deletedAlarm,omitempty"`
	Old     *stateRecord   `json:"oldState,omitempty"`
	New     *stateRecord   `json:"newState,omitempty"`
}

// stateRecord is the state of an alarm in history.
type stateRecord struct {
	Value            alarm.State     `json:"stateValue"`
	Reason           string          `json:"stateReason"`
	ReasonData       json.RawMessage `json:"stateReasonData,omitempty"`
	SuppressedBy     string          `json:"actionsSuppressedBy,omitempty"`
	SuppressedReason string          `json:"actionsSuppressedReason,omitempty"`
}

// historyData returns the data of an item as JSON. If it would be too long, historyData drops members, one after the
// other, until it fits: each function drops something.
func historyData(all any, without ...func()) string {
	for {
		text := string(encode(all))
		if len(text) <= maxData || len(without) == 0 {
			return text
		}
		without[0]()
		without = without[1:]
	}
}

// created, updated and deleted are the changes of an alarm's configuration.
const (
	created = "created"
	updated = "updated"
	deleted = "deleted"
)

// configuration is an alarm's configuration in history. The names and the order of the members are AWS's.
type configuration struct {
	Name              string           `json:"alarmName"`
	Description       string           `json:"alarmDescription,omitempty"`
	ARN               string           `json:"alarmArn"`
	Changed           string           `json:"alarmConfigurationUpdatedTimestamp"`
	Namespace         string           `json:"namespace,omitempty"`
	Metric            string           `json:"metricName,omitempty"`
	Statistic         string           `json:"statistic,omitempty"`
	ExtendedStatistic string           `json:"extendedStatistic,omitempty"`
	Period            int              `json:"period,omitempty"`
	Unit              string           `json:"unit,omitempty"`
	Dimensions        []shownDimension `json:"dimensions,omitzero"`
	Threshold         json.RawMessage  `json:"threshold,omitempty"`
	ThresholdID       string           `json:"thresholdMetricId,omitempty"`
	Comparison        alarm.Comparison `json:"comparisonOperator,omitempty"`
	Periods           int              `json:"evaluationPeriods,omitempty"`
	ToAlarm           int              `json:"datapointsToAlarm,omitempty"`
	Missing           alarm.Missing    `json:"treatMissingData,omitempty"`
	LowSamples        string           `json:"evaluateLowSampleCountPercentile,omitempty"`
	Rule              string           `json:"alarmRule,omitempty"`
	Suppressor        string           `json:"actionsSuppressor,omitempty"`
	Wait              *int             `json:"actionsSuppressorWaitPeriod,omitempty"`
	Extension         *int             `json:"actionsSuppressorExtensionPeriod,omitempty"`
	State             alarm.State      `json:"stateValue"`
	StateSet          string           `json:"stateUpdatedTimestamp"`
	ActionsEnabled    bool             `json:"actionsEnabled"`
	AlarmActions      []string         `json:"alarmActions"`
	InsufficientData  []string         `json:"insufficientDataActions"`
	OKActions         []string         `json:"okactions"`
}

// configured returns the item of a change of an alarm's configuration: created, updated or deleted.
func configured(a *Alarm, what string, at time.Time) *Item {
	shown := &configuration{
		Name: a.Name.Name, Description: a.Description, ARN: a.ARN(), Changed: a.Updated.UTC().Format(alarm.TimeFormat),
		State: a.State, StateSet: a.StateSet.UTC().Format(alarm.TimeFormat), ActionsEnabled: a.ActionsEnabled,
		AlarmActions: list(a.AlarmActions), InsufficientData: list(a.InsufficientDataActions),
		OKActions: list(a.OKActions),
	}
	if a.Composite != nil {
		a.Composite.show(shown)
	} else {
		a.showMetric(shown)
	}
	data := record{Version: "1.0"}
	switch what {
	case created:
		data.Type, data.Created = "Create", shown
	case updated:
		data.Type, data.Updated = "Update", shown
	case deleted:
		data.Type, data.Deleted = "Delete", shown
	}
	return &Item{
		Alarm: a.Name.Name, Composite: a.Composite != nil, Kind: Configured, Time: at,
		Summary: fmt.Sprintf(`Alarm "%s" %s`, a.Name.Name, what), Data: historyData(data, shown.shorter()...),
	}
}

// shorter returns functions that drop long members, one after the other.
func (c *configuration) shorter() []func() {
	return []func(){
		func() { c.Rule = "" }, func() { c.Description = "" }, func() { c.InsufficientData = []string{} },
		func() { c.OKActions = []string{} }, func() { c.AlarmActions = []string{} }, func() { c.Dimensions = nil },
	}
}

// showMetric adds the fields of a metric alarm.
func (a *Alarm) showMetric(c *configuration) {
	c.Periods, c.Comparison, c.ToAlarm = a.Periods, a.Comparison, a.ToAlarm
	c.Threshold, c.ThresholdID, c.Missing, c.LowSamples = a.shownThreshold(), a.ThresholdID, a.Missing, a.LowSamples
	m := a.Metric
	if m == nil {
		return
	}
	c.Namespace, c.Metric, c.Period, c.Unit = m.Namespace, m.Metric, int(m.Period/time.Second), m.Unit
	c.Dimensions = shownDimensions(m)
	if slices.Contains(metricdata.Statistics, m.Statistic) {
		c.Statistic = m.Statistic
	} else {
		c.ExtendedStatistic = m.Statistic
	}
}

// shownThreshold returns the threshold as JSON, or nil for an alarm on a band.
func (a *Alarm) shownThreshold() json.RawMessage {
	if a.ThresholdID != "" {
		return nil
	}
	return json.RawMessage(alarm.JavaDouble(a.Threshold))
}

// show adds the fields of a composite alarm.
func (c *Composite) show(shown *configuration) {
	shown.Rule = c.Rule
	if c.Suppressor != "" {
		shown.Suppressor, shown.Wait, shown.Extension = c.Suppressor, &c.Wait, &c.Extension
	}
}

// missing returns how the alarm treats missing data.
func (a *Alarm) missing() alarm.Missing {
	if a.Missing == "" {
		return alarm.AsMissing
	}
	return a.Missing
}

// list returns s, or an empty list instead of nil.
func list(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// stateData returns the state of an alarm for history.
func stateData(a *Alarm) *stateRecord {
	s := &stateRecord{Value: a.State, Reason: a.Reason}
	if json.Valid([]byte(a.ReasonData)) {
		s.ReasonData = json.RawMessage(a.ReasonData)
	}
	if a.Composite != nil && a.Composite.Suppression.By != "" {
		s.SuppressedBy, s.SuppressedReason = string(a.Composite.Suppression.By), a.Composite.Suppression.Reason()
	}
	return s
}

// stateItem returns the item of a change from one alarm's state to another's.
func stateItem(was, is *Alarm, summary string, at time.Time) *Item {
	before, now := stateData(was), stateData(is)
	return &Item{
		Alarm: is.Name.Name, Composite: is.Composite != nil, Kind: StateSet, Time: at, Summary: summary,
		Data: historyData(record{Version: "1.0", Old: before, New: now},
			func() { before.ReasonData = nil }, func() { now.ReasonData = nil }),
	}
}

// transitionItem returns the item of a transition.
func transitionItem(was, is *Alarm, at time.Time) *Item {
	return stateItem(was, is, fmt.Sprintf("Alarm updated from %s to %s", was.State, is.State), at)
}

// suppressionItem returns the item for a change of a composite alarm's suppression, or nil if it has not changed.
func suppressionItem(was, is *Alarm, at time.Time) *Item {
	before, now := was.Composite.Suppression, is.Composite.Suppression
	switch {
	case before.By == now.By:
		return nil
	case now.By == "":
		return stateItem(was, is, "Actions no longer suppressed by "+string(before.By), at)
	}
	return stateItem(was, is, now.Reason(), at)
}
