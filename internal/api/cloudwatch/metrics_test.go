package cloudwatch_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

func dimensions(queue string) list {
	return list{object{"Name": "QueueName", "Value": queue}}
}

func TestListMetrics(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.minutes("NumberOfMessagesSent", "a", 1, 2)
		r.minutes("NumberOfMessagesSent", "b", 1)
		r.minutes("NumberOfMessagesReceived", "a", 1)
		metric := func(name, queue string) object {
			return object{"Namespace": "AWS/SQS", "MetricName": name, "Dimensions": dimensions(queue)}
		}
		r.ok("ListMetrics", object{}, object{"Metrics": list{
			metric("NumberOfMessagesReceived", "a"), metric("NumberOfMessagesSent", "a"),
			metric("NumberOfMessagesSent", "b"),
		}})
		r.ok("ListMetrics", object{
			"Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent", "Dimensions": dimensions("b"),
			"RecentlyActive": "PT3H",
		},
			object{"Metrics": list{metric("NumberOfMessagesSent", "b")}})
		r.ok("ListMetrics", object{
			"Dimensions": list{object{"Name": "QueueName"}}, "MetricName": "NumberOfMessagesReceived",
			"IncludeLinkedAccounts": true,
		},
			object{"Metrics": list{metric("NumberOfMessagesReceived", "a")}, "OwningAccounts": list{account}})
		r.ok("ListMetrics", object{"Namespace": "AWS/EC2"}, object{})
		r.ok("ListMetrics", object{"OwningAccount": "111111111111"}, object{})
		r.now = r.now.Add(4 * time.Hour)
		r.ok("ListMetrics", object{"RecentlyActive": "PT3H"}, object{})
		if got := names(r.call("ListMetrics", object{}).output["Metrics"], "MetricName"); len(got) != 3 {
			r.Errorf("after four hours there are %v", got)
		}
		r.now = r.now.Add(14 * 24 * time.Hour)
		r.ok("ListMetrics", object{}, object{})
		r.fails("ListMetrics", object{"RecentlyActive": "PT4H"}, 400, "ValidationError",
			"1 validation error detected: Value 'PT4H' at 'recentlyActive' failed to satisfy constraint: Member must satisfy enum value set: [PT3H]")
		r.fails("ListMetrics", object{"NextToken": "x"}, 400, "InvalidParameterValue",
			"Request parameter NextToken is invalid")
	})
}

// Long lists have pages of 500, without duplicates.
func TestListMetricsPages(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		for i := range 1100 {
			r.minutes("NumberOfMessagesSent", fmt.Sprintf("q%04d", i), 1)
		}
		var sizes []int
		seen := make(map[string]bool)
		token := ""
		for {
			in := object{}
			if token != "" {
				in["NextToken"] = token
			}
			out := r.call("ListMetrics", in).output
			page, _ := out["Metrics"].(list)
			sizes = append(sizes, len(page))
			for _, m := range page {
				seen[fmt.Sprint(m.(object)["Dimensions"])] = true
			}
			if token, _ = out["NextToken"].(string); token == "" {
				break
			}
		}
		if !slices.Equal(sizes, []int{500, 500, 100}) || len(seen) != 1100 {
			r.Errorf("pages of %v with %d metrics", sizes, len(seen))
		}
	})
}

