package cloudwatch_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var detectorID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// detectorOf is a detector of a metric as DescribeAnomalyDetectors shows it.
func detectorOf(namespace, metric string, dimensions list) object {
	out := object{
		"AnomalyDetectorId": detectorID, "Namespace": namespace, "MetricName": metric, "Stat": "Average",
		"StateValue": "PENDING_TRAINING",
		"SingleMetricAnomalyDetector": object{
			"AccountId": account, "Namespace": namespace, "MetricName": metric, "Stat": "Average",
		},
	}
	if dimensions != nil {
		out["Dimensions"] = dimensions
		out["SingleMetricAnomalyDetector"].(object)["Dimensions"] = dimensions
	}
	return out
}

// A detector is created in the older form and the newer one, replaced, found and deleted.
func TestAnomalyDetectors(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		old := object{
			"Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent", "Dimensions": dimensions("q"),
			"Stat": "Average",
		}
		single := object{
			"SingleMetricAnomalyDetector": object{"Namespace": "Workers", "MetricName": "Backlog", "Stat": "Average"},
		}
		r.ok("PutAnomalyDetector", old, object{"AnomalyDetectorId": detectorID})
		r.ok("PutAnomalyDetector", single, object{"AnomalyDetectorId": detectorID})
		sent, backlog := detectorOf("AWS/SQS", "NumberOfMessagesSent", dimensions("q")),
			detectorOf("Workers", "Backlog", nil)
		r.ok("DescribeAnomalyDetectors", object{}, object{"AnomalyDetectors": list{sent, backlog}})
		r.ok("DescribeAnomalyDetectors", object{"Namespace": "Workers"}, object{"AnomalyDetectors": list{backlog}})
		r.ok("DescribeAnomalyDetectors", object{
			"MetricName": "NumberOfMessagesSent", "AnomalyDetectorTypes": list{"SINGLE_METRIC"},
		}, object{"AnomalyDetectors": list{sent}})
		r.ok("DescribeAnomalyDetectors", object{"Dimensions": dimensions("q")}, object{"AnomalyDetectors": list{sent}})
		r.ok("DescribeAnomalyDetectors", object{"Dimensions": dimensions("p")}, object{})

		day := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
		configured := with(single, object{
			"Configuration": object{
				"ExcludedTimeRanges": list{object{"StartTime": day, "EndTime": day.Add(time.Hour)}},
				"MetricTimezone":     "Europe/Berlin", "AdaptationSpeed": "SLOW", "OutlierFilteringStrength": "STRICT",
			},
			"MetricCharacteristics": object{"PeriodicSpikes": true},
		})
		r.ok("PutAnomalyDetector", configured, object{"AnomalyDetectorId": detectorID})
		shown := r.call("DescribeAnomalyDetectors", object{
			"Namespace": "Workers",
		}).output["AnomalyDetectors"].(list)[0].(object)
		configuration := shown["Configuration"].(object)
		if configuration["MetricTimezone"] != "Europe/Berlin" || configuration["AdaptationSpeed"] != "SLOW" ||
			configuration["OutlierFilteringStrength"] != "STRICT" ||
			len(configuration["ExcludedTimeRanges"].(list)) != 1 ||
			shown["MetricCharacteristics"].(object)["PeriodicSpikes"] != "true" {
			r.Errorf("shown as %v", shown)
		}

		r.ok("DeleteAnomalyDetector", object{"SingleMetricAnomalyDetector": with(old, nil)}, object{})
		r.ok("DescribeAnomalyDetectors", object{"Namespace": "AWS/SQS"}, object{})
		r.fails("DeleteAnomalyDetector", old, 404, "ResourceNotFoundException", "The anomaly detector does not exist.")
		r.ok("DeleteAnomalyDetector", object{"AnomalyDetectorId": shown["AnomalyDetectorId"]}, object{})
		r.ok("DescribeAnomalyDetectors", object{}, object{})
	})
}

// Detectors of expressions are listed only on request.
func TestAnomalyDetectorsOfExpressions(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		queries := list{
			object{"Id": "e1", "Expression": "m1 / 2", "ReturnData": true},
			with(stat("m1", "NumberOfMessagesSent", "q", "Sum", 300), object{"ReturnData": false}),
		}
		math := object{"MetricMathAnomalyDetector": object{"MetricDataQueries": queries}}
		r.ok("PutAnomalyDetector", math, object{"AnomalyDetectorId": detectorID})
		r.ok("DescribeAnomalyDetectors", object{}, object{})
		r.ok("DescribeAnomalyDetectors", object{"AnomalyDetectorTypes": list{"METRIC_MATH"}},
			object{"AnomalyDetectors": list{object{
				"AnomalyDetectorId": detectorID, "StateValue": "PENDING_TRAINING",
				"MetricMathAnomalyDetector": math["MetricMathAnomalyDetector"],
			}}})
		r.fails("PutAnomalyDetector", object{"MetricMathAnomalyDetector": object{"MetricDataQueries": list{
			with(queries[0].(object), object{"Expression": "m1 +"}), queries[1],
		}}},
			400, "ValidationError", "Error in expression 'e1': Invalid syntax")
		r.ok("DeleteAnomalyDetector", math, object{})
		r.ok("DescribeAnomalyDetectors", object{"AnomalyDetectorTypes": list{"METRIC_MATH"}}, object{})
	})
}

