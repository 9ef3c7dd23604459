// Package catalog holds what is small and read by every request: the records of
// the queues, with their attributes and tags.
//
// All of it is in memory, so that reads cost nothing; every change is durable
// before it is seen. The records that it gives out are never changed: a change
// makes a new one. They are stored in the control store. The catalog also follows
// what other nodes change there.
package catalog