func TestGetMetricStatistics(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.minutes("NumberOfMessagesSent", "q", 1, 2, 3, 4, 5, 6)
		end := r.now.Truncate(time.Minute)
		in := object{
			"Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent", "Dimensions": dimensions("q"),
			"StartTime": end.Add(-6 * time.Minute), "EndTime": end, "Period": 180,
			"Statistics": list{"Sum", "Average", "SampleCount", "Minimum", "Maximum"},
		}
		point := func(minutes int, sum, average, least, most float64) object {
			return object{"Timestamp": end.Add(-time.Duration(minutes) * time.Minute).Format(time.RFC3339),
				"Unit": "Count",
				"Sum":  sum, "Average": average, "SampleCount": 3, "Minimum": least, "Maximum": most}
		}
		r.ok("GetMetricStatistics", in,
			object{"Label": "NumberOfMessagesSent", "Datapoints": list{point(6, 6, 2, 1, 3), point(3, 15, 5, 4, 6)}})
		r.ok("GetMetricStatistics",
			with(in, object{"Statistics": nil, "ExtendedStatistics": list{"p100", "p0"}, "Period": 360}), object{
				"Label": "NumberOfMessagesSent", "Datapoints": list{object{
					"Timestamp": end.Add(-6 * time.Minute).Format(time.RFC3339), "Unit": "Count",
					"ExtendedStatistics": object{"p0": 1, "p100": 6},
				}},
			})
		none := object{"Label": "NumberOfMessagesSent"}
		r.ok("GetMetricStatistics", with(in, object{"Unit": "Bytes"}), none)
		r.ok("GetMetricStatistics", with(in, object{"Dimensions": dimensions("other")}), none)
		r.ok("GetMetricStatistics", with(in, object{"Dimensions": nil}), none)

		const value, combination = "InvalidParameterValue", "InvalidParameterCombination"
		r.fails("GetMetricStatistics", with(in, object{"StartTime": end}), 400, value,
			"The parameter StartTime must not equal parameter EndTime.")
		r.fails("GetMetricStatistics", with(in, object{"StartTime": end.Add(time.Minute)}), 400, value,
			"The parameter StartTime must be less than the parameter EndTime.")
		r.fails("GetMetricStatistics", with(in, object{"Period": 15}), 400, value,
			"The parameter Period must be 1, 5, 10, 20, 30 or a multiple of 60.")
		r.fails("GetMetricStatistics", with(in, object{"StartTime": end.Add(-48 * time.Hour), "Period": 60}), 400,
			combination,
			"You have requested up to 2880 datapoints, which exceeds the limit of 1440. You may reduce the datapoints requested by increasing Period, or decreasing the time range.")
		r.fails("GetMetricStatistics", with(in, object{"Statistics": nil}), 400, combination,
			"At least one of the parameters Statistics and ExtendedStatistics must be specified.")
		r.fails("GetMetricStatistics", with(in, object{"ExtendedStatistics": list{"tm101"}}), 400, value,
			"The value tm101 for parameter ExtendedStatistics is not supported.")
		r.fails("GetMetricStatistics", with(in, object{"Statistics": list{"Sum", "Median", "p99"}}), 400, value,
			"The parameter Statistics.member.2.<list element> must be a value in the set [SampleCount, Average, Sum, Minimum, Maximum].\n"+
				"The parameter Statistics.member.3.<list element> must be a value in the set [SampleCount, Average, Sum, Minimum, Maximum].")
		r.fails("GetMetricStatistics", with(in, object{
			"Dimensions": list{object{"Name": "QueueName"}}, "Namespace": nil,
		}), 400, "MissingParameter",
			"The parameter Namespace is required.\nThe parameter Dimensions.member.1.Value is required.")
		r.fails("GetMetricStatistics", with(in, object{"MetricName": strings.Repeat("m", 256)}), 400, value,
			"The parameter MetricName must be shorter than 256 characters.")
		r.fails("GetMetricStatistics", with(in, object{"Statistics": slices.Repeat(list{"Sum"}, 6)}), 400, value,
			"The collection Statistics must not have a size greater than 5.")
		r.fails("GetMetricStatistics", with(in, object{"Dimensions": slices.Repeat(dimensions("q"), 31)}), 400, value,
			"The collection Dimensions must not have a size greater than 30.")
		r.fails("GetMetricStatistics", with(in, object{"EndTime": nil}), 400, "MissingParameter",
			"The parameter EndTime is required.")
		r.fails("GetMetricStatistics", with(in, object{"MetricName": nil}), 400, "MissingParameter",
			"The parameter MetricName is required.")
	})
}

// Data older than fifteen days is kept per five minutes, and still older data per hour.
func TestStatisticsOfOldData(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.minutes("NumberOfMessagesSent", "q", slices.Repeat([]float64{1}, 180)...)
		in := object{
			"Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent", "Dimensions": dimensions("q"),
			"Statistics": list{"Sum"},
			"StartTime":  r.now.Add(-178 * time.Minute), "EndTime": r.now,
		}
		for days, want := range map[int]map[int]int{
			0: {60: 178, 300: 36, 3600: 3}, 16: {60: 0, 300: 36, 3600: 3}, 64: {60: 0, 300: 0, 3600: 3},
		} {
			r.now = time.Date(2026, 11, 21, 12, 0, 30, 0, time.UTC).AddDate(0, 0, days)
			for period, n := range want {
				points, _ := r.call("GetMetricStatistics",
					with(in, object{"Period": period})).output["Datapoints"].(list)
				if len(points) != n {
					r.Errorf("after %d days there are %d points of %d seconds, want %d", days, len(points), period, n)
				}
			}
		}
	})
}

func stat(id, metric, queue, statistic string, period int) object {
	return object{"Id": id, "MetricStat": object{
		"Metric": object{"Namespace": "AWS/SQS", "MetricName": metric, "Dimensions": dimensions(queue)},
		"Period": period, "Stat": statistic,
	}}
}

