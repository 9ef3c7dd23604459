package prom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Backup adds the metrics of continuous backups: the age of the last one, and how many attempts have failed. The
// functions are called for each collection.
func (m *Metrics) Backup(age func() time.Duration, failures func() uint64) {
	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "backup_age_seconds",
			Help: "Age of the last continuous backup; until there is one, time since the server was started.",
		}, func() float64 { return age().Seconds() }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "backup_failures_total", Help: "Continuous backups that have failed.",
		}, func() float64 { return float64(failures()) }),
	)
}
