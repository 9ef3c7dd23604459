package prom

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// namespace begins the names of all metrics but those of the Go runtime and the
// process.
const namespace = "sluice"

// Metrics are the metrics of one server.
type Metrics struct {
	registry *prometheus.Registry
	Requests *Requests
}

// New returns the metrics of a server of that version of the program, which has those
// operations; the names of a service's operations are under its own.
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

// Memory adds the metric of the memory that requests under way have taken for what they have sent.
func (m *Metrics) Memory(inUse func() int64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "requests_memory_bytes",
		Help: "Memory that requests under way have taken for what they have sent.",
	}, func() float64 { return float64(inUse()) }))
}

// Gatherer returns what collects the metrics, for the HTTP server that gives them out.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }
