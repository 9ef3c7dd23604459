package prom

import (
	"strings"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/queueseries"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/queue"
)

// statistics are the statistics of each metric, by the suffix of the name.
var statistics = []struct {
	name string
	of   func(series.Point) float64
}{
	{"sum", func(p series.Point) float64 { return p.Sum }},
	{"average", series.Point.Average},
	{"minimum", func(p series.Point) float64 { return p.Min }},
	{"maximum", func(p series.Point) float64 { return p.Max }},
	{"sample_count", func(p series.Point) float64 { return p.Count }},
}

// CloudWatch returns a collector of the metrics of single queues under the names that YACE and cloudwatch_exporter
// derive from CloudWatch's: of the last complete minute. It has the QueuesAtMost queues with the most messages.
func CloudWatch(standings []queue.Standing, prefix string) prometheus.Gatherer {
	queues := chosen(standings, prefix)
	registry := prometheus.NewRegistry()
	registry.MustRegister(cloudWatch(queues[:min(len(queues), QueuesAtMost)]))
	return registry
}

type cloudWatch []queue.Standing

// Describe implements prometheus.Collector: the metrics depend on the queues.
func (cloudWatch) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c cloudWatch) Collect(out chan<- prometheus.Metric) {
	for _, m := range series.Metrics(series.SQS) {
		for _, statistic := range statistics {
			d := prometheus.NewDesc(
				"aws_sqs_"+snake(m.Name)+"_"+statistic.name,
				m.Name+", "+statistic.name+" of the last minute, in "+strings.ToLower(m.Unit)+".",
				[]string{"account_id", "region", "dimension_QueueName", "queue_name", "name"},
				nil,
			)
			for i := range c {
				q := &c[i]
				if q.Last == nil {
					continue
				}
				if p, ok := queueseries.PointOf(m, q.ARN, q.Last); ok {
					labels := labelsOf(q.ARN)
					gauge(out, d, statistic.of(p), labels[0], labels[1], labels[2], labels[2], q.ARN)
				}
			}
		}
	}
}

// snake converts a name to Prometheus's form: MessagesSent to messages_sent.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
