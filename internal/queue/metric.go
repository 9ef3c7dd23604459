package queue

import "time"

// Metric is the number of a counter or a gauge. It is stored: a number is never reused or shifted, and a new metric
// gets the next one, behind the last gauge. Programs that do not know a number refuse rows with it.
type Metric uint8

// The metrics. Counters count events of a minute; gauges are the state of the queue at its end.
const (
	MetricSent          Metric = iota // accepted messages; messages redriven from another queue do not count
	MetricSentBytes                   // their bodies and attributes
	MetricReceived                    // messages delivered to consumers
	MetricEmptyReceives               // receives of clients that returned no messages
	MetricDeleted                     // messages that clients deleted, even if they were already gone
	MetricDeduplicated                // messages not accepted because they repeat another one
	MetricExpired
	MetricDeadLettered // messages moved to the dead-letter queue
	MetricMoved        // messages that move tasks took out
	metricGauges       // what follows are gauges
)

// The gauges.
const (
	MetricVisible               Metric = metricGauges + iota
	MetricInFlight                     // received and not deleted
	MetricDelayed                      // waiting for their delay to end
	MetricOldestAge                    // in seconds
	MetricGroupsInFlight               // FIFO queues: groups with messages in flight
	MetricNoisyGroups                  // standard queues: see fairness
	MetricVisibleInQuietGroups         // messages outside noisy groups
	MetricInFlightInQuietGroups        // this and the next two: likewise
	MetricDelayedInQuietGroups
	MetricOldestAgeInQuietGroups
	metricsEnd // behind the last
)

// Counters is the number of counters, and Metrics the number of all metrics.
const (
	Counters = int(metricGauges)
	Metrics  = int(metricsEnd)
)

// IsGauge reports whether m is a gauge.
func (m Metric) IsGauge() bool { return m >= metricGauges }

// isAge reports whether values of m combine to their maximum instead of their sum.
func (m Metric) isAge() bool { return m == MetricOldestAge || m == MetricOldestAgeInQuietGroups }

// Value is the value of a metric in a row. In a row of one minute all three numbers are equal, except for SentBytes:
// there, Min and Max are the sizes of single messages.
type Value struct{ Sum, Min, Max uint64 }

// Row holds the events and the state of a queue in the minute from Time on. An old row covers several minutes.
type Row struct {
	Time Instant
	// Minutes is the number of minutes in the row. Minutes in which the queue was inactive or the server did not run do
	// not count.
	Minutes uint64
	Values  [Metrics]Value
	// Sizes is the distribution of message sizes. It is nil if it follows from the minimum and the maximum, is unknown,
	// or was not requested. It is immutable.
	Sizes *Sizes
}

// merge adds a row of a later time to r.
func (r *Row) merge(next *Row) {
	sizes := mergeSizes(r, next)
	r.Sizes = mergedSizes(r, next)
	for m := range r.Values {
		v, n := &r.Values[m], next.Values[m]
		*v = Value{v.Sum + n.Sum, min(v.Min, n.Min), max(v.Max, n.Max)}
	}
	r.Values[MetricSentBytes] = sizes
	r.Minutes += next.Minutes
}

// Add adds a row of the same minutes to r: from another shard of the queue, or from an earlier queue of the same name.
func (r *Row) Add(other *Row) {
	sizes := mergeSizes(r, other)
	r.Sizes = mergedSizes(r, other)
	for m := range r.Values {
		v, o := &r.Values[m], other.Values[m]
		if Metric(m).isAge() {
			*v = Value{max(v.Sum, o.Sum), max(v.Min, o.Min), max(v.Max, o.Max)}
		} else {
			*v = Value{v.Sum + o.Sum, v.Min + o.Min, v.Max + o.Max}
		}
	}
	r.Values[MetricSentBytes] = sizes
	r.Minutes = max(r.Minutes, other.Minutes)
}

// mergeSizes combines the SentBytes of two rows. A row without sent messages has no sizes.
func mergeSizes(r, other *Row) Value {
	v, o := r.Values[MetricSentBytes], other.Values[MetricSentBytes]
	switch {
	case other.Values[MetricSent].Sum == 0:
		return v
	case r.Values[MetricSent].Sum == 0:
		return o
	}
	return Value{v.Sum + o.Sum, min(v.Min, o.Min), max(v.Max, o.Max)}
}

// set sets a metric of a row of one minute.
func (r *Row) set(m Metric, n uint64) { r.Values[m] = Value{n, n, n} }

// minuteOf returns the minute of an instant.
func minuteOf(t Instant) Instant { return t - t%minute }

const minute = Instant(time.Minute / time.Millisecond)
