// Package workload uses all operations of a queue service and records the outcome of every call.
//
// A Load is a crowd of workers, each the client of one queue or topic: producers send or publish, in batches or not,
// with delays, again after a call without an answer, and again on purpose; consumers delete most of the messages that
// they receive, return or keep some, and forget the rest; one worker redrives dead-letter queues, one creates, purges
// and deletes queues of its own; clerks create, change and delete resources of all kinds. Their choices follow from a
// seed. They keep their knowledge, such as receipt handles, when the service dies.
//
// A Recorder makes a worker's calls and puts them into a Journal, which internal/proof/history judges. At the end,
// Quiesce waits for everything in progress, and Drain receives and deletes the rest.
//
// Any implementation of Service can be loaded: Client is one that calls a server.
package workload
