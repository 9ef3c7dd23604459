package prom

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// namespace begins the names of all metrics, except those of the Go runtime and the process.
const namespace = "sluice"

// Metrics are the metrics of one server.
type Metrics struct {
	registry *prometheus.Registry
	Requests *Requests
}

// New returns the metrics of a server with that version of the program and those operations, by service.
func New(version string, operations map[string][]string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), Requests: newRequests(operations)}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "1, with the version of the program.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		build, m.Requests.total, m.Requests.duration, m.Requests.inFlight,
	)
	return m
}

// Memory adds the metric of the memory that requests in progress hold for their input.
func (m *Metrics) Memory(inUse func() int64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "requests_memory_bytes",
		Help: "Memory for the bodies of requests in progress.",
	}, func() float64 { return float64(inUse()) }))
}

// Gatherer returns the gatherer of the metrics, for the HTTP server.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }
