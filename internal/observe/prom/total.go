package prom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicemq/sluice/internal/queue"
)

// counted are the counters of queues: the end of the name, and what it counts.
var counted = [queue.Counters]struct{ name, help string }{
	queue.MetricSent:          {"sent_total", "Messages that were accepted, and those that a task has moved here."},
	queue.MetricSentBytes:     {"sent_bytes_total", "Bytes of their bodies and attributes."},
	queue.MetricReceived:      {"received_total", "Deliveries of messages to consumers."},
	queue.MetricEmptyReceives: {"empty_receives_total", "Receives that returned no messages."},
	queue.MetricDeleted:       {"deleted_total", "Messages deleted by consumers."},
	queue.MetricDeduplicated:  {"deduplicated_total", "Messages not accepted because they repeat another message."},
	queue.MetricExpired:       {"expired_total", "Messages removed at the end of their retention."},
	queue.MetricDeadLettered:  {"dead_lettered_total", "Messages moved to the dead-letter queue."},
	queue.MetricMoved:         {"moved_total", "Messages taken out by message move tasks."},
}

// Totals adds the counters of all queues together, on this node.
func (m *Metrics) Totals(get func() [queue.Counters]int64) { m.registry.MustRegister(newTotals(get)) }

type totals struct {
	get   func() [queue.Counters]int64
	descs [queue.Counters]*prometheus.Desc
}

func newTotals(get func() [queue.Counters]int64) *totals {
	t := &totals{get: get}
	for i, c := range counted {
		t.descs[i] = desc("messages", c.name, c.help)
	}
	return t
}

// Describe implements prometheus.Collector.
func (t *totals) Describe(out chan<- *prometheus.Desc) {
	for _, d := range t.descs {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (t *totals) Collect(out chan<- prometheus.Metric) {
	for i, n := range t.get() {
		counter(out, t.descs[i], float64(n))
	}
}
