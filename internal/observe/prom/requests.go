package prom

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Outcome is the outcome of a request.
type Outcome int

// The outcomes. Gone means that the client did not wait for its answer.
const (
	OK Outcome = iota
	ClientError
	ServerError
	Gone
)

var outcomes = [...]string{OK: "2xx", ClientError: "4xx", ServerError: "5xx", Gone: "gone"}

// OutcomeOf returns the outcome for an HTTP status.
func OutcomeOf(status int) Outcome {
	switch {
	case status >= 500:
		return ServerError
	case status >= 400:
		return ClientError
	}
	return OK
}

// buckets are in seconds: from a receive from memory to the longest poll, and a backup.
var buckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 21, 60}

// Requests counts requests by operation. Its methods are safe for concurrent use.
type Requests struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	inFlight prometheus.Gauge

	operations map[name]*operation // never changed
	unknown    *operation
}

// name is the name of an operation.
type name struct{ service, operation string }

// operation holds the metrics of one operation, created at its first call: most operations of a server are never
// called.
type operation struct {
	name     name
	once     sync.Once
	total    [len(outcomes)]prometheus.Counter
	duration prometheus.Observer
}

func newRequests(operations map[string][]string) *Requests {
	labels := []string{"service", "operation"}
	r := &Requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "requests_total",
			Help: "Finished requests, by operation and class of the status; gone: the client did not wait for the answer.",
		}, append(labels, "code")),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "request_duration_seconds",
			Help:    "Time from the header of a request to the end of its answer, including long polls.",
			Buckets: buckets,
		}, labels),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "requests_in_flight", Help: "Requests in progress, including long polls.",
		}),
		operations: make(map[name]*operation),
		unknown:    &operation{name: name{"unknown", "unknown"}},
	}
	for service, names := range operations {
		for _, n := range names {
			r.operations[name{service, n}] = &operation{name: name{service, n}}
		}
	}
	return r
}

// Begin counts a request as in progress until Done or Drop.
func (r *Requests) Begin() { r.inFlight.Inc() }

// Drop undoes Begin, and counts nothing.
func (r *Requests) Drop() { r.inFlight.Dec() }

// Done counts a finished request. An unknown operation counts as unknown, so that clients cannot create metrics.
func (r *Requests) Done(service, op string, o Outcome, took time.Duration) {
	r.inFlight.Dec()
	m := r.operations[name{service, op}]
	if m == nil {
		m = r.unknown
	}
	m.once.Do(func() {
		for i, class := range outcomes {
			m.total[i] = r.total.WithLabelValues(m.name.service, m.name.operation, class)
		}
		m.duration = r.duration.WithLabelValues(m.name.service, m.name.operation)
	})
	m.total[o].Inc()
	m.duration.Observe(took.Seconds())
}
