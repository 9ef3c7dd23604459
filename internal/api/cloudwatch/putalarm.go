package cloudwatch

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insights"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// alarmQuota limits the alarms of both kinds together.
var alarmQuota = series.Quota{Of: "alarms", Region: 5000, Account: 2 * 5000}

// The maximum total length of the evaluated periods, for periods of less than an hour and others.
const (
	maxShort = 24 * time.Hour
	maxLong  = 7 * 24 * time.Hour
	// mostInAlarm is the maximum number of metrics in an alarm, and that of expressions.
	mostInAlarm = 10
)

type putMetricAlarmInput struct {
	alarmInput
	MetricName                       *string     `max:"255"`
	Namespace                        *string     `max:"255"`
	Statistic                        *string     `max:"32"`
	ExtendedStatistic                *string     `max:"50"`
	Dimensions                       []Dimension `max:"30"  wrap:"member"`
	Period                           *int32
	Unit                             *string `max:"32"`
	EvaluationPeriods                *int32
	DatapointsToAlarm                *int32
	Threshold                        *float64
	ComparisonOperator               *string           `max:"64"`
	TreatMissingData                 *string           `max:"255"`
	EvaluateLowSampleCountPercentile *string           `max:"255"`
	Metrics                          []MetricDataQuery `max:"20"  wrap:"member"`
	ThresholdMetricId                *string           `max:"255"`
	EvaluationCriteria               *evaluationCriteria
	EvaluationInterval               *int32
	EvaluationWindow                 *EvaluationWindow
	WarmUpConfiguration              *WarmUpConfiguration
}

// evaluationCriteria are the criteria of PromQL alarms, which are refused.
type evaluationCriteria struct {
	PromQLCriteria *struct {
		Query *string `max:"10000"`
	}
}

// EvaluationWindow is the position of the evaluated periods: one of its members is set.
type EvaluationWindow struct {
	SlidingWindow   *service.Empty
	WallClockWindow *WallClockWindow
}

// WallClockWindow makes periods end by the clock of a time zone.
type WallClockWindow struct {
	Timezone *string `max:"50"`
}

// WarmUpConfiguration delays the evaluation of a new alarm.
type WarmUpConfiguration struct {
	WarmUpPeriodDurationInMinutes            *int32
	OnlyStartEvaluatingAfterWarmUpPeriodEnds *bool
}

func (s alarms) putMetricAlarm(
	ctx context.Context, c *protocol.Call, in *putMetricAlarmInput,
) (*service.Empty, error) {
	may := func(name monitor.Name, tags map[string]string) error {
		return s.allowAlarm(c, "PutMetricAlarm", name, tags)
	}
	is, tags, err := s.newAlarm(c, &in.alarmInput, may, in.describe)
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, true, func(tx *monitor.Tx) error { return s.putAlarm(tx, is, tags) })
}

// describe sets the metric that the alarm watches, and its threshold.
func (in *putMetricAlarmInput) describe(a *monitor.Alarm) error {
	if err := in.checkBand(); err != nil {
		return err
	}
	switch {
	case in.EvaluationCriteria != nil || in.EvaluationInterval != nil:
		return protocol.ValidationError(
			"Alarms on PromQL queries are not supported by Sluice: leave out EvaluationCriteria and EvaluationInterval.",
		)
	case len(in.Metrics) > 0 && in.ofMetric() != "":
		return protocol.ValidationError("%s should not be set if list of Metrics is set.", in.ofMetric())
	}
	a.ThresholdID = text(in.ThresholdMetricId)
	a.Missing, a.LowSamples = alarm.Missing(text(in.TreatMissingData)), text(in.EvaluateLowSampleCountPercentile)
	for _, set := range []func(*monitor.Alarm) error{in.metric, in.rule, in.period, in.window, in.warmUp} {
		if err := set(a); err != nil {
			return err
		}
	}
	return nil
}

// ofMetric returns the first parameter that only alarms on one metric have, if any.
func (in *putMetricAlarmInput) ofMetric() string {
	for _, p := range []struct {
		name string
		set  bool
	}{
		{"MetricName", in.MetricName != nil}, {"Namespace", in.Namespace != nil},
		{"Dimensions", len(in.Dimensions) > 0},
		{"Period", in.Period != nil},
		{"Unit", in.Unit != nil}, {"Statistic", in.Statistic != nil},
		{"ExtendedStatistic", in.ExtendedStatistic != nil},
	} {
		if p.set {
			return p.name
		}
	}
	return ""
}

