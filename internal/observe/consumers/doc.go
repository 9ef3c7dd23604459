// Package consumers records how queues are consumed: by which principals, from where, with which programs; how often
// they poll, and how often they get nothing; and how long they take from receive to delete.
//
// The record is in memory, covers the last minutes, and holds a bounded number of consumers: the least recently seen
// are removed first. A node of a cluster knows only the requests that it has served. Merge combines the records of
// several nodes.
package consumers
