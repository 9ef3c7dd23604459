// Package metricdata answers queries for metrics as CloudWatch's GetMetricData has them, and alarms: statistics of
// single series, expressions of metric math over those and each other, and selections of many series by Metrics
// Insights.
//
// Check finds what is wrong with a list of queries without looking at any data. Run answers them from a series.Reader.
// How much one list may ask for is bounded before anything is read.
package metricdata
