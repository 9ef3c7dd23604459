// Package metricdata answers the queries of CloudWatch's GetMetricData and of alarms: statistics of single series,
// expressions of metric math over those and each other, and selections of many series by Metrics Insights.
//
// Check finds what is wrong with a list of queries without looking at any data. Run answers them from a series.Reader.
// The cost of a list is bounded before anything is read.
package metricdata
