// Package prom counts and times what a server does, and says how the node that it
// is stands in its cluster, in the form of Prometheus.
//
// It guarantees that no metric names a queue, an account or a user: a reader of the metrics learns how much is done,
// and not who does what with which queue. And that counting a request allocates nothing.
//
// It does not know how metrics are served.
package prom
