// Package consumers keeps who receives from queues and how: which principals, from where, with which programs; how
// often they poll, and how often in vain; and how long they take from receive to delete.
//
// It is kept in memory, of the last minutes, and for a bounded number of consumers: those that were not seen for
// longest go first. A node of a cluster knows of the requests that it has served, and Merge puts the knowledge of
// several together.
package consumers
