package prom

import "github.com/prometheus/client_golang/prometheus"

// Delivery is the number of attempts with an outcome to deliver a message of a topic to an endpoint.
type Delivery struct {
	Protocol, Outcome string
	Number            uint64
}

// Deliveries adds the metrics of topics' deliveries. Both functions are called for each collection.
func (m *Metrics) Deliveries(counts func() []Delivery, sending func() int64) {
	m.registry.MustRegister(&deliveries{counts, sending})
}

type deliveries struct {
	counts  func() []Delivery
	sending func() int64
}

var (
	deliveryAttempts = desc(
		"topic",
		"delivery_attempts_total",
		"Attempts to deliver a message of a topic to an endpoint, by outcome: delivered, retried, dead-lettered or dropped.",
		"protocol",
		"outcome",
	)
	deliverySending = desc("topic", "deliveries_in_flight", "Attempts in progress.")
)

// Describe implements prometheus.Collector.
func (d *deliveries) Describe(out chan<- *prometheus.Desc) {
	out <- deliveryAttempts
	out <- deliverySending
}

// Collect implements prometheus.Collector.
func (d *deliveries) Collect(out chan<- prometheus.Metric) {
	for _, c := range d.counts() {
		counter(out, deliveryAttempts, float64(c.Number), c.Protocol, c.Outcome)
	}
	gauge(out, deliverySending, float64(d.sending()))
}
