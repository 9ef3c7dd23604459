// Package metricmath computes time series from others with CloudWatch's metric math: m1 / m2 * 100, SUM(METRICS()),
// IF(m1 > 10, m2, 0).
//
// Parse reads an expression; an error gives the character at which it becomes invalid, and names unknown functions.
// Evaluation is a pure function of the expression, the series that it refers to and the window of time.
//
// There are three kinds of values: numbers, series and lists of series. An operator between series has a value where
// both have one. A result that is not a finite number, such as that of a division by zero, is dropped: the series has
// no value at that time.
package metricmath