func TestAnomalyDetectorsPages(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		for _, metric := range []string{"c", "a", "b"} {
			r.ok("PutAnomalyDetector", object{"Namespace": "n", "MetricName": metric, "Stat": "Sum"},
				object{"AnomalyDetectorId": detectorID})
		}
		var seen []string
		for in := (object{"MaxResults": 2}); ; {
			out := r.call("DescribeAnomalyDetectors", in).output
			seen = append(seen, names(out["AnomalyDetectors"], "MetricName")...)
			if out["NextToken"] == nil {
				break
			}
			in = with(in, object{"NextToken": out["NextToken"]})
		}
		if !slices.Equal(seen, []string{"a", "b", "c"}) {
			r.Errorf("pages with %v", seen)
		}
		r.fails("DescribeAnomalyDetectors", object{"NextToken": "x"}, 400, "InvalidNextToken",
			"The next token is not one of this list.")
	})
}

func TestAnomalyDetectorsRefuse(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		in := object{"Namespace": "n", "MetricName": "m", "Stat": "Sum"}
		refused := func(change object, code, message string) {
			r.Helper()
			r.fails("PutAnomalyDetector", with(in, change), 400, code, message)
		}
		const value, missing, combination = "InvalidParameterValue", "MissingParameter", "InvalidParameterCombination"
		r.fails("PutAnomalyDetector", object{}, 400, missing,
			"The parameter Namespace is required.\nThe parameter MetricName is required.\nThe parameter Stat is required.")
		r.fails("PutAnomalyDetector",
			object{"SingleMetricAnomalyDetector": object{"Namespace": "n", "MetricName": "m"}}, 400, missing,
			"The parameter SingleMetricAnomalyDetector.Stat is required.")
		r.fails("PutAnomalyDetector", object{"MetricMathAnomalyDetector": object{"MetricDataQueries": list{}}}, 400,
			missing,
			"The parameter MetricMathAnomalyDetector.MetricDataQueries is required.")
		refused(object{"Dimensions": list{object{"Name": "d"}}}, missing,
			"The parameter Dimensions.member.1.Value is required.")
		refused(object{"Stat": "Median"}, value, "The value Median for parameter Stat is not a valid statistic.")
		refused(object{"MetricName": strings.Repeat("m", 256)}, value,
			"The parameter MetricName must be shorter than 256 characters.")
		refused(object{"SingleMetricAnomalyDetector": in}, combination,
			"The parameters Namespace and SingleMetricAnomalyDetector are mutually exclusive and you have specified both.")
		refused(object{"Configuration": object{"AdaptationSpeed": "WARP"}}, value,
			"The parameter Configuration.AdaptationSpeed must be a value in the set [FAST, NORMAL, SLOW].")
		refused(object{"Configuration": object{"MetricTimezone": "Mars/Olympus"}}, value,
			"The value Mars/Olympus for parameter Configuration.MetricTimezone is invalid.")
		refused(object{
			"Configuration": object{"ExcludedTimeRanges": list{object{"StartTime": r.now, "EndTime": r.now}}},
		}, value,
			"The parameter Configuration.ExcludedTimeRanges.member.1.StartTime must be less than the parameter Configuration.ExcludedTimeRanges.member.1.EndTime.")
		r.fails("PutAnomalyDetector",
			object{"SingleMetricAnomalyDetector": with(in, object{"AccountId": "111111111111"})}, 400, value,
			"The value 111111111111 for parameter SingleMetricAnomalyDetector.AccountId is invalid.")
		r.fails("DescribeAnomalyDetectors", object{"AnomalyDetectorTypes": list{"BOTH"}}, 400, value,
			"The parameter AnomalyDetectorTypes.member.1.<list element> must be a value in the set [SINGLE_METRIC, METRIC_MATH].")
		r.fails("DescribeAnomalyDetectors", object{"MaxResults": 0}, 400, value,
			"The parameter MaxResults must be greater than 0.")
		r.fails("DescribeAnomalyDetectors", object{"AnomalyDetectorIds": list{"a"}, "Namespace": "n"}, 400, combination,
			"The parameter AnomalyDetectorIds and those that select metrics are mutually exclusive and you have specified both.")
		r.ok("DescribeAnomalyDetectors", object{"AnomalyDetectorIds": list{"a"}}, object{})
	})
}

// A detector is trained when its metric has had values on enough days.
func TestStateOfDetectors(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		detector := object{
			"Namespace": "AWS/SQS", "MetricName": "NumberOfMessagesSent", "Dimensions": dimensions("q"),
			"Stat": "Average",
		}
		r.ok("PutAnomalyDetector", detector, object{"AnomalyDetectorId": detectorID})
		shown := detectorOf("AWS/SQS", "NumberOfMessagesSent", dimensions("q"))
		is := func(state string) {
			r.Helper()
			r.ok("DescribeAnomalyDetectors", object{}, object{
				"AnomalyDetectors": list{with(shown, object{"StateValue": state})},
			})
		}
		is("PENDING_TRAINING")
		r.minutes("NumberOfMessagesSent", "q", 1, 2, 3)
		r.now = r.now.Add(24 * time.Hour)
		r.minutes("NumberOfMessagesSent", "q", 1, 2, 3)
		is("TRAINED_INSUFFICIENT_DATA")
		r.now = r.now.Add(24 * time.Hour)
		r.minutes("NumberOfMessagesSent", "q", 1, 2, 3)
		is("TRAINED")
	})
}
