// Package catalog holds what is small and read by every request: the records of
// the queues, with their attributes and tags.
//
// All of it is in memory, so that reads cost nothing; every change is durable
// before it is seen. The records that it gives out are never changed: a change
// makes a new one. It is kept in the control store, and follows what is changed
// there by whomever.
package catalog