func TestGetMetricData(t *testing.T) {
	t.Parallel()
	dropped := list{object{
		"Code":  "ArithmeticError",
		"Value": "One or more data-points have been dropped due to non-numeric values (NaN, -Infinite, +Infinite)",
	}}
	inEach(t, func(r *rig) {
		r.minutes("ApproximateNumberOfMessagesVisible", "a", 1, 2, 3, 4)
		r.minutes("ApproximateNumberOfMessagesVisible", "b", 10, 20, 30, 40)
		end := r.now.Truncate(time.Minute)
		at := func(minutes ...int) list {
			var out list
			for _, m := range minutes {
				out = append(out, end.Add(-time.Duration(m)*time.Minute).Format(time.RFC3339))
			}
			return out
		}
		in := object{"StartTime": end.Add(-4 * time.Minute), "EndTime": end, "MetricDataQueries": list{
			with(stat("m1", "ApproximateNumberOfMessagesVisible", "a", "Average", 120), object{"Label": "the first"}),
			with(stat("m2", "ApproximateNumberOfMessagesVisible", "b", "Maximum", 120), object{"ReturnData": false}),
			object{"Id": "e1", "Expression": "m1 + m2"},
		}}
		first := object{
			"Id": "m1", "Label": "the first", "StatusCode": "Complete", "Timestamps": at(2, 4),
			"Values": list{3.5, 1.5},
		}
		sum := object{
			"Id": "e1", "Label": "e1", "StatusCode": "Complete", "Timestamps": at(2, 4), "Values": list{43.5, 21.5},
		}
		r.ok("GetMetricData", in, object{"MetricDataResults": list{first, sum}})
		r.ok("GetMetricData", with(in, object{"ScanBy": "TimestampAscending"}), object{"MetricDataResults": list{
			with(first, object{"Timestamps": at(4, 2), "Values": list{1.5, 3.5}}),
			with(sum, object{"Timestamps": at(4, 2), "Values": list{21.5, 43.5}}),
		}})

		zoned := with(in, object{"LabelOptions": object{"Timezone": "+0130"}, "MetricDataQueries": list{
			with(stat("m1", "ApproximateNumberOfMessagesVisible", "a", "Average", 120), object{"Label": "${MAX_TIME}"}),
		}})
		r.ok("GetMetricData", zoned, object{
			"MetricDataResults": list{with(first, object{"Label": "2026-11-21 13:28:00 +0130"})},
		})
		r.fails("GetMetricData", with(zoned, object{"LabelOptions": object{"Timezone": "CET"}}), 400, "ValidationError",
			"The value CET for parameter LabelOptions.Timezone is invalid.\n")

		// Two pages: three datapoints, then the last.
		out := r.call("GetMetricData", with(in, object{"MaxDatapoints": 3})).output
		token, _ := out["NextToken"].(string)
		results, _ := out["MetricDataResults"].(list)
		if len(results) != 2 || results[1].(object)["StatusCode"] != "PartialData" || token == "" {
			r.Errorf("the first page is %v", out)
		}
		r.ok("GetMetricData", with(in, object{"MaxDatapoints": 3, "NextToken": token}),
			object{"MetricDataResults": list{
				with(sum, object{"Timestamps": at(4), "Values": list{21.5}}),
			}})

		grouped := with(in, object{"MetricDataQueries": list{object{
			"Id": "q1", "Period": 240,
			"Expression": `SELECT MAX(ApproximateNumberOfMessagesVisible) FROM SCHEMA("AWS/SQS", QueueName) GROUP BY QueueName ORDER BY MAX() DESC LIMIT 10`,
		}}})
		r.ok("GetMetricData", grouped, object{"MetricDataResults": list{
			object{"Id": "q1", "Label": "b", "StatusCode": "Complete", "Timestamps": at(4), "Values": list{40}},
			object{"Id": "q1", "Label": "a", "StatusCode": "Complete", "Timestamps": at(4), "Values": list{4}},
		}})
		r.ok("GetMetricData",
			with(in, object{"MetricDataQueries": list{stat("m1", "NumberOfMessagesSent", "nowhere", "Sum", 60)}}),
			object{"MetricDataResults": list{
				object{"Id": "m1", "Label": "NumberOfMessagesSent", "StatusCode": "Complete"},
			}})

		r.ok("GetMetricData", with(in, object{"MetricDataQueries": list{
			stat("m1", "ApproximateNumberOfMessagesVisible", "a", "Sum", 240),
			stat("m2", "ApproximateNumberOfMessagesVisible", "a", "Minimum", 240),
		}}), object{"MetricDataResults": list{
			object{
				"Id": "m1", "Label": "ApproximateNumberOfMessagesVisible Sum", "StatusCode": "Complete",
				"Timestamps": at(4), "Values": list{10},
			},
			object{
				"Id": "m2", "Label": "ApproximateNumberOfMessagesVisible Minimum", "StatusCode": "Complete",
				"Timestamps": at(4), "Values": list{1},
			},
		}})
		largest := with(in, object{"MetricDataQueries": list{
			with(stat("m1", "ApproximateNumberOfMessagesVisible", "a", "Average", 240), object{
				"ReturnData": false, "Label": "a",
			}),
			with(stat("m2", "ApproximateNumberOfMessagesVisible", "b", "Average", 240), object{
				"ReturnData": false, "Label": "b",
			}),
			object{"Id": "e1", "Expression": "SORT(METRICS(), AVG, DESC, 1)"},
		}})
		r.ok("GetMetricData", largest, object{"MetricDataResults": list{
			object{"Id": "e1", "Label": "b", "StatusCode": "Complete", "Timestamps": at(4), "Values": list{25}},
		}})

		refused := func(message string, queries ...any) {
			r.Helper()
			r.fails("GetMetricData", with(in, object{"MetricDataQueries": queries}), 400, "ValidationError", message)
		}
		search := with(in, object{"MetricDataQueries": list{object{
			"Id":         "s1",
			"Expression": `REMOVE_EMPTY(SEARCH('{"AWS/SQS","QueueName"} MetricName="ApproximateNumberOfMessagesVisible" "QueueName"=("a" OR "b")', 'Maximum', 240))`,
		}}})
		r.ok("GetMetricData", search, object{"MetricDataResults": list{
			object{"Id": "s1", "Label": "a", "StatusCode": "Complete", "Timestamps": at(4), "Values": list{4}},
			object{"Id": "s1", "Label": "b", "StatusCode": "Complete", "Timestamps": at(4), "Values": list{40}},
		}})
		r.ok("GetMetricData", with(in, object{"MetricDataQueries": list{
			with(stat("m1", "ApproximateNumberOfMessagesVisible", "a", "Average", 240), object{"ReturnData": false}),
			object{"Id": "e1", "Expression": "m1/(m1-m1)"}, object{"Id": "e2", "Expression": "e1*100"},
			object{"Id": "e3", "Expression": "IF(m1>0, 1, e1)"},
		}}), object{"MetricDataResults": list{
			object{"Id": "e1", "Label": "e1", "StatusCode": "Complete", "Messages": dropped},
			object{"Id": "e2", "Label": "e2", "StatusCode": "Complete", "Messages": dropped},
			object{"Id": "e3", "Label": "e3", "StatusCode": "Complete", "Timestamps": at(4), "Values": list{1}},
		}})
		refused("Error in expression 'e1': the placeholder '*' is not supported: a term without quotes finds parts of names at character 21 of the search.",
			object{"Id": "e1", "Expression": "SEARCH('{AWS/SQS,QueueName} *', 'Sum', 60)"})
		refused("Error in expression 'e1': Invalid syntax", object{"Id": "e1", "Expression": "1 + "})
		refused("Error in expression 'e1': Function 'VARIANCE' not found", object{
			"Id": "e1", "Expression": "VARIANCE(m1)",
		})
		refused("The query m1 is about the account 111111111111, and no accounts are linked.",
			with(stat("m1", "NumberOfMessagesSent", "a", "Sum", 60), object{"AccountId": "111111111111"}))
		refused("The parameter MetricDataQueries.member.1.Id is required.\nThe parameter MetricDataQueries.member.1.MetricStat.Metric is required.\n",
			object{"MetricStat": object{"Period": 60, "Stat": "Sum"}})
		refused("The value Min for parameter MetricDataQueries.member.1.MetricStat.Stat is not a valid statistic.\n"+
			"The value tm for parameter MetricDataQueries.member.2.MetricStat.Stat is not a valid statistic.\n",
			stat("m1", "NumberOfMessagesSent", "a", "Min", 60), stat("m2", "NumberOfMessagesSent", "a", "tm", 60))
		refused("The values for parameter id in MetricDataQueries are not unique.\n",
			stat("m1", "NumberOfMessagesSent", "a", "Sum", 60), stat("m1", "NumberOfMessagesReceived", "a", "Sum", 60))
		refused("The value m-1 for parameter MetricDataQueries.member.1.Id is not matching the expected pattern ^[a-z][a-zA-Z0-9_]*$.\n",
			stat("m-1", "NumberOfMessagesSent", "a", "Sum", 60))
		refused("The parameters MetricDataQueries.member.1.Expression and MetricDataQueries.member.1.MetricStat are mutually exclusive and you have specified both.\n",
			with(stat("m1", "NumberOfMessagesSent", "a", "Sum", 60), object{"Expression": "1"}))
		refused("The parameters MetricDataQueries.member.1.Period and MetricDataQueries.member.1.MetricStat are mutually exclusive and you have specified both.\n",
			with(stat("m1", "NumberOfMessagesSent", "a", "Sum", 60), object{"Period": 60}))
		refused("The parameter MetricDataQueries.member.1.MetricStat.Period must be 1, 5, 10, 20, 30 or a multiple of 60.\n",
			stat("m1", "NumberOfMessagesSent", "a", "Sum", 61))
		refused("The parameter MetricDataQueries.member.1.Period must be 1, 5, 10, 20, 30 or a multiple of 60.\n",
			object{"Id": "e1", "Expression": "1", "Period": 61})
		refused("The collection MetricDataQueries must not have a size greater than 500.\n",
			slices.Repeat(list{stat("m1", "NumberOfMessagesSent", "a", "Sum", 60)}, 501)...)
		refused("At least one of the parameters MetricDataQueries.member.1.Expression and MetricDataQueries.member.1.MetricStat must be specified.\n", object{"Id": "m1"})
		r.fails("GetMetricData", with(in, object{"MetricDataQueries": nil}), 400, "ValidationError",
			"The parameter MetricDataQueries is required.\n")
		r.fails("GetMetricData", with(in, object{"StartTime": end}), 400, "ValidationError",
			"The parameter StartTime must not equal parameter EndTime.\n")
		r.fails("GetMetricData", with(in, object{"StartTime": end.Add(time.Minute)}), 400, "ValidationError",
			"The parameter StartTime must be less than the parameter EndTime.\n")
		r.fails("GetMetricData", with(in, object{"MaxDatapoints": 100_801}), 400, "ValidationError",
			"1 validation error detected: Value '100801' at 'maxDatapoints' failed to satisfy constraint: Member must have value less than or equal to 100800")
		r.fails("GetMetricData", with(in, object{"NextToken": "after"}), 400, "InvalidNextToken",
			"The next token is not one of this list.")
	})
}

