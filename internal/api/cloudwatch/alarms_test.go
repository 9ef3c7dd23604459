package cloudwatch_test

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

const topic = "arn:aws:sns:us-east-1:000000000000:ops"

// backlog is an alarm as Terraform creates it.
var backlog = object{
	"AlarmName": "backlog", "AlarmDescription": "too much", "ActionsEnabled": true, "AlarmActions": list{topic},
	"OKActions": list{}, "InsufficientDataActions": list{},
	"MetricName": "ApproximateNumberOfMessagesVisible", "Namespace": "AWS/SQS", "Statistic": "Average",
	"Dimensions": dimensions("q"), "Period": 300,
	"EvaluationPeriods": 3, "DatapointsToAlarm": 2, "Threshold": 10.5, "ComparisonOperator": "GreaterThanThreshold",
	"TreatMissingData": "notBreaching",
	"Tags":             list{object{"Key": "team", "Value": "red"}},
}

// shown is the alarm as DescribeAlarms shows it.
var shown = object{
	"AlarmName": "backlog", "AlarmArn": "arn:aws:cloudwatch:us-east-1:000000000000:alarm:backlog",
	"AlarmDescription":                   "too much",
	"AlarmConfigurationUpdatedTimestamp": "2026-11-21T12:00:30Z", "ActionsEnabled": true, "AlarmActions": list{topic},
	"StateValue": "INSUFFICIENT_DATA", "StateReason": "Unchecked: Initial alarm creation",
	"StateUpdatedTimestamp": "2026-11-21T12:00:30Z", "StateTransitionedTimestamp": "2026-11-21T12:00:30Z",
	"MetricName": "ApproximateNumberOfMessagesVisible", "Namespace": "AWS/SQS", "Statistic": "Average",
	"Dimensions": dimensions("q"), "Period": 300,
	"EvaluationPeriods": 3, "DatapointsToAlarm": 2, "Threshold": 10.5, "ComparisonOperator": "GreaterThanThreshold",
	"TreatMissingData": "notBreaching",
}

// Clients can make up regions, but these do not raise an account's number of alarms without bound.
func TestMostAlarmsOfAccount(t *testing.T) {
	t.Parallel()
	const most = 10_000
	r := newRig(t, inJSON)
	err := r.monitor.Change(t.Context(), func(tx *monitor.Tx) error {
		for i := range most {
			name := monitor.Name{
				Scope: series.Scope{Account: r.caller.Account, Region: fmt.Sprint("made-up-", i)}, Name: "a",
			}
			rule, err := monitor.NewComposite(name.Scope, "TRUE")
			if err != nil {
				return err
			}
			if err := tx.Create(&monitor.Alarm{Name: name, Composite: rule}, r.now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.fails("PutMetricAlarm", backlog, 400, "LimitExceeded",
		"An account can have at most 10000 alarms in all regions together.")
}

// Terraform creates an alarm, reads it by name and type, reads its tags, changes and deletes it.
func TestTerraformsAlarm(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.ok("PutMetricAlarm", backlog, object{})
		byName := object{"AlarmNames": list{"backlog"}, "AlarmTypes": list{"MetricAlarm"}}
		r.ok("DescribeAlarms", byName, object{"MetricAlarms": list{shown}})
		r.ok("ListTagsForResource", object{"ResourceARN": shown["AlarmArn"]}, object{
			"Tags": list{object{"Key": "team", "Value": "red"}},
		})
		r.now = r.now.Add(time.Hour)
		r.ok("PutMetricAlarm",
			with(backlog, object{"Threshold": 20, "Tags": list{object{"Key": "ignored", "Value": "x"}}}), object{})
		r.ok("TagResource",
			object{"ResourceARN": shown["AlarmArn"], "Tags": list{object{"Key": "env", "Value": "prod"}}}, object{})
		r.ok("UntagResource", object{"ResourceARN": shown["AlarmArn"], "TagKeys": list{"team"}}, object{})
		r.ok("DescribeAlarms", byName, object{"MetricAlarms": list{with(shown, object{
			"Threshold": 20, "AlarmConfigurationUpdatedTimestamp": "2026-11-21T13:00:30Z",
		})}})
		r.ok("ListTagsForResource", object{"ResourceARN": shown["AlarmArn"]}, object{
			"Tags": list{object{"Key": "env", "Value": "prod"}},
		})
		r.ok("DescribeAlarms", object{"AlarmNames": list{"backlog"}, "AlarmTypes": list{"CompositeAlarm"}}, object{})
		r.ok("DeleteAlarms", object{"AlarmNames": list{"backlog"}}, object{})
		r.ok("DescribeAlarms", byName, object{})
		r.ok("ListTagsForResource", object{"ResourceARN": shown["AlarmArn"]}, object{})
		r.fails("TagResource", object{
			"ResourceARN": shown["AlarmArn"], "Tags": list{object{"Key": "a", "Value": "b"}},
		}, 404, "ResourceNotFoundException",
			"Unknown resource: "+shown["AlarmArn"].(string))
		r.ok("DeleteAlarms", object{"AlarmNames": list{"backlog"}}, object{})
	})
}

// An unknown alarm name does not prevent the others from being deleted.
func TestDeleteAlarmsWithUnknown(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		for _, name := range []string{"a", "b", "c"} {
			r.ok("PutMetricAlarm", with(backlog, object{"AlarmName": name}), object{})
		}
		r.ok("DeleteAlarms", object{"AlarmNames": list{"a", "gone", "b", "a"}}, object{})
		if left := names(r.call("DescribeAlarms", object{}).output["MetricAlarms"], "AlarmName"); !slices.Equal(left,
			[]string{"c"}) {
			r.Errorf("left are %v", left)
		}
	})
}

// Other properties of an alarm are returned as they were set.
func TestAlarmsExtras(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		queries := list{
			object{"Id": "e1", "Expression": "m1 / 2", "Label": "half", "ReturnData": true},
			with(stat("m1", "NumberOfMessagesSent", "q", "Sum", 300), object{
				"ReturnData": false, "AccountId": account,
			}),
		}
		math := with(backlog, object{
			"MetricName": nil, "Namespace": nil, "Statistic": nil, "Dimensions": nil, "Period": nil, "Tags": nil,
			"DatapointsToAlarm": nil, "TreatMissingData": nil, "Metrics": queries,
			"EvaluationWindow": object{"WallClockWindow": object{"Timezone": "+05:30"}},
			"WarmUpConfiguration": object{
				"WarmUpPeriodDurationInMinutes": 30, "OnlyStartEvaluatingAfterWarmUpPeriodEnds": true,
			},
			"ActionConfiguration": object{
				"AlarmTagsPropagation": object{"Enabled": true, "IncludedTagKeys": list{"team"}},
			},
		})
		r.ok("PutMetricAlarm", math, object{})
		r.ok("DescribeAlarms", object{"AlarmNamePrefix": "back"}, object{"MetricAlarms": list{with(shown, object{
			"MetricName": nil, "Namespace": nil, "Statistic": nil, "Dimensions": nil, "Period": nil,
			"DatapointsToAlarm": nil, "TreatMissingData": nil, "Metrics": queries,
			"EvaluationWindow": math["EvaluationWindow"], "WarmUpConfiguration": math["WarmUpConfiguration"],
			"ActionConfiguration": math["ActionConfiguration"], "EvaluationState": "IN_WARM_UP",
		})}})
		r.ok("PutMetricAlarm", with(backlog, object{
			"Statistic": nil, "ExtendedStatistic": "p100", "Unit": "Count",
			"EvaluateLowSampleCountPercentile": "ignore",
		}), object{})
		r.ok("DescribeAlarms", object{}, object{"MetricAlarms": list{with(shown, object{
			"Statistic": nil, "ExtendedStatistic": "p100", "Unit": "Count",
			"EvaluateLowSampleCountPercentile": "ignore",
		})}})
	})
}

