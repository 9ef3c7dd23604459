// Package bench loads an SQS endpoint and checks what comes back.
//
// It is the program of the developer guide's Appendix A: producers send and
// consumers receive and delete over connections of their own, with real
// signatures, and a tally is printed every second. In the end it says how long
// the calls took, and whether every message that was sent arrived, once and, in
// a FIFO queue, in order.
//
// RunPollers measures the opposite of a load: how soon one message reaches its
// consumer among thousands that wait in long polls.
//
// A load with a rate does not wait for the server: a call counts from when it was due (see schedule).
//
// The client speaks HTTP/1.1 by itself and does no more than it must: on one
// machine it competes with the server for the processors, and a server should
// not look slow because its client is.
package bench
