package prom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicemq/sluice/internal/queue"
)

// TopicsAtMost is the maximum number of topics with separate metrics on one page.
const TopicsAtMost = 2000

// topicCounted are the counters of topics: the end of the name, and the help text.
var topicCounted = [queue.TopicMetrics]struct{ name, help string }{
	queue.TopicPublished:      {"published_total", "Published messages."},
	queue.TopicPublishedBytes: {"published_bytes_total", "Bytes of their texts and attributes."},
	queue.TopicDelivered:      {"delivered_total", "Copies delivered to queues and endpoints."},
	queue.TopicFailed:         {"failed_total", "Copies whose delivery failed."},
	queue.TopicRedriven:       {"dead_lettered_total", "Failed copies that were moved to a dead-letter queue."},
	queue.TopicNotRedriven: {
		"dead_letter_failed_total",
		"Failed copies that the dead-letter queue did not accept.",
	},
	queue.TopicFiltered: {"filtered_total", "Copies that a filter policy rejected."},
	queue.TopicFilteredNoAttributes: {
		"filtered_no_attributes_total", "Of these, because the message had no attributes.",
	},
	queue.TopicFilteredAttributes: {"filtered_attributes_total", "Of these, because of the attributes."},
	queue.TopicFilteredBody:       {"filtered_body_total", "Of these, because of the text."},
	queue.TopicFilteredInvalidAttributes: {
		"filtered_invalid_attributes_total", "Of these, because the attributes could not be read.",
	},
	queue.TopicFilteredInvalidBody: {"filtered_invalid_body_total", "Of these, because the text is not JSON."},
}

var topicDescs = func() (out [queue.TopicMetrics]*prometheus.Desc) {
	for i, c := range topicCounted {
		out[i] = desc(
			"topic", c.name, c.help+" Since the shard that counts it was opened here.", "account", "region", "topic",
		)
	}
	return out
}()

// Topics returns a collector of the metrics of single topics whose names begin with a prefix: at most TopicsAtMost,
// those with the most messages.
func Topics(standings []queue.TopicStanding, prefix string) prometheus.Gatherer {
	registry := prometheus.NewRegistry()
	registry.MustRegister(standingTopics(chosenTopics(standings, prefix)))
	return registry
}

// chosenTopics returns the topics whose names begin with a prefix, those with the most messages first, TopicsAtMost at
// most.
func chosenTopics(standings []queue.TopicStanding, prefix string) []queue.TopicStanding {
	out := named(standings, prefix, func(s *queue.TopicStanding) string { return s.ARN }, topicTogether,
		func(s queue.TopicStanding) uint64 { return s.Happened[queue.TopicPublished] })
	return out[:min(len(out), TopicsAtMost)]
}

// topicTogether adds the counters of a topic on two shards.
func topicTogether(a, b queue.TopicStanding) queue.TopicStanding {
	for m, n := range b.Happened {
		a.Happened[m] += n
	}
	return a
}

// standingTopics holds topics with separate metrics.
type standingTopics []queue.TopicStanding

// Describe implements prometheus.Collector.
func (s standingTopics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range topicDescs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (s standingTopics) Collect(out chan<- prometheus.Metric) {
	for i := range s {
		labels := labelsOf(s[i].ARN)
		for m, n := range s[i].Happened {
			counter(out, topicDescs[m], float64(n), labels...)
		}
	}
}