// metric sets the metric that the alarm watches.
func (in *putMetricAlarmInput) metric(a *monitor.Alarm) error {
	if len(in.Metrics) > 0 {
		var err error
		if a.Queries, err = queriesOf(in.Metrics); err != nil {
			return err
		}
		if err := checkSize(a.Queries); err != nil {
			return err
		}
		if err := checkAccounts(in.Metrics, a.Account); err != nil {
			return err
		}
		return checkMath(a)
	}
	switch {
	case in.MetricName == nil:
		return errNull("MetricName")
	case in.Namespace == nil:
		return errNull("Namespace")
	case !isASCII(*in.MetricName):
		return protocol.ValidationError("MetricName must not contain Non-ASCII characters")
	}
	a.Metric = &metricdata.Stat{
		Namespace: *in.Namespace, Metric: *in.MetricName, Dimensions: dimensionsOf(in.Dimensions),
		Statistic: text(in.Statistic) + text(in.ExtendedStatistic), Period: seconds(in.Period), Unit: text(in.Unit),
	}
	switch {
	case in.Period == nil:
		return errNull("Period")
	case !isAlarmPeriod(a.Metric.Period):
		return errPeriod()
	}
	if (in.Statistic == nil) == (in.ExtendedStatistic == nil) {
		return protocol.ValidationError("Exactly one of Statistic and ExtendedStatistic must be specified")
	}
	if statistic, ok := metricdata.ParseStatistic(a.Metric.Statistic); !ok ||
		in.ExtendedStatistic != nil && !statistic.IsExtended() {
		return protocol.ValidationError(
			"The value %s for parameter ExtendedStatistic is not supported.",
			service.Shorten(a.Metric.Statistic),
		)
	}
	if in.Statistic != nil && in.EvaluateLowSampleCountPercentile != nil {
		return protocol.ValidationError("EvaluateLowSampleCountPercentile is only applicable to percentile based metrics.")
	}
	if _, ok := twice(a.Metric.Dimensions); ok {
		return errValue(sameDimension)
	}
	_, err := a.Plan()
	return failure(err)
}

// checkSize refuses more metrics or more expressions than an alarm can have.
func checkSize(queries []metricdata.Query) error {
	metrics := 0
	for _, q := range queries {
		if q.Stat != nil {
			metrics++
		}
	}
	switch {
	case metrics > mostInAlarm:
		return protocol.ValidationError("The metrics list of an alarm can have at most %d metrics.", mostInAlarm)
	case len(queries)-metrics > mostInAlarm:
		return protocol.ValidationError("The metrics list of an alarm can have at most %d expressions.", mostInAlarm)
	}
	return nil
}

// checkMath checks that an alarm can use queries.
func checkMath(a *monitor.Alarm) error {
	if slices.ContainsFunc(a.Queries, func(q metricdata.Query) bool {
		return !idPattern.MatchString(q.ID) || q.Stat != nil && !isStatistic(q.Stat.Statistic)
	}) {
		return protocol.ValidationError("Invalid metrics list")
	}
	plan, err := a.Plan()
	if err != nil {
		return failure(err)
	}
	if !slices.ContainsFunc(a.Queries, func(q metricdata.Query) bool { return q.Stat != nil || q.Period != 0 }) {
		return errNull("Period")
	}
	if plan.Searches() {
		return protocol.ValidationError("SEARCH is not supported on Metric Alarms.")
	}
	if a.ThresholdID != "" {
		return checkThreshold(a, plan)
	}
	if len(plan.Returned()) != 1 {
		return protocol.ValidationError("Exactly one element of the metrics list should return data.")
	}
	if err := checkGroups(a); err != nil {
		return err
	}
	return checkShape(plan, plan.Returned()[0])
}

// checkGroups checks that an alarm watches no query with several time series.
func checkGroups(a *monitor.Alarm) error {
	for _, q := range a.Queries {
		if !insights.Is(q.Expression) || !q.Return {
			continue
		}
		parsed, err := insights.Parse(q.Expression)
		switch {
		case err != nil || len(parsed.GroupBy) == 0:
		case parsed.Order == "":
			return protocol.ValidationError(severalSeries)
		default:
			return protocol.ValidationError("An alarm watches one time series: the query %s must not have GROUP BY.", q.ID)
		}
	}
	return nil
}

const severalSeries = "Metrics expression that return multi time series are only allowed for MetricsInsights " +
	"expression with an ORDER BY clause"

// checkShape checks that a query that an alarm watches results in one time series.
func checkShape(plan *metricdata.Plan, id string) error {
	switch plan.Shape(id) {
	case metricdata.SeveralSeries:
		return protocol.ValidationError(severalSeries)
	case metricdata.OneNumber:
		return protocol.ValidationError("Error in expression '%s': it results in a number, and an alarm watches a time series.", id)
	}
	return nil
}

func isStatistic(name string) bool {
	_, ok := metricdata.ParseStatistic(name)
	return ok
}

