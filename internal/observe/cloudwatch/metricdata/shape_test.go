package metricdata_test

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
)

// The expressions tell the shape of a result, except where data decide.
func TestShape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]metricdata.Shape{
		"m": metricdata.OneSeries, "m + 1": metricdata.OneSeries, "m - AVG(m)": metricdata.OneSeries,
		"SUM([m, m])": metricdata.OneSeries, "SUM(METRICS())": metricdata.OneSeries,
		"FIRST(METRICS())": metricdata.OneSeries, "TIME_SERIES(SUM(m))": metricdata.OneSeries,
		"IF(m > 1, 1, 0)": metricdata.OneSeries, "IF(AVG(m) > 1, m, 0)": metricdata.OneSeries,
		"FILL(m, LINEAR)": metricdata.OneSeries, "MAX(ANOMALY_DETECTION_BAND(m))": metricdata.OneSeries,
		"MAX(SEARCH('{AWS/SQS,QueueName}', 'Sum', 60))": metricdata.OneSeries, "SUM(groups)": metricdata.OneSeries,
		"all": metricdata.OneSeries,

		"1": metricdata.OneNumber, "SUM(m)": metricdata.OneNumber, "MAX(m) / 2": metricdata.OneNumber,
		"METRIC_COUNT(METRICS())": metricdata.OneNumber, "hidden + 1": metricdata.OneNumber,

		"[m]": metricdata.SeveralSeries, "METRICS()": metricdata.SeveralSeries,
		"RATE([m, m])": metricdata.SeveralSeries,
		"SEARCH('{AWS/SQS,QueueName}', 'Sum', 60)": metricdata.SeveralSeries,
		"ANOMALY_DETECTION_BAND(m)":                metricdata.SeveralSeries, "groups": metricdata.SeveralSeries,

		"METRIC_COUNT(m)": metricdata.AnyShape, "SLICE(METRICS(), AVG(m))": metricdata.AnyShape,
	} {
		plan, err := metricdata.Check([]metricdata.Query{
			expression("e", text, 0), stat("m", "NumberOfMessagesSent", "a", "Sum", time.Minute),
			expression("hidden", "SUM(m)", 0), expression("all", "SELECT SUM(m) FROM n", time.Minute),
			expression("groups", "SELECT SUM(m) FROM n GROUP BY d", time.Minute),
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Shape("e"); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
