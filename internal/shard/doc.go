// Package shard runs the queue engine of one keyspace.
//
// One goroutine owns the engine. It takes requests off a channel, runs as many as have arrived, makes the changes of
// all of them durable with one commit, and only then answers them: requests that arrive while a commit is under way
// share the next one. There is no timer in this and no delay when the shard is idle; throughput grows with load.
//
// It guarantees that an answer, also an empty or refusing one, is given only
// after everything it depends on is durable; that no request of a failed commit is
// answered with success; that a consumer that has stopped waiting is given
// nothing; and that no caller waits for a disk that cannot be written.
//
// Dead letters, messages that a task moves and copies of publications may go to a queue
// that another shard serves. Forward brings them there, exactly once. A message is durable on one
// side or the other at any time.
package shard
