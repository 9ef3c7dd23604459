package cloudwatch_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// trouble is a composite alarm as Terraform creates it.
var trouble = object{
	"AlarmName": "trouble", "AlarmDescription": "all of it", "ActionsEnabled": true, "AlarmActions": list{topic},
	"OKActions": list{}, "InsufficientDataActions": list{},
	"AlarmRule": `ALARM("a") AND NOT OK(arn:aws:cloudwatch:us-east-1:000000000000:alarm:b)`,
	"Tags":      list{object{"Key": "team", "Value": "red"}},
}

// shownTrouble is the alarm as DescribeAlarms shows it before it is evaluated.
var shownTrouble = object{
	"AlarmName": "trouble", "AlarmArn": "arn:aws:cloudwatch:us-east-1:000000000000:alarm:trouble",
	"AlarmDescription":                   "all of it",
	"AlarmConfigurationUpdatedTimestamp": "2026-11-21T12:00:30Z", "ActionsEnabled": true, "AlarmActions": list{topic},
	"AlarmRule":  trouble["AlarmRule"],
	"StateValue": "INSUFFICIENT_DATA", "StateReason": "Unchecked: Initial alarm creation",
	"StateUpdatedTimestamp": "2026-11-21T12:00:30Z", "StateTransitionedTimestamp": "2026-11-21T12:00:30Z",
}

// combine updates composite alarms.
func (r *rig) combine() {
	r.Helper()
	e := monitor.NewEvaluator(monitor.EvaluatorOptions{
		Monitor: r.monitor, Reader: r.metrics, Levels: series.Default, Now: func() time.Time { return r.now },
		Log: slog.New(slog.DiscardHandler),
	})
	if err := e.Combine(context.Background(), r.now); err != nil {
		r.Fatal(err)
	}
}

// put creates metric alarms of these names.
func (r *rig) put(names ...string) {
	r.Helper()
	for _, name := range names {
		r.ok("PutMetricAlarm", with(backlog, object{"AlarmName": name, "Tags": nil}), object{})
	}
}

// ofType describes alarms of the type composite.
var ofType = object{"AlarmTypes": list{"CompositeAlarm"}}

// Terraform creates a composite alarm, reads it by name and type, reads its tags, changes and deletes it.
func TestTerraformsCompositeAlarm(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.put("a", "b", "deploying")
		r.ok("PutCompositeAlarm", trouble, object{})
		byName := object{"AlarmNames": list{"trouble"}, "AlarmTypes": list{"CompositeAlarm"}}
		r.ok("DescribeAlarms", byName, object{"CompositeAlarms": list{shownTrouble}})
		r.ok("ListTagsForResource", object{"ResourceARN": shownTrouble["AlarmArn"]},
			object{"Tags": list{object{"Key": "team", "Value": "red"}}})
		r.combine()
		evaluated := with(shownTrouble, object{
			"StateValue":      "OK",
			"StateReason":     "arn:aws:cloudwatch:us-east-1:000000000000:alarm:a transitioned to INSUFFICIENT_DATA at Saturday 21 November, 2026 12:00:30 UTC",
			"StateReasonData": `{"triggeringAlarms":[{"arn":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:a","state":{"value":"INSUFFICIENT_DATA","timestamp":"2026-11-21T12:00:30.000+0000"}}]}`,
		})
		r.ok("DescribeAlarms", byName, object{"CompositeAlarms": list{evaluated}})
		r.now = r.now.Add(time.Hour)
		changed := with(trouble, object{
			"AlarmDescription": nil, "ActionsEnabled": false, "AlarmRule": "ALARM(a)",
			"ActionsSuppressor": "deploying", "ActionsSuppressorWaitPeriod": 0,
			"ActionsSuppressorExtensionPeriod": 60, "Tags": list{object{"Key": "ignored", "Value": "x"}},
			"ActionConfiguration": object{
				"AlarmTagsPropagation": object{"Enabled": true, "IncludedTagKeys": list{"team"}},
			},
		})
		r.ok("PutCompositeAlarm", changed, object{})
		r.ok("DescribeAlarms", byName, object{"CompositeAlarms": list{with(evaluated, object{
			"AlarmDescription": nil, "ActionsEnabled": false, "AlarmRule": "ALARM(a)",
			"AlarmConfigurationUpdatedTimestamp": "2026-11-21T13:00:30Z",
			"ActionsSuppressor":                  "deploying", "ActionsSuppressorWaitPeriod": 0,
			"ActionsSuppressorExtensionPeriod": 60, "ActionConfiguration": changed["ActionConfiguration"],
		})}})
		r.ok("TagResource",
			object{"ResourceARN": shownTrouble["AlarmArn"], "Tags": list{object{"Key": "env", "Value": "prod"}}},
			object{})
		r.ok("UntagResource", object{"ResourceARN": shownTrouble["AlarmArn"], "TagKeys": list{"team"}}, object{})
		r.ok("ListTagsForResource", object{"ResourceARN": shownTrouble["AlarmArn"]},
			object{"Tags": list{object{"Key": "env", "Value": "prod"}}})
		r.ok("DeleteAlarms", object{"AlarmNames": list{"trouble"}}, object{})
		r.ok("DescribeAlarms", byName, object{})
	})
}

