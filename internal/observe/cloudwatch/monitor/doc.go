// Package monitor stores and evaluates what users have set up to watch their queues: alarms with their state and
// history, dashboards, and the metrics that programs send themselves.
//
// All of it is in the control store, so that it is as durable as queues and users are, and the same on every node.
// Alarms and the lists of dashboards and metrics are in memory, too; history, the text of dashboards and points are
// read on demand:
//
//	monitor/alarm/ACCOUNT/REGION/NAME       an alarm, as JSON; names are escaped
//	monitor/history/ACCOUNT/REGION/TIME-N-KIND-NAME
//	                                        what happened to an alarm, as JSON; kept for 14 days, also after its deletion
//	monitor/action/TIME-ID                  a notification that has still to be published, as JSON
//	monitor/dashboard/ACCOUNT/NAME          a dashboard, as JSON
//	monitor/metric/HASH                     a metric that a program has sent, as JSON
//	monitor/points/HASH/HOUR                its points of an hour; see points.go
//	monitor/points/seconds/HASH/MINUTE      those of high resolution, of a minute; see fine.go
//	monitor/points/sketches/...             the samples of points, for percentiles; see sketches.go
//
// The Evaluator works on the node that owns the control store. It looks at every metric alarm once a minute, at those
// of shorter periods every ten seconds, and within a second at the composite alarms that depend on what has changed. A
// transition is one change: the alarm's state, an item of its history, and a record for each of its actions. A record
// is removed when its notification has been published. A node that dies between the two leaves the record to the next
// owner: each action is carried out at least once.
//
// Rules of package muterule mute alarms. An alarm that enters a state while it is muted has a Muted in its record
// instead of actions; when no rule mutes it any more, the Evaluator makes them.
//
// An alarm that cannot be evaluated keeps its state and has a Trouble in its record, until it can.
//
// The state of a composite alarm follows from its record and from those of other alarms. A node that becomes the owner
// evaluates all of them, and so finishes what another node has left.
//
// Programs that are older than this package cannot read these records. Options.Ready and Options.Require are called
// before the first of them is written, so that an installation that includes such a program has no alarms rather than a
// failing node. Options has the same for composite alarms: a program that only knows metric alarms would lose their
// rules.
package monitor
