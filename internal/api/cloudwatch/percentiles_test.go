package cloudwatch_test

import (
	"testing"
	"time"
)

// latencies puts 1 to 10 singly, then 2 three times and 8 once, then a statistic set, a minute each, and returns the
// first.
func (r *rig) latencies() time.Time {
	r.Helper()
	at := r.now.Truncate(time.Minute).Add(-10 * time.Minute)
	var data list
	for i := 1; i <= 10; i++ {
		data = append(data, object{
			"MetricName": "Latency", "Timestamp": at.Add(time.Duration(i) * time.Second), "Value": i,
			"Unit": "Seconds",
		})
	}
	data = append(data,
		object{
			"MetricName": "Latency", "Timestamp": at.Add(time.Minute), "Values": list{8, 2}, "Counts": list{1, 3},
			"Unit": "Seconds",
		},
		object{"MetricName": "Latency", "Timestamp": at.Add(2 * time.Minute), "Unit": "Seconds",
			"StatisticValues": object{"SampleCount": 2, "Sum": 10, "Minimum": 4, "Maximum": 6}},
		object{"MetricName": "Latency", "Timestamp": at.Add(3 * time.Minute), "Unit": "Seconds",
			"StatisticValues": object{"SampleCount": 3, "Sum": 15, "Minimum": 5, "Maximum": 5}},
		object{"MetricName": "Latency", "Timestamp": at.Add(4 * time.Minute), "Unit": "Seconds", "Values": list{1, 9},
			"Counts":          list{9, 1},
			"StatisticValues": object{"SampleCount": 10, "Sum": 18.5, "Minimum": 0.9, "Maximum": 9.4}},
	)
	r.ok("PutMetricData", object{"Namespace": "Workers", "MetricData": data}, object{})
	return at
}

func TestExtendedStatistics(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		at := r.latencies()
		in := object{
			"Namespace": "Workers", "MetricName": "Latency", "StartTime": at, "EndTime": at.Add(5 * time.Minute),
			"Period":             60,
			"ExtendedStatistics": list{"p90", "p50.5", "TM(10%:90%)", "PR(:4)", "tc50", "IQM"},
		}
		point := func(minutes int, values object) object {
			return object{
				"Timestamp": at.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339), "Unit": "Seconds",
				"ExtendedStatistics": values,
			}
		}
		r.ok("GetMetricStatistics", in, object{"Label": "Latency", "Datapoints": list{
			point(0, object{"p90": 9, "p50.5": 6, "TM(10%:90%)": 5.5, "PR(:4)": 40, "tc50": 5, "IQM": 5.5}),
			point(1, object{"p90": 8, "p50.5": 2, "TM(10%:90%)": 3.125, "PR(:4)": 75, "tc50": 2, "IQM": 2}),
			point(3, object{"p90": 5, "p50.5": 5, "TM(10%:90%)": 5, "PR(:4)": 0, "tc50": 1.5, "IQM": 5}),
			point(4, object{"p90": 1, "p50.5": 1, "TM(10%:90%)": 1, "PR(:4)": 90, "tc50": 5, "IQM": 1}),
		}})
		r.ok("GetMetricStatistics", with(in, object{
			"StartTime": at.Add(2 * time.Minute), "EndTime": at.Add(3 * time.Minute), "Statistics": list{"Sum"},
		}), object{
			"Label": "Latency",
			"Datapoints": list{object{
				"Timestamp": at.Add(2 * time.Minute).Format(time.RFC3339), "Unit": "Seconds", "Sum": 10,
			}},
		})
		latency := func(id, statistic string, period int) object {
			return object{
				"Id": id,
				"MetricStat": object{
					"Metric": object{"Namespace": "Workers", "MetricName": "Latency"}, "Period": period,
					"Stat": statistic,
				},
			}
		}
		r.ok("GetMetricData", object{
			"StartTime": at, "EndTime": at.Add(2 * time.Minute), "ScanBy": "TimestampAscending",
			"MetricDataQueries": list{
				latency("m1", "p90", 120), latency("m2", "ts50", 60), object{"Id": "e1", "Expression": "m1 * 2"},
			},
		}, object{"MetricDataResults": list{
			object{
				"Id": "m1", "Label": "Latency p90", "StatusCode": "Complete",
				"Timestamps": list{at.Format(time.RFC3339)}, "Values": list{9},
			},
			object{
				"Id": "m2", "Label": "Latency ts50", "StatusCode": "Complete", "Values": list{15, 4},
				"Timestamps": list{at.Format(time.RFC3339), at.Add(time.Minute).Format(time.RFC3339)},
			},
			object{
				"Id": "e1", "Label": "e1", "StatusCode": "Complete",
				"Timestamps": list{at.Format(time.RFC3339)}, "Values": list{18},
			},
		}})
	})
}

// Metrics with a value a minute, such as the age of a queue's oldest message, have percentiles over longer periods.
func TestPercentilesOfQueues(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.minutes("ApproximateAgeOfOldestMessage", "q", 5, 60, 20, 40, 80)
		end := r.now.Truncate(time.Minute)
		r.ok("GetMetricStatistics", object{
			"Namespace": "AWS/SQS", "MetricName": "ApproximateAgeOfOldestMessage", "Dimensions": dimensions("q"),
			"StartTime": end.Add(-5 * time.Minute), "EndTime": end, "Period": 300,
			"ExtendedStatistics": list{"p50", "p99"},
		}, object{"Label": "ApproximateAgeOfOldestMessage", "Datapoints": list{object{
			"Timestamp": end.Add(-5 * time.Minute).Format(time.RFC3339), "Unit": "Seconds",
			"ExtendedStatistics": object{"p50": 40, "p99": 80},
		}}})
	})
}

// Alarms may use each extended statistic, and are found by it.
func TestExtendedStatisticAlarms(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		for _, statistic := range []string{
			"p99", "p99.9", "tm90", "TM(10%:90%)", "WM(10%:90%)", "TC(10%:90%)", "TS(10%:90%)", "PR(100:300)", "IQM",
		} {
			r.ok("PutMetricAlarm", with(backlog, object{
				"Statistic": nil, "ExtendedStatistic": statistic, "EvaluateLowSampleCountPercentile": "ignore",
				"Tags": nil,
			}), object{})
			about := object{
				"Namespace": "AWS/SQS", "MetricName": "ApproximateNumberOfMessagesVisible",
				"Dimensions": dimensions("q"),
			}
			is := object{"MetricAlarms": list{with(shown, object{
				"Statistic": nil, "ExtendedStatistic": statistic, "EvaluateLowSampleCountPercentile": "ignore",
			})}}
			r.ok("DescribeAlarmsForMetric", with(about, object{"ExtendedStatistic": statistic}), is)
			r.ok("DescribeAlarmsForMetric", with(about, object{"ExtendedStatistic": "p1"}), object{})
		}
	})
}