// Metrics of programs are read like the server's own.
func TestPutMetricData(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		datum := object{
			"MetricName": "Backlog", "Dimensions": list{object{"Name": "Fleet", "Value": "f"}},
			"Timestamp": r.now.Add(-2 * time.Minute), "Unit": "Count", "Value": 7.5,
		}
		r.ok("PutMetricData", object{"Namespace": "Workers", "MetricData": list{
			datum, with(datum, object{"Value": nil, "Values": list{1, 2}, "Counts": list{3, 1}}),
			with(datum, object{
				"Value": nil, "StatisticValues": object{"SampleCount": 2, "Sum": 10, "Minimum": 4, "Maximum": 6},
				"StorageResolution": 1,
			}),
			with(datum, object{"Dimensions": nil, "Unit": nil, "Timestamp": nil}),
		}}, object{})
		r.ok("GetMetricStatistics", object{
			"Namespace": "Workers", "MetricName": "Backlog", "Dimensions": datum["Dimensions"],
			"StartTime": r.now.Add(-5 * time.Minute), "EndTime": r.now, "Period": 60,
			"Statistics": list{"SampleCount", "Sum", "Minimum", "Maximum"},
		}, object{"Label": "Backlog", "Datapoints": list{object{
			"Timestamp": "2026-11-21T11:58:00Z", "Unit": "Count", "SampleCount": 7, "Sum": 22.5, "Minimum": 1,
			"Maximum": 7.5,
		}}})
		if got := r.call("ListMetrics", object{"Namespace": "Workers"}).output["Metrics"].(list); len(got) != 2 {
			r.Errorf("the metrics are %v", got)
		}

		refused := func(change object, code, message string) {
			r.Helper()
			r.fails("PutMetricData", object{"Namespace": "Workers", "MetricData": list{datum, with(datum, change)}},
				400, code, message)
		}
		const value, missing, combination = "InvalidParameterValue", "MissingParameter", "InvalidParameterCombination"
		set := object{"SampleCount": 2, "Sum": 10, "Minimum": 4, "Maximum": 6}
		refused(object{"MetricName": nil}, missing, "The parameter MetricData.member.2.MetricName is required.")
		refused(object{"Value": nil}, combination,
			"At least one of the parameters MetricData.member.2.Value and MetricData.member.2.StatisticValues must be specified.")
		refused(object{"Values": list{1}}, combination,
			"The parameters MetricData.member.2.Value and MetricData.member.2.Values are mutually exclusive and you have specified both.")
		refused(object{"StatisticValues": set}, combination,
			"The parameters MetricData.member.2.Value and MetricData.member.2.StatisticValues are mutually exclusive and you have specified both.")
		refused(object{"Timestamp": r.now.AddDate(0, 0, -15)}, value,
			"The parameter MetricData.member.2.Timestamp must specify a time within the past two weeks.")
		refused(object{"Timestamp": r.now.Add(3 * time.Hour)}, value,
			"The parameter MetricData.member.2.Timestamp must specify a time no more than two hours in the future.")
		refused(object{"Value": 1e300}, value, "The value 1.0E300 for parameter MetricData.member.2.Value is invalid.")
		for name, n := range map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)} {
			refused(object{"Value": r.double(name, n)}, value,
				"The value "+name+" for parameter MetricData.member.2.Value is invalid.")
			refused(object{"Value": nil, "Values": list{1, r.double(name, n)}}, value,
				"The value "+name+" for parameter MetricData.member.2.Values.member.2 is invalid.")
		}
		refused(object{"StorageResolution": 5}, value,
			"The parameter MetricData.member.2.StorageResolution must be a value in the set [1, 60].")
		refused(object{"Value": nil, "Values": list{1, 2}, "Counts": list{1}}, value,
			"The parameters MetricData.member.2.Values and MetricData.member.2.Counts must be of the same size.")
		refused(object{"Value": nil, "StatisticValues": object{"SampleCount": 0, "Sum": 0, "Minimum": 0, "Maximum": 0}},
			value,
			"The parameter MetricData.member.2.StatisticValues.SampleCount must be greater than 0.")
		refused(object{"Dimensions": list{object{"Name": "a", "Value": "1"}, object{"Name": "a", "Value": "2"}}}, value,
			"No metric may specify the same dimension name twice.")
		refused(object{"MetricName": "a\nb"}, value,
			"The parameter MetricData.member.2.MetricName must not have control characters.")
		refused(object{"MetricName": "größe"}, value,
			"The value for parameter MetricData.member.2.MetricName contains non-ASCII characters.")
		refused(object{"Unit": "Apples"}, value, "The parameter MetricData.member.2.Unit must be a value in the set ["+
			"Seconds, Microseconds, Milliseconds, Bytes, Kilobytes, Megabytes, Gigabytes, Terabytes, Bits, Kilobits, Megabits, Gigabits, Terabits, Percent, Count, Bytes/Second, Kilobytes/Second, "+
			"Megabytes/Second, Gigabytes/Second, Terabytes/Second, Bits/Second, Kilobits/Second, Megabits/Second, Gigabits/Second, Terabits/Second, Count/Second, None].")
		refused(object{"MetricName": strings.Repeat("m", 256)}, value,
			"The parameter MetricData.member.2.MetricName must be shorter than 256 characters.")
		refused(object{"Value": nil, "Values": slices.Repeat(list{1}, 151)}, value,
			"The collection MetricData.member.2.Values must not have a size greater than 150.")
		dimension := func(name, text, code, message string) {
			r.Helper()
			refused(object{"Dimensions": list{object{"Name": "a", "Value": "1"}, object{"Name": name, "Value": text}}},
				code,
				strings.Replace(message, "@", "parameter MetricData.member.2.Dimensions.member.2.", 1))
		}
		dimension("", "1", missing, "The @Name is required.")
		dimension("b", "", missing, "The @Value is required.")
		dimension("b", "ü", value, "The value for @Value contains non-ASCII characters.")
		dimension("b\n", "1", value, "The @Name must not have control characters.")
		dimension("b", "  ", value, "The @Value must have a character that is no space.")
		dimension(":b", "1", value, "The @Name must not begin with a colon.")
		refused(object{"Dimensions": slices.Repeat(list{object{"Name": "a", "Value": "1"}}, 31)}, value,
			"The collection MetricData.member.2.Dimensions must not have a size greater than 30.")
		r.fails("PutMetricData", object{"Namespace": "Workers", "MetricData": slices.Repeat(list{datum}, 1001)}, 400,
			value, "The collection MetricData must not have a size greater than 1000.")
		r.fails("PutMetricData", object{"Namespace": ":Workers", "MetricData": list{datum}}, 400, value,
			"The value :Workers for parameter Namespace is invalid. It must not begin with a colon.")
		r.fails("PutMetricData", object{"Namespace": "Größen", "MetricData": list{datum}}, 400, value,
			"The value for parameter Namespace contains non-ASCII characters.")
		r.fails("PutMetricData", object{"Namespace": "AWS/SQS", "MetricData": list{datum}}, 400, value,
			"The value AWS/ for parameter Namespace is invalid.")
		r.fails("PutMetricData", object{"Namespace": "AWS/Unknown", "MetricData": list{datum}}, 400, value,
			"The value AWS/ for parameter Namespace is invalid.")
		r.fails("PutMetricData", object{"Namespace": "Sluice/SQS", "MetricData": list{datum}}, 400, value,
			"The value Sluice/ for parameter Namespace is invalid.")
		r.fails("PutMetricData", object{"Namespace": strings.Repeat("n", 256), "MetricData": list{datum}}, 400, value,
			"The parameter Namespace must be shorter than 256 characters.")
		r.fails("PutMetricData", object{"Namespace": "Workers"}, 400, missing, "The parameter MetricData is required.")
		if got := r.call("ListMetrics", object{"Namespace": "Workers"}).output["Metrics"].(list); len(got) != 2 {
			r.Errorf("a refused request has changed the metrics to %v", got)
		}
	})
}

