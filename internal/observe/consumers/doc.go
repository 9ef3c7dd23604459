// Package consumers keeps who receives from queues and how: which principals, from where, with which programs; how
// often they poll and in vain; and how long they take until they delete what they have received.
//
// It is kept in memory, of the last minutes, and for a bounded number of consumers: those that were not seen for
// longest go first. A node of a cluster knows of the requests that it has served, and Merge puts the knowledge of
// several together.
package consumers
