package prom

import "github.com/prometheus/client_golang/prometheus"

// Idle adds the metrics of deleted unused queues.
func (m *Metrics) Idle(announced func() int, deleted func() uint64) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "idle_queues_announced", Help: "Unused queues that will be deleted.",
		}, func() float64 { return float64(announced()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "idle_queues_deleted_total", Help: "Unused queues that this node has deleted.",
		}, func() float64 { return float64(deleted()) }),
	)
}
