package prom

import "github.com/prometheus/client_golang/prometheus"

// TrailDrops is the number of dropped events of the trail on this node: while they were recorded, and while they waited
// for delivery to buckets.
type TrailDrops struct {
	ManagementRecording, ManagementDelivery uint64
	DataRecording, DataDelivery             uint64
}

// Trail adds the metric of dropped events. The function is called for each collection.
func (m *Metrics) Trail(drops func() TrailDrops) { m.registry.MustRegister(trailDrops(drops)) }

type trailDrops func() TrailDrops

var trailDropped = desc(
	"trail",
	"events_dropped_total",
	"Events of calls that were dropped because there were too many: of management calls or data, while they were recorded "+
		"or while they waited for delivery to the bucket of a trail.",
	"kind",
	"stage",
)

// Describe implements prometheus.Collector.
func (trailDrops) Describe(out chan<- *prometheus.Desc) { out <- trailDropped }

// Collect implements prometheus.Collector.
func (f trailDrops) Collect(out chan<- prometheus.Metric) {
	d := f()
	counter(out, trailDropped, float64(d.ManagementRecording), "management", "recording")
	counter(out, trailDropped, float64(d.ManagementDelivery), "management", "delivery")
	counter(out, trailDropped, float64(d.DataRecording), "data", "recording")
	counter(out, trailDropped, float64(d.DataDelivery), "data", "delivery")
}