func TestPutMetricAlarmRefuses(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		refused := func(change object, message string) {
			r.Helper()
			r.fails("PutMetricAlarm", with(backlog, change), 400, "ValidationError", message)
		}
		const one = "1 validation error detected: "
		refused(object{"AlarmName": nil},
			one+"Value null at 'alarmName' failed to satisfy constraint: Member must not be null")
		refused(object{"AlarmName": "a\nb"},
			one+`Value 'a`+"\n"+
				`b' at 'alarmName' failed to satisfy constraint: Member must satisfy regular expression pattern: [^\x00-\x1F\x7F]+`)
		refused(object{"MetricName": nil}, "MetricName must not be null")
		refused(object{"MetricName": nil, "Metrics": list{}}, "MetricName must not be null")
		refused(object{"Namespace": nil}, "Namespace must not be null")
		refused(object{"MetricName": "größe"}, "MetricName must not contain Non-ASCII characters")
		refused(object{"EvaluateLowSampleCountPercentile": "ignore"},
			"EvaluateLowSampleCountPercentile is only applicable to percentile based metrics.")
		refused(object{"Period": nil}, "Period must not be null")
		refused(object{"Threshold": nil}, "Threshold must not be null")
		r.fails("PutMetricAlarm", with(backlog, object{"Threshold": r.double("NaN", math.NaN())}), 400,
			"InvalidParameterValue",
			"The value NaN for parameter Threshold is invalid.")
		refused(object{"EvaluationPeriods": nil},
			one+"Value null at 'evaluationPeriods' failed to satisfy constraint: Member must not be null")
		refused(object{"ComparisonOperator": "GreaterThanUpperThreshold"},
			"ComparisonOperators for ranges require ThresholdMetricId to be set")
		refused(object{"TreatMissingData": "never"},
			one+
				"Value 'never' at 'treatMissingData' failed to satisfy constraint: Member must satisfy enum value set: [breaching, notBreaching, ignore, missing]")
		refused(object{"Statistic": nil}, "Exactly one of Statistic and ExtendedStatistic must be specified")
		refused(object{"Statistic": nil, "ExtendedStatistic": "tm101"},
			"The value tm101 for parameter ExtendedStatistic is not supported.")
		refused(object{"Statistic": nil, "ExtendedStatistic": "Sum"},
			"The value Sum for parameter ExtendedStatistic is not supported.")
		refused(object{"Period": 10},
			`Only a period greater than 60s is supported for metrics in the "AWS/" namespaces`)
		refused(object{"Period": 15}, "Period must be 10, 20, 30 or a multiple of 60")
		refused(object{"Namespace": "Workers", "Period": 5}, "Period must be 10, 20, 30 or a multiple of 60")
		refused(object{"EvaluationPeriods": 1}, "DatapointsToAlarm must be less than or equal to EvaluationPeriods")
		refused(object{"EvaluationPeriods": 289},
			"Metrics cannot be checked across more than a day (EvaluationPeriods * Period must be <= 86400) "+
				"for alarms using period < 3600")
		refused(object{"EvaluationPeriods": 169, "Period": 3600},
			"Metrics cannot be checked across more than a week (EvaluationPeriods * Period must be <= 604800) "+
				"for alarms using period >= 3600")
		refused(object{"Metrics": list{object{"Id": "e1", "Expression": "1"}}},
			"MetricName should not be set if list of Metrics is set.")
		refused(object{
			"MetricName": nil, "Namespace": nil, "Dimensions": nil, "Period": nil,
			"Metrics": list{object{"Id": "e1", "Expression": "1"}},
		},
			"Statistic should not be set if list of Metrics is set.")
		refused(object{"EvaluationCriteria": object{"PromQLCriteria": object{"Query": "up"}}},
			"Alarms on PromQL queries are not supported by Sluice: leave out EvaluationCriteria and EvaluationInterval.")
		refused(object{"ThresholdMetricId": "ad1"},
			"ComparisonOperator for models must be LessThanLowerThreshold, GreaterThanUpperThreshold or LessThanLowerOrGreaterThanUpperThreshold")
		refused(object{"AlarmActions": list{"ops"}}, "Invalid arn syntax: ops")
		refused(object{"AlarmActions": list{"arn:aws:lambda:us-east-1:000000000000:function:f"}},
			"The action arn:aws:lambda:us-east-1:000000000000:function:f is not supported by Sluice: an action is the ARN of an SNS topic.")
		refused(object{"AlarmActions": list{"arn:aws:sns:eu-west-1:000000000000:ops"}},
			"Invalid region eu-west-1 specified. Only us-east-1 is supported.")
		refused(object{"AlarmActions": slices.Repeat(list{topic}, 6)},
			one+"Value '["+topic+strings.Repeat(", "+topic, 5)+
				"]' at 'alarmActions' failed to satisfy constraint: Member must have length less than or equal to 5")
		refused(object{"EvaluationWindow": object{"WallClockWindow": object{"Timezone": "Mars/Olympus"}}},
			`The time zone "Mars/Olympus" is not known. Use a name such as America/New_York or an offset such as +05:30.`)
		refused(object{"EvaluationWindow": object{"WallClockWindow": object{}}, "Period": 120},
			"With a WallClockWindow the period must be 60, 300, 3600, 86400 or 604800 seconds.")
		refused(object{"WarmUpConfiguration": object{"WarmUpPeriodDurationInMinutes": 0}},
			one+"Value '0' at 'warmUpConfiguration.warmUpPeriodDurationInMinutes' failed to satisfy constraint: "+
				"Member must have value greater than or equal to 1")

		math := func(message string, queries ...any) {
			r.Helper()
			refused(object{
				"MetricName": nil, "Namespace": nil, "Statistic": nil, "Dimensions": nil, "Period": nil,
				"Metrics": queries,
			}, message)
		}
		math("Exactly one element of the metrics list should return data.",
			stat("m1", "NumberOfMessagesSent", "q", "Sum", 60), object{"Id": "e1", "Expression": "m1"})
		const several = "Metrics expression that return multi time series are only allowed for MetricsInsights expression " +
			"with an ORDER BY clause"
		const number = "Error in expression 'e1': it results in a number, and an alarm watches a time series."
		for expression, message := range map[string]string{
			"ANOMALY_DETECTION_BAND(m1)": several, "[m1]": several, "METRICS()": several, "METRICS() * 2": several,
			"SUM(m1)": number, "1 + PERIOD(m1)": number, "AVG(m1) > 5": number,
		} {
			math(message, object{"Id": "e1", "Expression": expression},
				with(stat("m1", "NumberOfMessagesSent", "q", "Sum", 60), object{"ReturnData": false}))
		}
		search := object{"Id": "q", "Expression": "SUM(SEARCH('{AWS/SQS,QueueName}', 'Sum', 60))"}
		math("Period must not be null", search)
		math("SEARCH is not supported on Metric Alarms.", with(search, object{"Period": 60}))
		math("Period must be 10, 20, 30 or a multiple of 60", with(stat("m1", "NumberOfMessagesSent", "q", "Sum", 60),
			object{
				"MetricStat": object{
					"Metric": object{"Namespace": "Workers", "MetricName": "m"}, "Period": 5, "Stat": "Sum",
				},
			}))
		math("Invalid metrics list", stat("5xx", "NumberOfMessagesSent", "q", "Sum", 60))
		math("Invalid metrics list", stat("m1", "NumberOfMessagesSent", "q", "Median", 60))
		math(several, object{"Id": "q", "Expression": "SELECT SUM(m) FROM n GROUP BY d", "Period": 60})
		math("An alarm watches one time series: the query q must not have GROUP BY.",
			object{"Id": "q", "Expression": "SELECT SUM(m) FROM n GROUP BY d ORDER BY SUM() DESC", "Period": 60})
		math("Error in expression 'e1': Invalid syntax", object{"Id": "e1", "Expression": "1 +", "Period": 60})
		r.ok("DescribeAlarms", object{}, object{})
	})
}

