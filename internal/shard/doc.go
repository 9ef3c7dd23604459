// Package shard runs the queue engine of one keyspace.
//
// One goroutine owns the engine. It takes requests off a channel, runs as many as have arrived, makes the changes of
// all of them durable with one commit, and only then answers them. Requests that arrive during a commit share the next
// one. There is no timer and no delay when the shard is idle; throughput grows with load.
//
// The package guarantees that an answer, including an empty answer or an error, is given only after everything it
// depends on is durable; that no request of a failed commit is answered with success; that no message is delivered to a
// consumer that has stopped waiting; and that no caller waits for a disk that cannot be written.
//
// Dead letters, messages that a task moves, and copies of publications may go to a queue on another shard. Forward
// transfers them exactly once. At any time, a message is durable on one side or the other.
package shard