// rule sets threshold and periods.
func (in *putMetricAlarmInput) rule(a *monitor.Alarm) error {
	var v protocol.Violations
	v.Enum(
		"comparisonOperator",
		in.ComparisonOperator,
		string(alarm.GreaterOrEqual),
		string(alarm.Greater),
		string(alarm.Less),
		string(alarm.LessOrEqual),
		string(alarm.Outside), string(alarm.Below), string(alarm.Above),
	)
	v.Enum(
		"treatMissingData",
		in.TreatMissingData,
		string(alarm.Breaching),
		string(alarm.NotBreaching),
		string(alarm.Ignored),
		string(alarm.AsMissing),
	)
	v.Enum("evaluateLowSampleCountPercentile", in.EvaluateLowSampleCountPercentile, "evaluate", "ignore")
	a.Comparison = alarm.Comparison(v.Required("comparisonOperator", in.ComparisonOperator))
	if in.EvaluationPeriods == nil {
		v.Required("evaluationPeriods", nil)
	}
	if err := v.Err(); err != nil {
		return err
	}
	switch {
	case in.ThresholdMetricId != nil:
	case in.Threshold == nil:
		return errNull("Threshold")
	case math.IsNaN(*in.Threshold) || math.IsInf(*in.Threshold, 0):
		return errValue("The value %s for parameter Threshold is invalid.", alarm.JavaDouble(*in.Threshold))
	default:
		a.Threshold = *in.Threshold
	}
	a.Periods = int(*in.EvaluationPeriods)
	if in.DatapointsToAlarm != nil {
		a.ToAlarm = int(*in.DatapointsToAlarm)
	}
	if a.ToAlarm > a.Periods {
		return protocol.ValidationError("DatapointsToAlarm must be less than or equal to EvaluationPeriods")
	}
	return nil
}

// errNull refuses an alarm without a parameter that it needs.
func errNull(name string) *protocol.Error {
	return protocol.ValidationError("%s must not be null", name)
}

// isAlarmPeriod reports whether an alarm can have a metric of that period.
func isAlarmPeriod(period time.Duration) bool {
	return series.IsPeriod(period) && period >= monitor.FineEvery
}

func errPeriod() *protocol.Error {
	return protocol.ValidationError("Period must be 10, 20, 30 or a multiple of 60")
}

// period checks the total length of the evaluated periods.
func (in *putMetricAlarmInput) period(a *monitor.Alarm) error {
	plan, err := a.Plan()
	if err != nil {
		return failure(err)
	}
	period := plan.Period()
	switch own := plan.Uses(func(s *metricdata.Stat) bool {
		return s.Period < series.Minute && monitor.IsOwn(s.Namespace)
	}); {
	case own:
		return protocol.ValidationError(`Only a period greater than 60s is supported for metrics in the "AWS/" namespaces`)
	case plan.Uses(func(s *metricdata.Stat) bool { return !isAlarmPeriod(s.Period) }):
		return errPeriod()
	}
	most, span, which := maxLong, "week", ">="
	if period < time.Hour {
		most, span, which = maxShort, "day", "<"
	}
	if time.Duration(a.Periods)*period > most {
		return protocol.ValidationError("Metrics cannot be checked across more than a %s "+
			"(EvaluationPeriods * Period must be <= %d) for alarms using period %s 3600",
			span, int(most/time.Second), which)
	}
	return nil
}

// wallClockPeriods are the periods that can end by the clock.
var wallClockPeriods = []time.Duration{series.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

func (in *putMetricAlarmInput) window(a *monitor.Alarm) error {
	w := in.EvaluationWindow
	if w == nil {
		return nil
	}
	if (w.SlidingWindow == nil) == (w.WallClockWindow == nil) {
		return protocol.ValidationError("EvaluationWindow must have exactly one of SlidingWindow and WallClockWindow.")
	}
	if w.SlidingWindow != nil {
		a.Window.Kind = monitor.Sliding
		return nil
	}
	plan, err := a.Plan()
	if err != nil {
		return failure(err)
	}
	if !slices.Contains(wallClockPeriods, plan.Period()) {
		return protocol.ValidationError("With a WallClockWindow the period must be 60, 300, 3600, 86400 or 604800 seconds.")
	}
	zone := text(w.WallClockWindow.Timezone)
	if _, ok := monitor.Location(zone); !ok {
		return protocol.ValidationError(
			"The time zone %q is not known. Use a name such as America/New_York or an offset such as +05:30.",
			zone,
		)
	}
	a.Window = monitor.Window{Kind: monitor.WallClock, Timezone: zone}
	return nil
}

// warmUp sets how long the alarm warms up.
func (in *putMetricAlarmInput) warmUp(a *monitor.Alarm) error {
	if w := in.WarmUpConfiguration; w != nil {
		a.WarmUp = &monitor.WarmUp{
			Minutes: int(*w.WarmUpPeriodDurationInMinutes),
			Fully:   w.OnlyStartEvaluatingAfterWarmUpPeriodEnds != nil && *w.OnlyStartEvaluatingAfterWarmUpPeriodEnds,
		}
	}
	return nil
}