func TestPutCompositeAlarmRefuses(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.put("a", "b")
		refused := func(change object, message string) {
			r.Helper()
			r.fails("PutCompositeAlarm", with(trouble, change), 400, "ValidationError", message)
		}
		const one = "1 validation error detected: "
		const arns = "arn:aws:cloudwatch:us-east-1:000000000000:alarm:"
		refused(object{"AlarmName": nil},
			one+"Value null at 'alarmName' failed to satisfy constraint: Member must not be null")
		refused(object{"AlarmRule": nil},
			one+"Value null at 'alarmRule' failed to satisfy constraint: Member must not be null")
		refused(object{"AlarmRule": ""},
			one+
				"Value '' at 'alarmRule' failed to satisfy constraint: Member must have length greater than or equal to 1")
		for _, rule := range []string{" ALARM(a)", "ALARM(a)\n", " "} {
			refused(object{"AlarmRule": rule}, "AlarmRule must not contain leading or trailing whitespace or be null")
		}
		refused(object{"AlarmRule": "ALARM(a b)"}, "Error in AlarmRule [Unsupported token 'b' at char 8, must be: ')']")
		refused(object{"AlarmRule": "ALARM(a) OR OK(gone) OR OK(arn:aws:cloudwatch:eu-west-1:000000000000:alarm:a)"},
			"Could not save the composite alarm as alarms ["+
				arns+"gone, arn:aws:cloudwatch:eu-west-1:000000000000:alarm:a] in the alarm rule do not exist")
		refused(object{"AlarmRule": "ALARM(trouble)"},
			"Could not save the composite alarm as alarms ["+arns+"trouble] in the alarm rule do not exist")
		refused(object{"ActionsSuppressor": "a"},
			"ActionsSuppressorWaitPeriod and ActionsSuppressorExtensionPeriod are required with ActionsSuppressor.")
		refused(object{"ActionsSuppressorWaitPeriod": 1},
			"ActionsSuppressorWaitPeriod and ActionsSuppressorExtensionPeriod can only be specified with ActionsSuppressor.")
		refused(object{
			"ActionsSuppressor": "gone", "ActionsSuppressorWaitPeriod": 1, "ActionsSuppressorExtensionPeriod": 1,
		},
			"Could not save the composite alarm as the suppressor alarm [gone] does not exist")
		refused(object{
			"ActionsSuppressor": "a", "ActionsSuppressorWaitPeriod": -1, "ActionsSuppressorExtensionPeriod": 1,
		},
			one+
				"Value '-1' at 'actionsSuppressorWaitPeriod' failed to satisfy constraint: Member must have value greater than or equal to 0")
		refused(object{"AlarmActions": list{"ops"}}, "Invalid arn syntax: ops")
		refused(object{"AlarmName": "a"}, "The alarm a exists and is a metric alarm.")
		r.ok("DescribeAlarms", ofType, object{})
		r.ok("PutCompositeAlarm", trouble, object{})
		r.fails("PutMetricAlarm", with(backlog, object{"AlarmName": "trouble"}), 400, "ValidationError",
			"The alarm trouble exists and is a composite alarm.")
		for i := range monitor.MaxParents - 1 {
			r.ok("PutCompositeAlarm", object{"AlarmName": fmt.Sprint("p", i), "AlarmRule": "ALARM(a)"}, object{})
		}
		r.ok("PutCompositeAlarm", trouble, object{})
		r.fails("PutCompositeAlarm", object{"AlarmName": "one-more", "AlarmRule": "OK(b) OR ALARM(a)"}, 400,
			"LimitExceeded",
			"The alarm a is in the rules of 150 composite alarms; it cannot be in more.")
	})
}