// The size of a request is limited in the form that clients send.
func TestPutMetricDataIsBounded(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		datum := func(length int) object {
			return object{"MetricName": "m", "Value": 1, "Dimensions": list{
				object{"Name": "a", "Value": strings.Repeat("x", length)},
				object{"Name": "b", "Value": strings.Repeat("y", length)},
			}}
		}
		in := object{"Namespace": "Workers", "MetricData": slices.Repeat(list{datum(600)}, 1000)}
		_, body := r.request("PutMetricData", in)
		r.fails("PutMetricData", in, 413, "RequestEntityTooLarge",
			fmt.Sprintf("Request size %d exceeded 1048576 bytes", len(body)))
		r.ok("PutMetricData", object{"Namespace": "Workers", "MetricData": slices.Repeat(list{datum(300)}, 1000)},
			object{})
	})
}

// GetMetricData limits the size of a request.
func TestGetMetricDataIsBounded(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		in := func(length int) object {
			var queries list
			for i := range 500 {
				queries = append(queries, with(stat(fmt.Sprint("m", i), "NumberOfMessagesSent", "q", "Sum", 60), object{
					"Label": strings.Repeat("x", length),
				}))
			}
			return object{"StartTime": r.now.Add(-time.Minute), "EndTime": r.now, "MetricDataQueries": queries}
		}
		_, body := r.request("GetMetricData", in(1200))
		r.fails("GetMetricData", in(1200), 413, "RequestEntityTooLarge",
			fmt.Sprintf("Request size %d exceeded 614400 bytes", len(body)))
		if got := names(r.call("GetMetricData", in(500)).output["MetricDataResults"], "Id"); len(got) != 500 {
			r.Errorf("there are %d results", len(got))
		}
	})
}