// An alarm that cannot be evaluated gives the reason.
func TestEvaluationState(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.ok("PutMetricAlarm", backlog, object{})
		trouble := func(kind monitor.TroubleKind, reason string) {
			r.Helper()
			if err := r.monitor.Change(context.Background(), func(tx *monitor.Tx) error {
				was := r.monitor.Alarms(series.Scope{Account: account, Region: "us-east-1"})[0]
				is := was.Clone()
				is.Trouble = &monitor.Trouble{Kind: kind, Reason: reason}
				return tx.Create(is, r.now)
			}); err != nil {
				r.Fatal(err)
			}
		}
		is := with(shown, object{"EvaluationState": "EVALUATION_FAILURE"})
		trouble(monitor.Unreadable, "")
		r.ok("DescribeAlarms", object{}, object{"MetricAlarms": list{is}})
		trouble(monitor.Misconfigured, "It watches two.")
		is = with(is, object{"EvaluationState": "EVALUATION_ERROR", "StateReason": "It watches two."})
		r.ok("DescribeAlarms", object{}, object{"MetricAlarms": list{is}})
	})
}

// An alarm has at most ten metrics and ten expressions.
func TestAlarmOnManyMetrics(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		on := func(metrics, expressions int) object {
			var queries list
			for i := range metrics {
				m := stat(fmt.Sprintf("m%d", i), "NumberOfMessagesSent", "q", "Sum", 60)
				queries = append(queries, with(m, object{"ReturnData": false}))
			}
			for i := range expressions {
				queries = append(queries, object{
					"Id": fmt.Sprintf("e%d", i), "Expression": "m0 * 2", "ReturnData": i == 0,
				})
			}
			return with(backlog, object{
				"MetricName": nil, "Namespace": nil, "Statistic": nil, "Dimensions": nil, "Period": nil,
				"Metrics": queries,
			})
		}
		r.ok("PutMetricAlarm", on(10, 10), object{})
		r.fails("PutMetricAlarm", on(11, 1), 400, "ValidationError",
			"The metrics list of an alarm can have at most 10 metrics.")
		r.fails("PutMetricAlarm", on(1, 11), 400, "ValidationError",
			"The metrics list of an alarm can have at most 10 expressions.")
	})
}

func TestDescribeAlarms(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		for i := range 120 {
			r.ok("PutMetricAlarm", with(backlog, object{"AlarmName": fmt.Sprintf("a%03d", i), "Tags": nil}), object{})
		}
		r.ok("PutMetricAlarm", with(backlog, object{
			"AlarmName": "other", "AlarmActions": list{topic + "2"}, "Dimensions": dimensions("p"),
		}), object{})
		r.ok("SetAlarmState", object{
			"AlarmName": "other", "StateValue": "ALARM", "StateReason": "a test", "StateReasonData": `{"a":1}`,
		}, object{})
		described := func(in object, want ...string) {
			r.Helper()
			if got := names(r.call("DescribeAlarms", in).output["MetricAlarms"], "AlarmName"); !slices.Equal(got,
				want) {
				r.Errorf("%v: %v", in, got)
			}
		}
		described(object{"AlarmNamePrefix": "a00", "MaxRecords": 2}, "a000", "a001")
		described(object{"StateValue": "ALARM"}, "other")
		described(object{"ActionPrefix": topic + "2"}, "other")
		described(object{"AlarmNames": list{"other", "a119", "nowhere"}}, "a119", "other")
		described(object{"AlarmNames": list{}, "StateValue": "ALARM"}, "other")
		described(object{"ChildrenOfAlarmName": "other", "MaxRecords": 2})
		r.fails("DescribeAlarms", object{"ChildrenOfAlarmName": "other", "StateValue": "OK"}, 400, "ValidationError",
			"With ChildrenOfAlarmName only MaxRecords and NextToken can be specified.")
		r.fails("DescribeAlarms", object{"ParentsOfAlarmName": "other", "AlarmNames": list{"a"}}, 400,
			"ValidationError", "With ParentsOfAlarmName only MaxRecords and NextToken can be specified.")
		n, token := 0, ""
		for pages := 0; pages < 3; pages++ {
			in := object{}
			if token != "" {
				in["NextToken"] = token
			}
			out := r.call("DescribeAlarms", in).output
			n += len(out["MetricAlarms"].(list))
			token, _ = out["NextToken"].(string)
		}
		if n != 121 || token != "" {
			r.Errorf("%d alarms in three pages, then %q", n, token)
		}
		r.ok("PutMetricAlarm", with(backlog, object{
			"AlarmName": "math", "MetricName": nil, "Namespace": nil, "Statistic": nil, "Dimensions": nil,
			"Period":  nil,
			"Metrics": list{stat("m1", "ApproximateNumberOfMessagesVisible", "p", "Average", 300)},
		}), object{})
		forMetric := object{
			"Namespace": "AWS/SQS", "MetricName": "ApproximateNumberOfMessagesVisible", "Dimensions": dimensions("p"),
		}
		for change, want := range map[string]int{"": 1, "Average": 1, "Sum": 0} {
			in := forMetric
			if change != "" {
				in = with(forMetric, object{"Statistic": change})
			}
			if got, _ := r.call("DescribeAlarmsForMetric", in).output["MetricAlarms"].(list); len(got) != want {
				r.Errorf("%v has %d alarms, want %d", in, len(got), want)
			}
		}
		r.fails("DescribeAlarms", object{"AlarmNames": list{"a"}, "AlarmNamePrefix": "a"}, 400, "ValidationError",
			"AlarmNamePrefix and AlarmNames are mutually exclusive: specify one of them.")
		r.fails("DescribeAlarms", object{"NextToken": "x"}, 400, "InvalidNextToken",
			"The next token is not one of this list.")
		r.fails("DescribeAlarms", object{"MaxRecords": 101}, 400, "ValidationError",
			"1 validation error detected: Value '101' at 'maxRecords' failed to satisfy constraint: Member must have value less than or equal to 100")
	})
}

