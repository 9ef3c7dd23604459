// Package alarmrule reads the rule expressions of composite alarms, which combine the states of other alarms:
//
//	(ALARM(backlog) OR ALARM("arn:aws:cloudwatch:us-east-1:000000000000:alarm:wait")) AND NOT OK(maintenance)
//	AT_LEAST(50%, ALARM, (worker-1, worker-2, worker-3))
//
// NOT binds closer than AND, and AND closer than OR. A name without quotation marks ends at white space, a parenthesis
// or a comma. In a quoted name a backslash stands before a quotation mark or another backslash.
//
// Parse refuses what it cannot read with the character at which it begins. An expression has a bounded number of
// elements, so that reading and evaluating it are bounded, too. Evaluating is a pure function of the states of the
// alarms.
package alarmrule
