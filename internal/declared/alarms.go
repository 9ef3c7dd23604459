package declared

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
)

// alarms implements the metric alarms or the composite alarms of CloudWatch.
type alarms struct {
	api API
	alarmType
}

// alarmType describes the alarms of a kind in the API.
type alarmType struct {
	kind   Kind
	name   string // in AlarmTypes
	member string // in the answer of DescribeAlarms
	put    string // the operation that puts one
}

var (
	metricAlarms    = alarmType{AlarmKind, "MetricAlarm", "MetricAlarms", "PutMetricAlarm"}
	compositeAlarms = alarmType{CompositeKind, "CompositeAlarm", "CompositeAlarms", "PutCompositeAlarm"}
)

// statistics are the names of statistics; further ones have the form p99.
var statistics = []string{"SampleCount", "Average", "Sum", "Minimum", "Maximum"}

// passingAlarm lists members of an alarm that are not settings.
var passingAlarm = []string{
	"AlarmName", "AlarmArn", "AlarmConfigurationUpdatedTimestamp", "StateValue", "StateReason", "StateReasonData",
	"StateUpdatedTimestamp",
	"StateTransitionedTimestamp", "Statistic", "ExtendedStatistic", "EvaluationState", "ActionsSuppressedBy",
	"ActionsSuppressedReason",
}

func (a alarms) read(ctx context.Context, r Ref) (*Actual, error) {
	found, _, err := a.describe(ctx, map[string]any{"AlarmNames": []string{r.Name}})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	is := &Actual{Ref: r, arn: r.ARN(""), Settings: make(Settings)}
	for name, raw := range found[0] {
		s := byAttribute(a.kind, name)
		if string(raw) == "null" || s == nil && slices.Contains(passingAlarm, name) {
			continue
		}
		switch {
		case s == nil:
			is.Settings["attributes."+name] = string(raw)
		case s.raw:
			is.Settings[s.name] = string(raw)
		default:
			is.Settings[s.name] = textOf(raw)
		}
	}
	for _, name := range []string{"Statistic", "ExtendedStatistic"} {
		if text := textOf(found[0][name]); text != "" {
			is.Settings[statistic] = text
		}
	}
	var tags struct{ Tags []struct{ Key, Value string } }
	if err := a.api.CloudWatch(
		ctx, "ListTagsForResource", map[string]string{"ResourceARN": is.arn}, &tags,
	); err != nil {
		return nil, err
	}
	for _, tag := range tags.Tags {
		is.Settings[tagPrefix+tag.Key] = tag.Value
	}
	return is, nil
}

// describe returns alarms, and the token of the next page.
func (a alarms) describe(
	ctx context.Context, in map[string]any,
) (found []map[string]json.RawMessage, next string, err error) {
	in["AlarmTypes"] = []string{a.name}
	var page map[string]json.RawMessage
	if err := a.api.CloudWatch(ctx, "DescribeAlarms", in, &page); err != nil {
		return nil, "", err
	}
	return found, textOf(page["NextToken"]), json.Unmarshal(page[a.member], &found)
}

// textOf returns the text of a JSON string.
func textOf(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return text
}

// request returns the input of the operation that puts an alarm.
func (a alarms) request(r Ref, settings Settings) map[string]any {
	in := map[string]any{"AlarmName": r.Name}
	for key, value := range settings {
		s := settingOf(a.kind, key)
		switch {
		case value == "" || s.name == "tags":
		case strings.HasPrefix(s.name, suppressor+"-") && settings[suppressor] == "":
		case s.name == "attributes":
			in[strings.TrimPrefix(key, "attributes.")] = json.RawMessage(value)
		case s.name == statistic && slices.Contains(statistics, value):
			in["Statistic"] = value
		case s.name == statistic:
			in["ExtendedStatistic"] = value
		case s.raw:
			in[s.attribute] = json.RawMessage(value)
		default:
			in[s.attribute] = value
		}
	}
	return in
}

func (a alarms) create(ctx context.Context, r Ref, settings Settings, by string) error {
	in := a.request(r, settings)
	in["Tags"] = tagList(settings.tagged(by))
	return a.api.CloudWatch(ctx, a.put, in, nil)
}

type tag struct{ Key, Value string }

func tagList(tags map[string]string) (list []tag) {
	for key, value := range tags {
		list = append(list, tag{key, value})
	}
	slices.SortFunc(list, func(a, b tag) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// update puts the alarm with its old settings and the changes: CloudWatch accepts only whole alarms.
func (a alarms) update(ctx context.Context, is *Actual, changes []Change) error {
	settings := make(Settings)
	for key, value := range is.Settings {
		settings[key] = value
	}
	some := changed(changes)
	for key, value := range some {
		settings[key] = value
	}
	oneMetric := []string{"namespace", "metric", "dimensions", statistic, "period", "unit"}
	if _, now := some["metrics"]; now {
		for _, name := range oneMetric {
			delete(settings, name)
		}
	} else if _, now := some["metric"]; now {
		delete(settings, "metrics")
	}
	tags := some.under("tags")
	if len(tags) < len(some) {
		if err := a.api.CloudWatch(ctx, a.put, a.request(is.Ref, settings), nil); err != nil {
			return err
		}
	}
	if len(tags) > 0 {
		return a.api.CloudWatch(ctx, "TagResource", map[string]any{"ResourceARN": is.arn, "Tags": tagList(tags)}, nil)
	}
	return nil
}

func (a alarms) remove(ctx context.Context, is *Actual) error {
	return a.api.CloudWatch(ctx, "DeleteAlarms", map[string]any{"AlarmNames": []string{is.Name}}, nil)
}

func (a alarms) list(ctx context.Context, s Scope) (refs []Ref, err error) {
	in := map[string]any{"MaxRecords": 100}
	for {
		found, next, err := a.describe(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			refs = append(refs, newRef(s, a.kind, textOf(one["AlarmName"])))
		}
		if next == "" {
			return refs, nil
		}
		in["NextToken"] = next
	}
}