func TestSetAlarmStateAndHistory(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.ok("PutMetricAlarm", backlog, object{})
		r.now = r.now.Add(time.Minute)
		r.ok("SetAlarmState", object{"AlarmName": "backlog", "StateValue": "ALARM", "StateReason": "a test"}, object{})
		r.ok("DescribeAlarms", object{}, object{"MetricAlarms": list{with(shown, object{
			"StateValue": "ALARM", "StateReason": "a test", "StateUpdatedTimestamp": "2026-11-21T12:01:30Z",
			"StateTransitionedTimestamp": "2026-11-21T12:01:30Z",
		})}})
		r.now = r.now.Add(time.Minute)
		r.ok("DisableAlarmActions", object{"AlarmNames": list{"backlog", "nowhere"}}, object{})
		r.ok("EnableAlarmActions", object{"AlarmNames": list{"backlog"}}, object{})
		r.now = r.now.Add(time.Minute)
		r.ok("DeleteAlarms", object{"AlarmNames": list{"backlog"}}, object{})

		anything := regexp.MustCompile(`^{"`)
		item := func(kind, summary, at string) object {
			return object{
				"AlarmName": "backlog", "AlarmType": "MetricAlarm", "HistoryItemType": kind,
				"HistorySummary": summary, "Timestamp": at, "HistoryData": anything,
			}
		}
		transition := item("StateUpdate", "Alarm updated from INSUFFICIENT_DATA to ALARM", "2026-11-21T12:01:30Z")
		deleted := item("ConfigurationUpdate", `Alarm "backlog" deleted`, "2026-11-21T12:03:30Z")
		updated := item("ConfigurationUpdate", `Alarm "backlog" updated`, "2026-11-21T12:02:30Z")
		created := item("ConfigurationUpdate", `Alarm "backlog" created`, "2026-11-21T12:00:30Z")
		r.ok("DescribeAlarmHistory", object{"AlarmName": "backlog"},
			object{"AlarmHistoryItems": list{deleted, updated, updated, transition, created}})
		r.ok("DescribeAlarmHistory", object{"ScanBy": "TimestampAscending", "HistoryItemType": "ConfigurationUpdate"},
			object{"AlarmHistoryItems": list{created, updated, updated, deleted}})
		r.ok("DescribeAlarmHistory", object{
			"StartDate": r.now.Add(-2 * time.Minute), "EndDate": r.now.Add(-time.Minute),
		}, object{"AlarmHistoryItems": list{updated, updated, transition}})
		var summaries []string
		for token := ""; ; {
			in := object{"MaxRecords": 2}
			if token != "" {
				in["NextToken"] = token
			}
			out := r.call("DescribeAlarmHistory", in).output
			for _, i := range out["AlarmHistoryItems"].(list) {
				summaries = append(summaries, i.(object)["HistorySummary"].(string)[len("Alarm "):])
			}
			if token, _ = out["NextToken"].(string); token == "" {
				break
			}
		}
		const all = `"backlog" deleted, "backlog" updated, "backlog" updated, ` +
			`updated from INSUFFICIENT_DATA to ALARM, "backlog" created`
		if got := strings.Join(summaries, ", "); got != all {
			r.Errorf("in pages: %s", got)
		}
		r.ok("DescribeAlarmHistory", object{"AlarmName": "other"}, object{})
		r.ok("DescribeAlarmHistory", object{"AlarmTypes": list{"CompositeAlarm"}}, object{})

		r.queryMode = true
		r.fails("SetAlarmState", object{"AlarmName": "backlog", "StateValue": "OK", "StateReason": "x"}, 404,
			"ResourceNotFound", "")
		r.queryMode = false
		plain := map[codec]int{inJSON: 400, inCBOR: 400, inQuery: 404}[r.codec]
		r.fails("SetAlarmState", object{"AlarmName": "backlog", "StateValue": "OK", "StateReason": "x"}, plain,
			"ResourceNotFound", "")
		if r.codec != inQuery && r.shape != "com.amazonaws.cloudwatch.v2010_08_01#ResourceNotFound" {
			r.Errorf("the type is %s", r.shape)
		}
		r.fails("SetAlarmState", object{"AlarmName": "backlog", "StateValue": "FINE", "StateReason": "x"}, 400,
			"ValidationError",
			"1 validation error detected: Value 'FINE' at 'stateValue' failed to satisfy constraint: Member must satisfy enum value set: [INSUFFICIENT_DATA, ALARM, OK]")
		r.fails("SetAlarmState", object{
			"AlarmName": "backlog", "StateValue": "OK", "StateReason": "x", "StateReasonData": "{",
		}, 400, "InvalidFormat", "")
		r.fails("DescribeAlarmHistory", object{"AlarmName": ""}, 400, "ValidationError",
			"1 validation error detected: Value '' at 'alarmName' failed to satisfy constraint: Member must have length greater than or equal to 1")
		r.fails("DescribeAlarmHistory", object{"NextToken": "x"}, 400, "InvalidNextToken",
			"The next token is not one of this list.")
	})
}

