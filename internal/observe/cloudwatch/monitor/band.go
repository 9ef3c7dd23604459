package monitor

import (
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
)

// queries returns the alarm's queries. The query of the band is always in the answer.
func (a *Alarm) queries() []metricdata.Query {
	if a.ThresholdID == "" {
		return a.Queries
	}
	out := slices.Clone(a.Queries)
	for i := range out {
		if out[i].ID == a.ThresholdID {
			out[i].Return = true
		}
	}
	return out
}

// withBands returns the datapoints of an alarm on a band of expected values. Datapoints without expected values are
// missing.
func (a *Alarm) withBands(results []metricdata.Result) (points []alarm.Datapoint, err error) {
	var watched []metricdata.Result
	var edges [][]metricdata.Datapoint
	for _, r := range results {
		if r.ID == a.ThresholdID {
			edges = append(edges, r.Points)
		} else {
			watched = append(watched, r)
		}
	}
	if len(watched) != 1 || len(edges) != 2 {
		return nil, unfit(
			"there are %d time series and %d edges of bands, and an alarm watches one beside two", len(watched), len(edges),
		)
	}
	bands := make(map[int64]*alarm.Band, len(edges[0])) // by Unix time
	for i, low := range edges[0] {                      // both edges have the same times
		bands[low.Time.Unix()] = &alarm.Band{Low: low.Value, High: edges[1][i].Value}
	}
	for _, p := range watched[0].Points {
		if b := bands[p.Time.Unix()]; b != nil {
			points = append(points, alarm.Datapoint{Time: p.Time, Count: p.Count, Value: p.Value, Band: b})
		}
	}
	return points, nil
}

// usesBand reports whether the alarm is on a band of expected values, or on an expression that has one.
func (a *Alarm) usesBand() bool {
	return a.ThresholdID != "" || slices.ContainsFunc(a.Queries, func(q metricdata.Query) bool {
		return strings.Contains(q.Expression, "ANOMALY_DETECTION_BAND")
	})
}

// mayHaveBand returns an error if an alarm uses a band, and not all programs know such alarms.
func (tx *Tx) mayHaveBand(a *Alarm) error {
	if !a.usesBand() {
		return nil
	}
	return tx.monitor.records.MayNeed(formats.Detectors)
}
