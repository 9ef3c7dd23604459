// Package cloudwatch implements the operations of CloudWatch for watching queues: metrics, alarms and dashboards. The
// data is in internal/observe/cloudwatch: series holds the server's own metrics, monitor the users' alarms and the
// metrics that programs send; metricdata answers queries.
package cloudwatch
