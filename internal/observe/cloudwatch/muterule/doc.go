// Package muterule stores the rules that mute alarms: during windows of time, an alarm changes its state as usual, but
// its actions wait.
//
// A rule has a schedule: the times at which its windows begin, and their duration. Which alarms are muted follows from
// the rules and the time alone, so that no record changes when a window begins or ends.
//
// The records are in the control store:
//
//	muterule/ACCOUNT/REGION/NAME     a rule, as JSON; names are escaped
//
// Programs that are older than this package cannot read them, and would send notifications: they need the format
// formats.Mutes.
package muterule