// A search that finds too many metrics returns the first of them, and says so.
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		for i := range 501 {
			r.minutes("NumberOfMessagesSent", fmt.Sprintf("q%d", i), 1)
		}
		search := func(id string) object {
			return object{"Id": id, "Expression": "SUM(SEARCH('{AWS/SQS,QueueName} NumberOfMessagesSent', 'Sum', 60))"}
		}
		r.ok("GetMetricData", object{
			"StartTime": r.now.Add(-time.Minute), "EndTime": r.now,
			"MetricDataQueries": list{search("s1"), search("s2")},
		}, object{
			"MetricDataResults": list{
				object{
					"Id": "s1", "Label": "s1", "StatusCode": "Complete", "Timestamps": list{apitest.Anything},
					"Values": list{500},
				},
				object{
					"Id": "s2", "Label": "s2", "StatusCode": "Complete", "Timestamps": list{apitest.Anything},
					"Values": list{500},
				},
			},
			"Messages": list{object{
				"Code": "MaxMetricsExceeded", "Value": "Maximum number of allowed metrics exceeded",
			}},
		})
	})
}

// Samples of different units are separate.
func TestUnits(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		datum := object{"MetricName": "Load", "Timestamp": r.now.Add(-2 * time.Minute)}
		r.ok("PutMetricData", object{"Namespace": "Workers", "MetricData": list{
			with(datum, object{"Unit": "Count", "Value": 1}), with(datum, object{"Unit": "Bytes", "Value": 10}),
			with(datum, object{"Unit": "Count", "Value": 2}),
			with(datum, object{"Value": 7}),
		}}, object{})
		in := object{
			"Namespace": "Workers", "MetricName": "Load", "StartTime": r.now.Add(-5 * time.Minute), "EndTime": r.now,
			"Period": 60, "Statistics": list{"Sum"},
		}
		point := func(unit string, sum float64) object {
			return object{"Timestamp": "2026-11-21T11:58:00Z", "Unit": unit, "Sum": sum}
		}
		r.ok("GetMetricStatistics", in,
			object{"Label": "Load", "Datapoints": list{point("Bytes", 10), point("Count", 3), point("None", 7)}})
		r.ok("GetMetricStatistics", with(in, object{"Unit": "Count"}), object{
			"Label": "Load", "Datapoints": list{point("Count", 3)},
		})
		r.ok("GetMetricStatistics", with(in, object{"Unit": "Percent"}), object{"Label": "Load"})
		for unit, values := range map[string]list{"Count": {3}, "Bytes": {10}, "None": {7}, "Percent": nil, "": {20}} {
			stat := object{"Metric": object{"Namespace": "Workers", "MetricName": "Load"}, "Period": 60, "Stat": "Sum"}
			if unit != "" {
				stat["Unit"] = unit
			}
			want := object{
				"Id": "m", "Label": "Load", "StatusCode": "Complete", "Values": values,
				"Timestamps": list{"2026-11-21T11:58:00Z"},
			}
			if values == nil {
				want = object{"Id": "m", "Label": "Load", "StatusCode": "Complete"}
			}
			r.ok("GetMetricData", object{
				"StartTime": r.now.Add(-5 * time.Minute), "EndTime": r.now,
				"MetricDataQueries": list{object{"Id": "m", "MetricStat": stat}},
			},
				object{"MetricDataResults": list{want}})
		}
		if got := r.call("ListMetrics", object{"Namespace": "Workers"}).output["Metrics"].(list); len(got) != 1 {
			r.Errorf("the metrics are %v", got)
		}
	})
}

