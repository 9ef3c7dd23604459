// Package workload uses a queue service from all sides and writes down what
// became of every call.
//
// A Load is a crowd of workers, each the client of one queue or topic: producers send or publish, in batches or not,
// with delays, again after they have had no answer, and again on purpose; consumers delete most of what they receive,
// give back or hold on to some, and forget the rest; one redrives dead-letter queues, one makes, purges and deletes
// queues of its own; clerks make, change and delete resources of all kinds. Their choices follow from a seed. They keep
// their knowledge, such as receipt handles, when the service dies.
//
// A Recorder makes a worker's calls and puts them into a Journal, which
// internal/proof/history judges. In the end Quiesce waits for what has been begun and
// Drain receives and deletes what is left.
//
// Any implementation of Service can be loaded: Client is one that speaks to a server.
package workload
