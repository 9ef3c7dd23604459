package prom

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicemq/sluice/internal/queue"
)

// QueuesAtMost is the maximum number of queues with separate metrics on one page.
const QueuesAtMost = 2000

// other is the name of all other queues together.
const other = "_other"

var (
	queueLabels   = []string{"account", "region", "queue"}
	queueMessages = desc(
		"queue",
		"messages",
		"Messages in the queue, by state: visible, in_flight, delayed.",
		append(queueLabels, "state")...)
	queueAge = desc(
		"queue", "oldest_message_age_seconds", "Age of the oldest message at the end of the last minute.",
		queueLabels...,
	)
	queueGroups = desc(
		"queue",
		"groups_in_flight",
		"FIFO queues: message groups with messages in flight, at the end of the last minute.",
		queueLabels...)
	queueNoisy = desc(
		"queue",
		"noisy_groups",
		"Standard queues: message groups that take consumers' time from the others, at the end of the last minute.",
		queueLabels...)
	queueWait = desc(
		"queue",
		"wait_seconds",
		"Time from the send of messages to their first receive, including delays. Since the queue's shard was opened here.",
		queueLabels...)
	queueProcess = desc(
		"queue",
		"processing_seconds",
		"Time from the last receive of messages to their deletion. Since the queue's shard was opened here.",
		queueLabels...)
	queueCounted = func() (out [queue.Counters]*prometheus.Desc) {
		for i, c := range counted {
			out[i] = desc("queue", c.name, c.help+" Since the queue's shard was opened here.", queueLabels...)
		}
		return out
	}()
)

// Queues returns a collector of the metrics of single queues whose names begin with a prefix. Of more than
// QueuesAtMost, those with the most messages have separate metrics, and the messages of all others are counted
// together.
func Queues(standings []queue.Standing, prefix string) prometheus.Gatherer {
	registry := prometheus.NewRegistry()
	registry.MustRegister(standingQueues(chosen(standings, prefix)))
	return registry
}

// chosen returns the queues whose names begin with a prefix, those with the most messages first.
func chosen(standings []queue.Standing, prefix string) []queue.Standing {
	return named(standings, prefix, func(s *queue.Standing) string { return s.ARN }, together, messages)
}

// named returns the queues or topics whose names begin with a prefix, the largest first. It merges the states of one
// queue or topic on several shards of this node.
func named[T any](
	standings []T, prefix string, arnOf func(*T) string, together func(a, b T) T, size func(T) uint64,
) []T {
	byARN := make(map[string]int)
	var out []T
	for _, s := range standings {
		arn := arnOf(&s)
		if !strings.HasPrefix(nameOf(arn), prefix) {
			continue
		}
		if i, found := byARN[arn]; found {
			out[i] = together(out[i], s)
			continue
		}
		byARN[arn] = len(out)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b T) int {
		return cmp.Or(cmp.Compare(size(b), size(a)), cmp.Compare(arnOf(&a), arnOf(&b)))
	})
	return out
}

// together adds the states of a queue on two shards.
func together(a, b queue.Standing) queue.Standing {
	a.Counts.Visible += b.Counts.Visible
	a.Counts.InFlight += b.Counts.InFlight
	a.Counts.Delayed += b.Counts.Delayed
	for m := range a.Happened {
		a.Happened[m] += b.Happened[m]
	}
	a.Wait, a.Processing = a.Wait.Add(b.Wait), a.Processing.Add(b.Processing)
	switch {
	case a.Last == nil || b.Last != nil && b.Last.Time > a.Last.Time:
		a.Last = b.Last
	case b.Last != nil && b.Last.Time == a.Last.Time:
		sum := *a.Last
		sum.Add(b.Last)
		a.Last = &sum
	}
	return a
}

func messages(s queue.Standing) uint64 {
	return s.Counts.Visible + s.Counts.InFlight + s.Counts.Delayed
}

// nameOf returns the name in the ARN of a queue.
func nameOf(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }

// labelsOf returns account, region and name.
func labelsOf(arn string) []string {
	part := strings.Split(arn, ":")
	if len(part) != 6 {
		return []string{"", "", arn}
	}
	return []string{part[4], part[3], part[5]}
}

// standingQueues holds queues in the order in which they get separate metrics.
type standingQueues []queue.Standing

// Describe implements prometheus.Collector.
func (s standingQueues) Describe(out chan<- *prometheus.Desc) {
	for _, d := range append(
		queueCounted[:], queueMessages, queueAge, queueGroups, queueNoisy, queueWait, queueProcess,
	) {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (s standingQueues) Collect(out chan<- prometheus.Metric) {
	n := min(len(s), QueuesAtMost)
	for i := range s[:n] {
		q := &s[i]
		labels := labelsOf(q.ARN)
		collectMessages(out, q, labels)
		for m, d := range queueCounted {
			counter(out, d, float64(max(0, q.Happened[m])), labels...)
		}
		histogram(out, queueWait, q.Wait, labels...)
		histogram(out, queueProcess, q.Processing, labels...)
		if q.Last == nil {
			continue
		}
		if q.FIFO {
			gauge(out, queueGroups, float64(q.Last.Values[queue.MetricGroupsInFlight].Sum), labels...)
		} else {
			gauge(out, queueNoisy, float64(q.Last.Values[queue.MetricNoisyGroups].Sum), labels...)
		}
	}
	if rest := s[n:]; len(rest) > 0 {
		var all queue.Standing
		for _, q := range rest {
			all = together(all, q)
		}
		collectMessages(out, &all, []string{"", "", other})
	}
}

func collectMessages(out chan<- prometheus.Metric, q *queue.Standing, labels []string) {
	for _, state := range []struct {
		name string
		n    uint64
	}{{"visible", q.Counts.Visible}, {"in_flight", q.Counts.InFlight}, {"delayed", q.Counts.Delayed}} {
		gauge(out, queueMessages, float64(state.n), append(slices.Clone(labels), state.name)...)
	}
	if q.Last != nil {
		gauge(out, queueAge, float64(q.Last.Values[queue.MetricOldestAge].Sum), labels...)
	}
}

// histogram adds a histogram, if it has observations.
func histogram(out chan<- prometheus.Metric, d *prometheus.Desc, h *queue.Histogram, labels ...string) {
	if h == nil {
		return
	}
	buckets := make(map[float64]uint64, len(queue.HistogramBounds))
	n := uint64(0)
	for i, bound := range queue.HistogramBounds {
		n += h.Buckets[i]
		buckets[bound.Seconds()] = n
	}
	n += h.Buckets[len(queue.HistogramBounds)]
	out <- prometheus.MustNewConstHistogram(d, n, h.Sum.Seconds(), buckets, labels...)
}
