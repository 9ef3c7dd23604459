// Package cloudwatch implements the operations of CloudWatch with which people watch queues: metrics, alarms and
// dashboards. What they work on is in internal/observe: series has the metrics that are counted here, monitor what users
// have made and what programs have sent, metricdata answers queries.
package cloudwatch
