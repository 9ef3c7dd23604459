package prom

import "github.com/prometheus/client_golang/prometheus"

// Disk adds the metrics of the disk with the data. Both functions are called for each collection; if free returns an
// error, the metrics are omitted.
func (m *Metrics) Disk(free func() (free, total uint64, err error), low func() bool) {
	m.registry.MustRegister(&disk{free, low})
}

type disk struct {
	free func() (free, total uint64, err error)
	low  func() bool
}

var (
	diskFree = desc("disk", "free_bytes", "Free space of the disk with the data.")
	diskSize = desc("disk", "size_bytes", "Size of the disk with the data.")
	diskLow  = desc("disk", "low", "1 while nothing can be added because too little space is free.")
)

// Describe implements prometheus.Collector.
func (d *disk) Describe(out chan<- *prometheus.Desc) {
	for _, x := range []*prometheus.Desc{diskFree, diskSize, diskLow} {
		out <- x
	}
}

// Collect implements prometheus.Collector.
func (d *disk) Collect(out chan<- prometheus.Metric) {
	if free, total, err := d.free(); err == nil {
		gauge(out, diskFree, float64(free))
		gauge(out, diskSize, float64(total))
	}
	gauge(out, diskLow, number(d.low()))
}

func desc(subsystem, name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, subsystem, name), help, labels, nil)
}

func gauge(out chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func counter(out chan<- prometheus.Metric, d *prometheus.Desc, v float64, labels ...string) {
	out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
