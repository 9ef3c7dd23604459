package queue

import "testing"

// Rows of months ago have these numbers.
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
