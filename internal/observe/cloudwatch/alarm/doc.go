// Package alarm decides the state of an alarm. It is a pure function of the alarm's rule, the datapoints of its metric,
// the time and the alarm's present state: it knows no store and no clock.
//
// A rule looks at N periods and alarms when M of them breach a threshold. Of a window that is somewhat longer than N
// periods, the N newest datapoints count; only where there are fewer does the rule's treatment of missing data decide.
// The windows end with the last whole minute, or, if the rule wants that, with the last whole period by the clock of a
// time zone.
package alarm