// A rule that is too long is refused before it is parsed.
func TestLongRule(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		a := r.call("PutCompositeAlarm", object{"AlarmName": "x", "AlarmRule": strings.Repeat("NOT ", 2560) + "TRUE"})
		if a.status != 400 || a.code != "ValidationError" || !strings.HasSuffix(a.message,
			"at 'alarmRule' failed to satisfy constraint: Member must have length less than or equal to 10240") {
			r.Errorf("%d %s %.300s", a.status, a.code, a.message)
		}
		r.ok("PutCompositeAlarm", object{"AlarmName": "x", "AlarmRule": strings.Repeat("NOT ", 2559) + "TRUE"},
			object{})
	})
}

// Composite alarms are described only on request. An alarm's children and parents are summarized.
func TestDescribeComposites(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.put("a", "b", "c")
		r.ok("PutCompositeAlarm", object{"AlarmName": "bottom", "AlarmRule": "ALARM(a) OR ALARM(b)"}, object{})
		r.ok("PutCompositeAlarm", object{"AlarmName": "top", "AlarmRule": "ALARM(bottom) AND ALARM(a)"}, object{})
		described := func(in object, want ...string) {
			r.Helper()
			out := r.call("DescribeAlarms", in).output
			got := append(names(out["MetricAlarms"], "AlarmName"), names(out["CompositeAlarms"], "AlarmName")...)
			if !slices.Equal(got, want) {
				r.Errorf("%v: %v", in, got)
			}
		}
		described(object{}, "a", "b", "c")
		described(ofType, "bottom", "top")
		described(object{"AlarmTypes": list{"CompositeAlarm", "MetricAlarm"}}, "a", "b", "c", "bottom", "top")
		described(object{"AlarmTypes": list{"CompositeAlarm", "MetricAlarm"}, "MaxRecords": 3}, "a", "b", "bottom")
		described(object{"AlarmTypes": list{"LogAlarm"}})
		described(object{"AlarmNames": list{"top", "a"}}, "a")
		described(object{"AlarmNamePrefix": "t", "AlarmTypes": list{"CompositeAlarm"}}, "top")
		described(object{"ChildrenOfAlarmName": "nowhere"})
		described(object{"ChildrenOfAlarmName": "a"})
		described(object{"ChildrenOfAlarmName": "top", "MaxRecords": 1}, "a")
		brief := func(name string) object {
			return object{"AlarmName": name, "AlarmArn": "arn:aws:cloudwatch:us-east-1:000000000000:alarm:" + name}
		}
		child := func(name string) object {
			return with(brief(name), object{
				"StateValue": "INSUFFICIENT_DATA", "StateUpdatedTimestamp": "2026-11-21T12:00:30Z",
			})
		}
		r.ok("DescribeAlarms", object{"ChildrenOfAlarmName": "top"},
			object{"MetricAlarms": list{child("a")}, "CompositeAlarms": list{child("bottom")}})
		r.ok("DescribeAlarms", object{"ParentsOfAlarmName": "a"}, object{
			"CompositeAlarms": list{brief("bottom"), brief("top")},
		})
		r.ok("DescribeAlarms", object{"ParentsOfAlarmName": "top"}, object{})
	})
}