// The data of a change has AWS's members, in AWS's order, with doubles in AWS's form.
func TestHistoryOfConfiguration(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		data := func(of string, alarm object) {
			r.Helper()
			r.ok("PutMetricAlarm", alarm, object{})
			items, _ := r.call("DescribeAlarmHistory", object{
				"AlarmName": alarm["AlarmName"],
			}).output["AlarmHistoryItems"].(list)
			want := `{"version":"1.0","type":"Create","createdAlarm":` + of + `}`
			if len(items) != 1 || items[0].(object)["HistoryData"] != want {
				r.Errorf("the history is %v\nwant %s", items, want)
			}
		}
		const at = `"2026-11-21T12:00:30.000+0000"`
		data(`{"alarmName":"backlog","alarmDescription":"too much","alarmArn":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:backlog",`+
			`"alarmConfigurationUpdatedTimestamp":`+at+
			`,"namespace":"AWS/SQS","metricName":"ApproximateNumberOfMessagesVisible","statistic":"Average","period":300,`+
			`"dimensions":[{"value":"q","name":"QueueName"}],"threshold":10.5,"comparisonOperator":"GreaterThanThreshold","evaluationPeriods":3,"datapointsToAlarm":2,`+
			`"treatMissingData":"notBreaching","stateValue":"INSUFFICIENT_DATA","stateUpdatedTimestamp":`+at+
			`,"actionsEnabled":true,"alarmActions":["`+topic+`"],`+
			`"insufficientDataActions":[],"okactions":[]}`, backlog)
		data(`{"alarmName":"slow","alarmArn":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:slow","alarmConfigurationUpdatedTimestamp":`+at+`,"namespace":"n","metricName":"m",`+
			`"extendedStatistic":"p99","period":60,"unit":"Seconds","dimensions":[],"threshold":30.0,"comparisonOperator":"LessThanThreshold","evaluationPeriods":1,`+
			`"stateValue":"INSUFFICIENT_DATA","stateUpdatedTimestamp":`+at+
			`,"actionsEnabled":true,"alarmActions":[],"insufficientDataActions":[],"okactions":[]}`,
			object{
				"AlarmName": "slow", "Namespace": "n", "MetricName": "m", "ExtendedStatistic": "p99", "Unit": "Seconds",
				"Period": 60, "EvaluationPeriods": 1, "Threshold": 30, "ComparisonOperator": "LessThanThreshold",
			})
	})
}

// In XML, too, the times of alarms have milliseconds.
func TestTimesOfAlarms(t *testing.T) {
	t.Parallel()
	r := newRig(t, inQuery)
	r.now = r.now.Add(250 * time.Millisecond)
	r.ok("PutMetricAlarm", backlog, object{})
	const want = "2026-11-21T12:00:30.250Z"
	a := r.call("DescribeAlarms", object{}).output["MetricAlarms"].(list)[0].(object)
	for _, name := range []string{"AlarmConfigurationUpdatedTimestamp", "StateUpdatedTimestamp",
		"StateTransitionedTimestamp"} {
		if a[name] != want {
			r.Errorf("%s is %v, want %s", name, a[name], want)
		}
	}
	if got := r.call("DescribeAlarmHistory",
		object{}).output["AlarmHistoryItems"].(list)[0].(object)["Timestamp"]; got != want {
		r.Errorf("the history has %v, want %s", got, want)
	}
}

func TestTagsRefuse(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.ok("PutMetricAlarm", backlog, object{})
		tag := func(key string) object { return object{"Key": key, "Value": "x"} }
		arn := shown["AlarmArn"]
		const value = "InvalidParameterValue"
		r.fails("TagResource", object{"ResourceARN": arn, "Tags": list{tag("aws:x")}}, 400, value,
			"The tag key aws:x is invalid: keys that begin with aws: belong to AWS.")
		r.fails("TagResource", object{"ResourceARN": arn, "Tags": list{tag("a"), tag("a")}}, 400, value,
			"Duplicate tag keys found.")
		var many list
		for i := range 50 {
			many = append(many, tag(fmt.Sprint("k", i)))
		}
		r.fails("TagResource", object{"ResourceARN": arn, "Tags": many}, 400, value,
			"A resource can have at most 50 tags.")
		r.ok("ListTagsForResource", object{"ResourceARN": arn}, object{
			"Tags": list{object{"Key": "team", "Value": "red"}},
		})
	})
}

