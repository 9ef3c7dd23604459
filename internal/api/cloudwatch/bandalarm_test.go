package cloudwatch_test

import (
	"testing"
	"time"
)

// unusual is an alarm on a band of expected values, as Terraform creates it.
var unusual = with(backlog, object{
	"MetricName": nil, "Namespace": nil, "Statistic": nil, "Dimensions": nil, "Period": nil, "Threshold": nil,
	"Tags":               nil,
	"ComparisonOperator": "LessThanLowerOrGreaterThanUpperThreshold", "ThresholdMetricId": "e1",
	"Metrics": list{
		object{
			"Id": "e1", "Expression": "ANOMALY_DETECTION_BAND(m1, 3)", "Label": "Sent (Expected)", "ReturnData": true,
		},
		with(stat("m1", "NumberOfMessagesSent", "q", "Sum", 300), object{"ReturnData": true}),
	},
})

func TestAlarmsOnBands(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.ok("PutMetricAlarm", unusual, object{})
		r.ok("DescribeAlarms", object{}, object{"MetricAlarms": list{with(shown, object{
			"MetricName": nil, "Namespace": nil, "Statistic": nil, "Dimensions": nil, "Period": nil, "Threshold": nil,
			"ComparisonOperator": unusual["ComparisonOperator"], "ThresholdMetricId": "e1",
			"Metrics": unusual["Metrics"],
		})}})
		r.ok("PutMetricAlarm", backlog, object{})
		r.ok("DescribeAlarms", object{}, object{"MetricAlarms": list{shown}})
	})
}

func TestAlarmsOnBandsRefuse(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		refused := func(change object, message string) {
			r.Helper()
			r.fails("PutMetricAlarm", with(unusual, change), 400, "ValidationError", message)
		}
		band := unusual["Metrics"].(list)[0].(object)
		metric := unusual["Metrics"].(list)[1].(object)
		refused(object{"ThresholdMetricId": nil}, "ComparisonOperators for ranges require ThresholdMetricId to be set")
		refused(object{"Threshold": 1}, "Threshold and ThresholdMetricId cannot both be set")
		refused(object{"Metrics": nil}, "ThresholdMetricId should only be set if list of Metrics is set.")
		refused(object{"ThresholdMetricId": "m1"},
			"ThresholdMetricId must be the Id of an ANOMALY_DETECTION_BAND in the list of Metrics.")
		refused(object{"Metrics": list{band, with(metric, object{"ReturnData": false})}},
			"Exactly two elements of the metrics list should return data.")
		refused(object{
			"Metrics": list{band, with(band, object{"Id": "e2"}), with(metric, object{"ReturnData": false})},
		},
			"An alarm watches one time series: the query e2 is a band, too.")
		sum := object{"Id": "e2", "Expression": "SUM(m1)"}
		refused(object{"Metrics": list{band, sum, with(metric, object{"ReturnData": false})}},
			"Error in expression 'e2': it results in a number, and an alarm watches a time series.")
		r.ok("PutMetricAlarm", with(unusual, object{"Metrics": list{with(band, object{"ReturnData": false}), metric}}),
			object{})
	})
}

// GetMetricData returns a band as two time series.
func TestBandData(t *testing.T) {
	t.Parallel()
	inEach(t, func(r *rig) {
		r.minutes("NumberOfMessagesSent", "q", 7, 7, 7, 7, 7)
		r.now = r.now.AddDate(0, 0, 1)
		out, _ := r.call("GetMetricData", object{
			"StartTime": r.now.Add(-2 * time.Minute), "EndTime": r.now, "MetricDataQueries": list{
				object{"Id": "e1", "Expression": "ANOMALY_DETECTION_BAND(m1)"},
				with(stat("m1", "NumberOfMessagesSent", "q", "Sum", 60), object{"ReturnData": false}),
			},
		}).output["MetricDataResults"].(list)
		if len(out) != 2 || out[0].(object)["Label"] != "lower" || out[0].(object)["Values"].(list)[0] != "6.86" ||
			out[1].(object)["Label"] != "upper" || out[1].(object)["Values"].(list)[0] != "7.14" {
			r.Errorf("the band is %v", out)
		}
	})
}