// High-resolution metrics are read by the second for three hours, and by the minute like others. Other metrics have no
// points for periods below a minute.
func TestHighResolution(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		begin := r.now.Truncate(time.Minute).Add(-2 * time.Minute)
		var data list
		for i := range 12 {
			datum := object{
				"MetricName": "Load", "Timestamp": begin.Add(time.Duration(5*i) * time.Second), "Value": i,
				"StorageResolution": 1,
			}
			data = append(data, datum, with(datum, object{"MetricName": "Coarse", "StorageResolution": 60}))
		}
		r.ok("PutMetricData", object{"Namespace": "Workers", "MetricData": data}, object{})
		sums := func(metric string, period int, from time.Time) (out []any) {
			r.Helper()
			in := object{
				"Namespace": "Workers", "MetricName": metric, "StartTime": from, "EndTime": r.now, "Period": period,
				"Statistics": list{"Sum"},
			}
			points, _ := r.call("GetMetricStatistics", in).output["Datapoints"].(list)
			for _, p := range points {
				out = append(out, p.(object)["Sum"])
			}
			query := object{
				"Id": "m",
				"MetricStat": object{
					"Metric": object{"Namespace": "Workers", "MetricName": metric}, "Period": period, "Stat": "Sum",
				},
			}
			results := r.call("GetMetricData", object{
				"StartTime": from, "EndTime": r.now, "ScanBy": "TimestampAscending", "MetricDataQueries": list{query},
			}).output["MetricDataResults"].(list)
			values, _ := results[0].(object)["Values"].(list)
			if fmt.Sprint(values) != fmt.Sprint(out) {
				r.Errorf("%s by %d seconds: GetMetricData has %v, GetMetricStatistics %v", metric, period, values, out)
			}
			return out
		}
		for period, want := range map[int]string{
			1: "[0 1 2 3 4 5 6 7 8 9 10 11]", 5: "[0 1 2 3 4 5 6 7 8 9 10 11]", 10: "[1 5 9 13 17 21]",
			20: "[6 22 38]", 30: "[15 51]", 60: "[66]",
		} {
			if got := fmt.Sprint(sums("Load", period, begin)); got != want {
				r.Errorf("by %d seconds: %s, want %s", period, got, want)
			}
		}
		if got := fmt.Sprint(sums("Load", 20, begin.Add(25*time.Second))); got != "[22 38]" {
			r.Errorf("periods do not begin with a division of the minute: %s", got)
		}
		if got := fmt.Sprint(sums("Coarse", 10, begin), sums("Coarse", 60, begin)); got != "[] [66]" {
			r.Errorf("of standard resolution: %s", got)
		}
		r.minutes("NumberOfMessagesSent", "q", 1, 2)
		r.ok("GetMetricData", object{
			"StartTime": begin, "EndTime": r.now,
			"MetricDataQueries": list{stat("m", "NumberOfMessagesSent", "q", "Sum", 10)},
		},
			object{
				"MetricDataResults": list{object{"Id": "m", "Label": "NumberOfMessagesSent", "StatusCode": "Complete"}},
			})
		r.fails("GetMetricStatistics", object{
			"Namespace": "Workers", "MetricName": "Load", "StartTime": r.now.Add(-24 * time.Hour), "EndTime": r.now,
			"Period": 1, "Statistics": list{"Sum"},
		}, 400, "InvalidParameterCombination",
			"You have requested up to 86400 datapoints, which exceeds the limit of 1440. "+
				"You may reduce the datapoints requested by increasing Period, or decreasing the time range.")
		r.now = r.now.Add(4 * time.Hour)
		if err := r.monitor.Sweep(t.Context(), r.now); err != nil {
			r.Fatal(err)
		}
		if got := fmt.Sprint(sums("Load", 30, begin.Add(-time.Minute)),
			sums("Load", 1200, begin.Add(-time.Minute))); got != "[] [66]" {
			r.Errorf("after four hours: %s", got)
		}
	})
}

// A request for a feature that this server lacks is refused with an explanation.
func TestUnsupported(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		for _, op := range []string{"PutLogAlarm", "PutManagedInsightRules", "PutMetricStream",
			"GetMetricWidgetImage"} {
			r.fails(op, object{}, http.StatusBadRequest, "UnsupportedOperation",
				"The operation "+op+" is not supported by Sluice.")
		}
	})
}
