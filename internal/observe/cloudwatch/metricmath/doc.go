// Package metricmath computes time series from others, by CloudWatch's metric math: m1 / m2 * 100, SUM(METRICS()),
// IF(m1 > 10, m2, 0).
//
// Parse reads an expression; an error says at which character it stops making sense, and names functions that there are
// not. Evaluation is a pure function of the expression, the series that it refers to and the window of time.
//
// There are three kinds of values: numbers, series and lists of series. An operator between series has a value where
// both have one. A result that is no finite number, such as that of a division by zero, is no value: there is none at
// that time.
package metricmath
