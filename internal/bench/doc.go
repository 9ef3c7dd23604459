// Package bench loads an SQS endpoint and checks the messages that it returns.
//
// It is the program of the developer guide's Appendix A: producers send and consumers receive and delete over
// connections of their own, with real signatures, and a tally is printed every second. At the end it reports how long
// the calls took, and whether every message that was sent arrived, once and, in a FIFO queue, in order.
//
// RunPollers measures the opposite of a load: how soon one message reaches its
// consumer among thousands that wait in long polls.
//
// A load with a rate does not wait for the server: a call counts from when it was due (see schedule).
//
// The client implements HTTP/1.1 itself and does no more than it must: on one machine it competes with the server for
// the processors, and a server should not look slow because its client is.
package bench
