// Package detector stores the anomaly detectors of accounts: the metrics, or expressions over metrics, whose expected
// values CloudWatch is to learn.
//
// The records are in the control store, so that they are as durable as alarms, and the same on every node:
//
//	detector/ACCOUNT/REGION/ID      a detector, as JSON; the id follows from its subject
//
// Programs that are older than this package cannot read them: they need the format formats.Detectors.
package detector
