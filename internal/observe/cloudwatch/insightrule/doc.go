// Package insightrule stores the rules of Contributor Insights: how contributors to the events of a log are to be
// counted. The server keeps no logs of CloudWatch Logs, and counts nothing. It keeps the rules for the tools that put
// them and compare them with what they have declared.
//
// The records are in the control store:
//
//	insightrule/ACCOUNT/REGION/NAME     a rule, as JSON; names are escaped
//
// Programs that are older than this package cannot read them: they need the format formats.Detectors.
package insightrule
