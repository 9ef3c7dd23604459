// Package cloudwatch implements the operations of CloudWatch with which people watch queues: metrics, alarms and
// dashboards. The data is in internal/observe/cloudwatch: series holds the metrics that are counted here, monitor what
// users have made and what programs have sent; metricdata answers queries.
package cloudwatch
