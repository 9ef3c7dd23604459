package cloudwatch

import (
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
)

// checkBand checks that parameters are those of an alarm on a band, or those of an alarm on a threshold.
func (in *putMetricAlarmInput) checkBand() error {
	withBand := alarm.Comparison(text(in.ComparisonOperator)).WithBand()
	switch {
	case in.ThresholdMetricId == nil && withBand:
		return protocol.ValidationError("ComparisonOperators for ranges require ThresholdMetricId to be set")
	case in.ThresholdMetricId == nil:
		return nil
	case !withBand:
		return protocol.ValidationError(
			"ComparisonOperator for models must be %s, %s or %s", alarm.Below, alarm.Above, alarm.Outside,
		)
	case in.Threshold != nil:
		return protocol.ValidationError("Threshold and ThresholdMetricId cannot both be set")
	case len(in.Metrics) == 0:
		return protocol.ValidationError("ThresholdMetricId should only be set if list of Metrics is set.")
	}
	return nil
}

// checkThreshold checks that an alarm has a band, and one time series to compare with it.
func checkThreshold(a *monitor.Alarm, plan *metricdata.Plan) error {
	switch {
	case !plan.IsBand(a.ThresholdID):
		return protocol.ValidationError("ThresholdMetricId must be the Id of an ANOMALY_DETECTION_BAND in the list of Metrics.")
	case len(plan.Returned()) != 2:
		return protocol.ValidationError("Exactly two elements of the metrics list should return data.")
	}
	watched := plan.Returned()[0]
	if watched == a.ThresholdID {
		watched = plan.Returned()[1]
	}
	if plan.IsBand(watched) {
		return protocol.ValidationError("An alarm watches one time series: the query %s is a band, too.", watched)
	}
	if err := checkGroups(a); err != nil {
		return err
	}
	return checkShape(plan, watched)
}