// The data of history has its members in the order of AWS, whose clients compare the text.
func TestHistoryData(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.ok("PutMetricAlarm", backlog, object{})
		r.now = r.now.Add(time.Minute)
		r.ok("SetAlarmState", object{"AlarmName": "backlog", "StateValue": "ALARM", "StateReason": "a test"}, object{})
		r.now = r.now.Add(time.Minute)
		r.ok("SetAlarmState", object{
			"AlarmName": "backlog", "StateValue": "OK", "StateReason": "all > well",
			"StateReasonData": `{"b": 1, "a": 2}`,
		}, object{})
		r.now = r.now.Add(time.Minute)
		r.ok("DisableAlarmActions", object{"AlarmNames": list{"backlog"}}, object{})
		r.now = r.now.Add(time.Minute)
		r.ok("DeleteAlarms", object{"AlarmNames": list{"backlog"}}, object{})
		data := func(kind string) (texts []string) {
			for _, i := range r.call("DescribeAlarmHistory", object{
				"HistoryItemType": kind,
			}).output["AlarmHistoryItems"].(list) {
				texts = append(texts, i.(object)["HistoryData"].(string))
			}
			return texts
		}
		apitest.Equal(r.T, data("StateUpdate"), []string{
			`{"version":"1.0","oldState":{"stateValue":"ALARM","stateReason":"a test"},` +
				`"newState":{"stateValue":"OK","stateReason":"all > well","stateReasonData":{"b":1,"a":2}}}`,
			`{"version":"1.0","oldState":{"stateValue":"INSUFFICIENT_DATA","stateReason":"Unchecked: Initial alarm creation"},` +
				`"newState":{"stateValue":"ALARM","stateReason":"a test"}}`,
		})
		var beginnings []string
		for _, text := range data("ConfigurationUpdate") {
			beginnings = append(beginnings, text[:strings.Index(text, "Alarm")])
		}
		apitest.Equal(r.T, beginnings, []string{
			`{"version":"1.0","type":"Delete","deleted`, `{"version":"1.0","type":"Update","updated`,
			`{"version":"1.0","type":"Create","created`,
		})
	})
}