// An alarm on which another depends cannot be deleted, nor can two composite alarms at once. Then nothing is deleted.
func TestDeleteComposites(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.put("a", "b", "c", "s")
		r.ok("PutCompositeAlarm", object{
			"AlarmName": "p", "AlarmRule": "ALARM(a) OR ALARM(b)", "ActionsSuppressor": "s",
			"ActionsSuppressorWaitPeriod": 0, "ActionsSuppressorExtensionPeriod": 0,
		}, object{})
		r.ok("PutCompositeAlarm", object{"AlarmName": "q", "AlarmRule": "TRUE"}, object{})
		refused := func(message string, alarms ...any) {
			r.Helper()
			r.fails("DeleteAlarms", object{"AlarmNames": alarms}, 400, "ValidationError", message)
		}
		refused("Cannot delete a as there are composite alarm(s) depending on it.", "a")
		refused("Cannot delete s as there are composite alarm(s) depending on it.", "c", "s")
		refused("Cannot delete b,a as there are composite alarm(s) depending on them.", "b", "a")
		refused("You can delete at most one composite alarm in one operation.", "q", "p")
		r.ok("DeleteAlarms", object{"AlarmNames": list{"a", "p", "gone", "s"}}, object{})
		out := r.call("DescribeAlarms", object{"AlarmTypes": list{"CompositeAlarm", "MetricAlarm"}}).output
		got := append(names(out["MetricAlarms"], "AlarmName"), names(out["CompositeAlarms"], "AlarmName")...)
		if !slices.Equal(got, []string{"b", "c", "q"}) {
			r.Errorf("left are %v", got)
		}
		// A cycle must be broken first.
		r.ok("PutCompositeAlarm", object{"AlarmName": "q", "AlarmRule": "ALARM(q)"}, object{})
		refused("Cannot delete q as there are composite alarm(s) depending on it.", "q")
		r.ok("PutCompositeAlarm", object{"AlarmName": "q", "AlarmRule": "False"}, object{})
		r.ok("DeleteAlarms", object{"AlarmNames": list{"q"}}, object{})
	})
}

func TestCompositeStateAndHistory(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.put("a", "b", "s")
		r.ok("PutCompositeAlarm", with(trouble, object{
			"ActionsSuppressor": "s", "ActionsSuppressorWaitPeriod": 10, "ActionsSuppressorExtensionPeriod": 20,
		}), object{})
		r.combine()
		r.now = r.now.Add(time.Minute)
		r.combine()
		r.ok("SetAlarmState", object{"AlarmName": "trouble", "StateValue": "ALARM", "StateReason": "a test"}, object{})
		r.combine()
		a := r.call("DescribeAlarms", ofType).output["CompositeAlarms"].(list)[0].(object)
		for name, want := range map[string]any{
			"StateValue": "ALARM", "StateReason": "a test", "ActionsSuppressedBy": "WaitPeriod",
			"ActionsSuppressedReason":    "Actions suppressed by WaitPeriod",
			"StateTransitionedTimestamp": "2026-11-21T12:01:30Z",
		} {
			if a[name] != want {
				r.Errorf("%s is %v, want %v", name, a[name], want)
			}
		}
		r.ok("DisableAlarmActions", object{"AlarmNames": list{"trouble"}}, object{})
		summaries := func(in object) []string {
			r.Helper()
			return names(r.call("DescribeAlarmHistory", with(object{
				"ScanBy": "TimestampAscending", "HistoryItemType": "StateUpdate",
			}, in)).output["AlarmHistoryItems"], "HistorySummary")
		}
		if got, want := summaries(ofType), []string{
			"Actions no longer suppressed by WaitPeriod", "Alarm updated from INSUFFICIENT_DATA to OK",
			"Alarm updated from OK to ALARM",
		}; !slices.Equal(got, want) {
			r.Errorf("the history is %q", got)
		}
		if got := summaries(object{}); len(got) > 0 {
			r.Errorf("of metric alarms: %q", got)
		}
		out := r.call("DescribeAlarmHistory", with(ofType, object{"AlarmName": "trouble", "MaxRecords": 1})).output
		item := out["AlarmHistoryItems"].(list)[0].(object)
		if item["AlarmType"] != "CompositeAlarm" || item["AlarmName"] != "trouble" {
			r.Errorf("the item is %v", item)
		}
	})
}
