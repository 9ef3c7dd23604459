package prom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Backup adds the metrics of continuous backups: the age of the last one, unless another node makes them, and how many
// attempts have failed. The functions are called for each collection.
func (m *Metrics) Backup(age func() (age time.Duration, ok bool), failures func() uint64) {
	m.registry.MustRegister(backupAge{age: age, desc: prometheus.NewDesc(
		prometheus.BuildFQName(namespace, "", "backup_age_seconds"),
		"Age of the last continuous backup; until one is known, time since the server was started or has to make them. "+
			"Of a cluster, only the node that makes the backups has it.", nil, nil,
	)}, prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: namespace, Name: "backup_failures_total", Help: "Continuous backups that have failed.",
	}, func() float64 { return float64(failures()) }))
}

// backupAge collects the age of the last backup.
type backupAge struct {
	age  func() (time.Duration, bool)
	desc *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (b backupAge) Describe(out chan<- *prometheus.Desc) { out <- b.desc }

// Collect implements prometheus.Collector.
func (b backupAge) Collect(out chan<- prometheus.Metric) {
	if age, ok := b.age(); ok {
		out <- prometheus.MustNewConstMetric(b.desc, prometheus.GaugeValue, age.Seconds())
	}
}
