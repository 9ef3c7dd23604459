package cloudwatch_test

import (
	"fmt"
	"testing"
	"time"
)

// KEDA queries the last five minutes and uses the newest value: of a metric, or of its documented query of Metrics
// Insights, which has no MetricStat.
func TestKEDA(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.minutes("ApproximateNumberOfMessagesVisible", "keda", 1, 2, 3)
		end := r.now.Truncate(time.Minute) // metricEndTimeOffset 0: the minute that has just ended must be included
		in := object{"StartTime": end.Add(-300 * time.Second), "EndTime": end, "ScanBy": "TimestampDescending"}
		one := with(stat("c1", "ApproximateNumberOfMessagesVisible", "keda", "Average", 60), object{"ReturnData": true})
		r.ok("GetMetricData", with(in, object{"MetricDataQueries": list{one}}), object{"MetricDataResults": list{object{
			"Id": "c1", "Label": "ApproximateNumberOfMessagesVisible", "StatusCode": "Complete",
			"Timestamps": list{minutesBefore(end, 1), minutesBefore(end, 2), minutesBefore(end, 3)},
			"Values":     list{3, 2, 1},
		}}})
		insight := object{
			"Id": "q1", "Period": 60,
			"Expression": `SELECT MAX("ApproximateNumberOfMessagesVisible") FROM "AWS/SQS" WHERE QueueName = 'keda'`,
		}
		out := r.call("GetMetricData", with(in, object{"MetricDataQueries": list{insight}})).output
		results, _ := out["MetricDataResults"].(list)
		if len(results) != 1 || fmt.Sprint(results[0].(object)["Values"].(list)[0]) != "3" {
			r.Errorf("the query of Insights gives %v", out)
		}
	})
}

func minutesBefore(t time.Time, n int) string {
	return t.Add(-time.Duration(n) * time.Minute).Format(time.RFC3339)
}

// YACE lists each metric of a namespace that was active lately, and queries all of them at once, the newest first. It
// finds the answers by the ids that it has sent, which are random words after "id_".
func TestYACE(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		const queues = 170 // three metrics of each exceed the 500 queries of one call
		statistics := map[string]string{
			"NumberOfMessagesSent": "Sum", "NumberOfMessagesDeleted": "Sum",
			"ApproximateAgeOfOldestMessage": "Maximum",
		}
		for metric := range statistics {
			for i := range queues {
				r.minutes(metric, fmt.Sprint("q", i), float64(i), float64(i)+1)
			}
		}
		var queries list
		for metric, statistic := range statistics {
			token := ""
			for {
				in := object{"Namespace": "AWS/SQS", "MetricName": metric, "RecentlyActive": "PT3H"}
				if token != "" {
					in["NextToken"] = token
				}
				out := r.call("ListMetrics", in).output
				for _, m := range out["Metrics"].(list) {
					queries = append(queries,
						object{"Id": fmt.Sprintf("id_%d", len(queries)), "ReturnData": true, "MetricStat": object{
							"Metric": m, "Period": 300, "Stat": statistic,
						}})
				}
				if token, _ = out["NextToken"].(string); token == "" {
					break
				}
			}
		}
		if len(queries) != 3*queues {
			r.Fatalf("%d metrics were listed", len(queries))
		}
		end := r.now.Truncate(5 * time.Minute).Add(5 * time.Minute) // rounded to the period, which has not ended
		in := object{"StartTime": end.Add(-10 * time.Minute), "EndTime": end, "ScanBy": "TimestampDescending"}
		if got := r.call("GetMetricData",
			with(in, object{"MetricDataQueries": queries})); got.status != 400 || got.code != "ValidationError" {
			r.Errorf("%d queries at once: %d %s %s", len(queries), got.status, got.code, got.message)
		}
		got := 0
		for len(queries) > 0 {
			some := queries[:min(500, len(queries))]
			queries = queries[len(some):]
			results, _ := r.call("GetMetricData",
				with(in, object{"MetricDataQueries": some})).output["MetricDataResults"].(list)
			for i, result := range results {
				if o := result.(object); o["Id"] != some[i].(object)["Id"] || len(o["Values"].(list)) != 1 {
					r.Fatalf("query %v gives %v", some[i], o)
				}
				got++
			}
		}
		if got != 3*queues {
			r.Errorf("%d answers", got)
		}
	})
}

// Grafana lists metrics for its menus, queries graphs in order of time with its own labels, and looks for alarms on
// them.
func TestGrafana(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.minutes("NumberOfMessagesSent", "a", 1, 2)
		r.minutes("NumberOfMessagesSent", "b", 10, 20)
		end := r.now.Truncate(time.Minute)
		// Its test of a data source, and the values of a template variable.
		r.ok("ListMetrics", object{"Namespace": "AWS/Billing", "MetricName": "EstimatedCharges"}, object{})
		out := r.call("ListMetrics", object{
			"Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent",
			"Dimensions": list{object{"Name": "QueueName"}},
		}).output
		if metrics, _ := out["Metrics"].(list); len(metrics) != 2 {
			r.Errorf("the queues are %v", out)
		}
		in := object{"StartTime": end.Add(-6 * time.Hour), "EndTime": end, "ScanBy": "TimestampAscending"}
		graph := with(stat("queryA", "NumberOfMessagesSent", "a", "Sum", 60),
			object{"ReturnData": true, "Label": "${PROP('Dim.QueueName')} ${PROP('Stat')}"})
		search := object{"Id": "queryB", "ReturnData": true, "Label": "${PROP('Dim.QueueName')}",
			"Expression": `REMOVE_EMPTY(SEARCH('{"AWS/SQS","QueueName"} MetricName="NumberOfMessagesSent" "QueueName"=("a" OR "b")', 'Sum', 60))`}
		points := func(id, label string, values ...any) object {
			return object{
				"Id": id, "Label": label, "StatusCode": "Complete",
				"Timestamps": list{minutesBefore(end, 2), minutesBefore(end, 1)}, "Values": values,
			}
		}
		r.ok("GetMetricData", with(in, object{"MetricDataQueries": list{graph, search}}),
			object{"MetricDataResults": list{
				points("queryA", "a Sum", 1, 2), points("queryB", "a", 1, 2), points("queryB", "b", 10, 20),
			}})
		r.ok("DescribeAlarmsForMetric", object{
			"Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent", "Dimensions": dimensions("a"), "Period": 60,
			"Statistic": "Sum",
		}, object{})
		r.ok("DescribeAlarms", object{"MaxRecords": 100, "ActionPrefix": "", "AlarmNamePrefix": ""}, object{})
	})
}

// cloudwatch_exporter queries each metric of each queue separately, for one period that ended some time ago.
func TestCloudWatchExporter(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.minutes("ApproximateNumberOfMessagesVisible", "a", 4, 5, 6)
		end := r.now.Truncate(time.Minute)
		r.ok("GetMetricStatistics", object{
			"Namespace": "AWS/SQS", "MetricName": "ApproximateNumberOfMessagesVisible", "Dimensions": dimensions("a"),
			"StartTime": end.Add(-2 * time.Minute), "EndTime": end.Add(-time.Minute), "Period": 60,
			"Statistics": list{"Sum", "SampleCount", "Minimum", "Maximum", "Average"},
		}, object{"Label": "ApproximateNumberOfMessagesVisible", "Datapoints": list{object{
			"Timestamp": minutesBefore(end, 2), "Unit": "Count", "Sum": 5, "SampleCount": 1, "Minimum": 5, "Maximum": 5,
			"Average": 5,
		}}})
	})
}
