package prom

import "github.com/prometheus/client_golang/prometheus"

// Idle adds the metrics of queues that are deleted because nobody uses them.
func (m *Metrics) Idle(announced func() int, deleted func() uint64) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "idle_queues_announced", Help: "Queues that will be deleted because nobody uses them.",
		}, func() float64 { return float64(announced()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "idle_queues_deleted_total", Help: "Queues that this node has deleted because nobody used them.",
		}, func() float64 { return float64(deleted()) }),
	)
}
