// Package prom counts and times what a server does, and describes the state of its node in the cluster, as Prometheus
// metrics.
//
// It guarantees that no metric names a queue, an account or a user: a reader of the metrics learns how much is done,
// but not by which user or with which queue. Counting a request allocates nothing.
//
// It does not know how metrics are served.
package prom