func TestDashboards(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		const body = `{"widgets":[{"type":"text","x":0}]}`
		r.ok("PutDashboard", object{
			"DashboardName": "main", "DashboardBody": body, "Tags": list{object{"Key": "a", "Value": "b"}},
		}, object{})
		r.ok("PutDashboard", object{"DashboardName": "second", "DashboardBody": "{}"}, object{})
		r.ok("GetDashboard", object{"DashboardName": "main"}, object{
			"DashboardArn": "arn:aws:cloudwatch::000000000000:dashboard/main", "DashboardBody": body,
			"DashboardName": "main",
		})
		entry := func(name string, size int) object {
			return object{
				"DashboardName": name, "DashboardArn": monitor.DashboardARN(account, name),
				"LastModified": "2026-11-21T12:00:30Z", "Size": size,
			}
		}
		r.ok("ListDashboards", object{}, object{"DashboardEntries": list{entry("main", len(body)), entry("second", 2)}})
		r.ok("ListTagsForResource", object{"ResourceARN": monitor.DashboardARN(account, "main")},
			object{"Tags": list{object{"Key": "a", "Value": "b"}}})
		r.ok("UntagResource", object{"ResourceARN": monitor.DashboardARN(account, "main"), "TagKeys": list{"a"}},
			object{})
		r.ok("ListDashboards", object{"DashboardNamePrefix": "s"}, object{"DashboardEntries": list{entry("second", 2)}})
		r.ok("DeleteDashboards", object{"DashboardNames": list{"main"}}, object{})
		r.fails("GetDashboard", object{"DashboardName": "main"}, 404, "ResourceNotFound",
			"Dashboard main does not exist")
		r.fails("DeleteDashboards", object{"DashboardNames": list{"second", "main"}}, 404, "ResourceNotFound",
			"Dashboard main does not exist")
		r.ok("ListDashboards", object{}, object{})
		r.ok("PutDashboard", object{"DashboardName": "second", "DashboardBody": "{}"}, object{})
		r.ok("DeleteDashboards", object{"DashboardNames": list{"second", "second"}}, object{})
		r.ok("ListDashboards", object{}, object{})
		r.fails("PutDashboard", object{"DashboardName": "a/b", "DashboardBody": "{}"}, 400, "InvalidParameterValue",
			"The value for field DashboardName contains invalid characters. It can only contain alphanumerics, dash (-) and underscore (_).\n")
		bad := func(body, message string) {
			r.Helper()
			r.fails("PutDashboard", object{"DashboardName": "x", "DashboardBody": body}, 400, "InvalidParameterInput",
				message)
		}
		const one = "The dashboard body is invalid, there are 1 validation errors:\n[\n  {\n    \"dataPath\": \"%s\",\n    \"message\": \"%s\"\n  }\n]"
		bad("[]", "The field DashboardBody must be a valid JSON object")
		bad("{", "The field DashboardBody must be a valid JSON object")
		bad(`{"widgets":{}}`, fmt.Sprintf(one, "/widgets", "Should be array"))
		bad(`{"widgets":[{"type":"text"},1]}`, fmt.Sprintf(one, "/widgets/1", "Should be object"))
		bad(`{"widgets":[{"type":1}]}`, fmt.Sprintf(one, "/widgets/0/type", "Should be string"))
		bad(`{"widgets":[{"properties":[]}]}`, fmt.Sprintf(one, "/widgets/0/properties", "Should be object"))
		metrics := func(properties string) string {
			return `{"widgets":[{"type":"metric","properties":` + properties + `}]}`
		}
		bad(metrics(`{"metrics":{}}`), fmt.Sprintf(one, "/widgets/0/properties/metrics", "Should be array"))
		const second = "  {\n    \"dataPath\": \"/widgets/0/properties/metrics/1\",\n    \"message\": \""
		bad(metrics(`{"metrics":[["n","m"],"x"]}`),
			"The dashboard body is invalid, there are 2 validation errors:\n[\n"+second+"Should be array\"\n  },\n"+
				second+
				`Field \"metrics\" has to be an array of array of strings, with an optional metricRenderer object as last element"`+"\n  }\n]")
		bad(metrics(`{"metrics":[["n","m",{"stat":"Sum","dimensions":{"d":"v"}}]]}`),
			fmt.Sprintf(one, "/widgets/0/properties/metrics/0",
				"Should NOT have more than 2 items"))
		bad(metrics(`{"metrics":[["n","m","d","v",{"color":"red"}]]}`),
			fmt.Sprintf(one, "/widgets/0/properties/metrics/0", "Should NOT have more than 4 items"))
		bad(metrics(`{"metrics":[["AWS/SQS","NumberOfMessagesSent"],[".",".",".","q","x"]]}`),
			fmt.Sprintf(one, "/widgets/0/properties/metrics/1", "Should NOT have more than 4 items"))
		r.ok("PutDashboard", object{
			"DashboardName": "x",
			"DashboardBody": metrics(`{"metrics":[["n","m","d","v"],["...","w"],["...","e","f"],["..."]]}`),
		}, object{})
		bad(`{"widgets":[{"type":"alarm","properties":{"alarms":[]}}]}`,
			fmt.Sprintf(one, "/widgets/0/properties/alarms", "Should NOT have less than 1 items"))
		bad(`{"widgets":[{"type":"alarm","properties":{}}]}`,
			fmt.Sprintf(one, "/widgets/0/properties", "Should have required property 'alarms'"))
		bad(metrics(`{"metrics":[["n","m",{"d":"v"},{"stat":"Sum"}]]}`),
			fmt.Sprintf(one, "/widgets/0/properties/metrics/0/2",
				"Invalid metric field type, only 'String' type is allowed"))
		const at = "  {\n    \"dataPath\": \"/widgets/0/properties\",\n    \"message\": \""
		bad(metrics(`{"region":"us-east-1"}`), "The dashboard body is invalid, there are 3 validation errors:\n[\n"+
			at+"Should have required property 'metrics'\"\n  },\n"+
			at+"The metric widget should have specified a region and a data source or an alarm annotation\"\n  },\n"+
			at+"Should have required property 'annotations'\"\n  }\n]")
		remark := func(path, message string) object { return object{"DataPath": path, "Message": message} }
		if got := r.call("PutDashboard", object{"DashboardName": "x",
			"DashboardBody": `{"widgets":[1,{"type":1}]}`}).members; apitest.Match(object{
			"dashboardValidationMessages": list{remark("/widgets/0", "Should be object"),
				remark("/widgets/1/type", "Should be string")},
		}, got) != nil {
			r.Errorf("the refusal has %v", got)
		}
		if got := r.call("PutDashboard", object{"DashboardName": "x", "DashboardBody": "[]"}).members; len(got) > 0 {
			r.Errorf("the refusal of what is no object has %v", got)
		}
		for _, good := range []string{
			metrics(`{"metrics":[["n","m","d","v",{"stat":"Sum"}],[".","."],[{"expression":"m1"}]]}`),
			metrics(`{"annotations":{"alarms":["a"]}}`),
			metrics(`{"metrics":[["...","w",{"color":"#1f77b4","visible":false,"period":60}]]}`),
			`{"widgets":[{"type":"alarm","properties":{"alarms":["a"]}}]}`,
			`{"widgets":[{"type":"text","properties":{"markdown":"x"}}]}`,
		} {
			r.ok("PutDashboard", object{"DashboardName": "good", "DashboardBody": good}, object{})
		}
		if got := r.call("PutDashboard", object{
			"DashboardName": "x", "DashboardBody": `{"widgets":[` + strings.Repeat("1,", 200) + `1]}`,
		}).message; len(got) > 12_000 || !strings.Contains(got, "there are 100 validation errors") {
			r.Errorf("the message has %d characters: %.100s", len(got), got)
		}
		r.fails("PutDashboard", object{"DashboardName": "x"}, 400, "MissingParameter",
			"The parameter DashboardBody is required.")
	})
}

// No alarm has contributors.
func TestContributors(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.ok("PutMetricAlarm", backlog, object{})
		r.ok("DescribeAlarmContributors", object{"AlarmName": "backlog"}, object{})
		r.fails("DescribeAlarmContributors", object{"AlarmName": "backlog", "NextToken": "x"}, 400,
			"InvalidNextToken", "The next token is not one of this list.")
		r.fails("DescribeAlarmContributors", object{"AlarmName": "gone"}, 404, "ResourceNotFoundException",
			"Unknown resource: arn:aws:cloudwatch:us-east-1:000000000000:alarm:gone")
	})
}
