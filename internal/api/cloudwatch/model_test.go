package cloudwatch_test

import "testing"

// The constraints of AWS's model are checked first, and one answer lists all violations.
func TestModel(t *testing.T) {
	t.Parallel()
	const (
		fails   = " failed to satisfy constraint: Member must "
		length1 = fails + "have length greater than or equal to 1"
		notNull = fails + "not be null"
	)
	types := "Value '[Robot]' at 'alarmTypes'" + fails +
		"satisfy constraint: [Member must satisfy enum value set: [CompositeAlarm, MetricAlarm, LogAlarm]]"
	inEach(t, func(r *rig) {
		for _, c := range []struct {
			op   string
			in   object
			says string
		}{
			{"PutMetricAlarm", object{}, "1 validation error detected: Value null at 'alarmName'" + notNull},
			{"PutMetricAlarm", object{
				"AlarmName": "", "AlarmDescription": "d", "OKActions": list{""}, "Statistic": "Median",
				"Dimensions": list{object{"Value": "v"}}, "Period": 0,
				"EvaluationPeriods": 0, "Metrics": list{object{"Id": "", "MetricStat": object{"Period": 60}}},
			}, "9 validation errors detected: Value '' at 'alarmName'" + length1 +
				"; Value '[]' at 'oKActions'" + fails +
				"satisfy constraint: [Member must have length less than or equal to 1024, Member must have length greater than or equal to 1]" +
				"; Value 'Median' at 'statistic'" + fails +
				"satisfy enum value set: [SampleCount, Average, Sum, Minimum, Maximum]" +
				"; Value null at 'dimensions.1.member.name'" + notNull + "; Value '0' at 'period'" + fails +
				"have value greater than or equal to 1" +
				"; Value '0' at 'evaluationPeriods'" + fails + "have value greater than or equal to 1" +
				"; Value '' at 'metrics.1.member.id'" + length1 +
				"; Value null at 'metrics.1.member.metricStat.metric'" + notNull +
				"; Value null at 'metrics.1.member.metricStat.stat'" + notNull},
			{"PutMetricAlarm", object{
				"AlarmName":           "a",
				"ActionConfiguration": object{"AlarmTagsPropagation": object{"IncludedTagKeys": list{""}}},
			},
				"2 validation errors detected: Value null at 'actionConfiguration.alarmTagsPropagation.enabled'" +
					notNull +
					"; Value '[]' at 'actionConfiguration.alarmTagsPropagation.includedTagKeys'" + fails +
					"satisfy constraint: " +
					"[Member must have length less than or equal to 128, Member must have length greater than or equal to 1]"},
			{
				"PutCompositeAlarm", object{},
				"2 validation errors detected: Value null at 'alarmName'" + notNull + "; Value null at 'alarmRule'" +
					notNull,
			},
			{"PutCompositeAlarm", object{"AlarmName": "a", "AlarmRule": "", "ActionsSuppressor": ""},
				"2 validation errors detected: Value '' at 'alarmRule'" + length1 +
					"; Value '' at 'actionsSuppressor'" + length1},
			{"SetAlarmState", object{"StateValue": "FINE"},
				"3 validation errors detected: Value null at 'alarmName'" + notNull +
					"; Value 'FINE' at 'stateValue'" + fails +
					"satisfy enum value set: [INSUFFICIENT_DATA, ALARM, OK]; Value null at 'stateReason'" + notNull},
			{"DescribeAlarms", object{"AlarmTypes": list{"Robot"}}, "1 validation error detected: " + types},
			{"DescribeAlarmHistory", object{"AlarmTypes": list{"Robot"}, "MaxRecords": 101},
				"2 validation errors detected: " + types + "; Value '101' at 'maxRecords'" + fails +
					"have value less than or equal to 100"},
			{"DescribeAlarmsForMetric", object{"Namespace": ":n"},
				"2 validation errors detected: Value null at 'metricName'" + notNull +
					"; Value ':n' at 'namespace'" + fails + "satisfy regular expression pattern: [^:].*"},
			{"DeleteAlarms", object{"AlarmNames": list{""}},
				"1 validation error detected: Value '[]' at 'alarmNames'" + fails +
					"satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 1]"},
			{"ListMetrics", object{
				"RecentlyActive": "PT4H", "Dimensions": list{object{"Value": "v"}},
			}, "2 validation errors detected: Value null at 'dimensions.1.member.name'" + notNull +
				"; Value 'PT4H' at 'recentlyActive'" + fails + "satisfy enum value set: [PT3H]"},
			{"TagResource",
				object{
					"ResourceARN": "arn:aws:cloudwatch:us-east-1:000000000000:alarm:a",
					"Tags":        list{object{"Value": "v"}},
				},
				"1 validation error detected: Value '' at 'tags.1.member.key'" + length1},
			{
				"UntagResource", object{},
				"2 validation errors detected: Value null at 'resourceARN'" + notNull + "; Value null at 'tagKeys'" +
					notNull,
			},
		} {
			r.fails(c.op, c.in, 400, "ValidationError", c.says)
		}
	})
}
