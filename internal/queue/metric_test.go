package queue

import (
	"testing"

	"github.com/sluicemq/sluice/internal/formats"
)

// Stored rows of earlier programs have these numbers.
func TestStoredMetricsKeepTheirNumbers(t *testing.T) {
	for number, m := range []Metric{
		MetricSent, MetricSentBytes, MetricReceived, MetricEmptyReceives, MetricDeleted, MetricDeduplicated,
		MetricExpired,
		MetricDeadLettered, MetricMoved,
		MetricVisible, MetricInFlight, MetricDelayed, MetricOldestAge, MetricGroupsInFlight, MetricNoisyGroups,
		MetricVisibleInQuietGroups, MetricInFlightInQuietGroups, MetricDelayedInQuietGroups,
		MetricOldestAgeInQuietGroups,
	} {
		if int(m) != number {
			t.Errorf("metric %d of stored rows has the number %d", number, m)
		}
	}
	for number, m := range []TopicMetric{
		TopicPublished, TopicPublishedBytes, TopicDelivered, TopicFailed, TopicRedriven, TopicNotRedriven,
		TopicFiltered,
		TopicFilteredNoAttributes, TopicFilteredAttributes, TopicFilteredBody, TopicFilteredInvalidAttributes,
		TopicFilteredInvalidBody,
	} {
		if int(m) != number {
			t.Errorf("metric %d of stored rows of topics has the number %d", number, m)
		}
	}
}

// Programs refuse rows with unknown numbers of metrics. So a new metric needs a new format of the data directory, which
// the engine raises with the first row that has the metric. This list has each format with the number of metrics that
// its programs know.
func TestNewMetricsNeedAFormat(t *testing.T) {
	type known struct{ format, metrics int }
	for _, c := range []struct {
		what string
		now  int
		was  []known // from the first to the last format with new metrics
	}{
		{"queues", Metrics, []known{{formats.Series, 19}}},
		{"topics", TopicMetrics, []known{{formats.TopicSeries, 12}}},
	} {
		last := c.was[len(c.was)-1]
		if c.now != last.metrics {
			t.Errorf("%s have %d metrics, and programs of format %d know %d: a new metric needs a new format",
				c.what, c.now, last.format, last.metrics)
		}
		for i := range c.was[1:] {
			a, b := c.was[i], c.was[i+1]
			if a.format >= b.format || a.metrics >= b.metrics || b.format > formats.Newest {
				t.Errorf("%s: %+v comes before %+v", c.what, a, b)
			}
		}
	}
}
