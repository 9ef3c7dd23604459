// Package queue is the engine: the life of a message, from the send that
// accepts it to the delete, expiry or redrive that ends it.
//
//	            delay over                 receive
//	send ──► delayed ──────► available ───────────────► in flight ──► deleted
//	  │                        ▲   ▲  │                   │    │
//	  └────────────────────────┘   │  │ received too often│    │
//	        no delay               │  └──► dead-letter    │    │
//	                               │       queue          │    │
//	                               └──────────────────────┘    │
//	                        visibility timeout over or set to 0│
//	                                                           ▼
//	                (retention over, at any point)          expired
//
// The engine is deterministic: time is a parameter, there is no randomness, no goroutine, no file and no socket. It
// reads and changes an ordered key-value space through [Txn] and keeps in memory only what can be rebuilt from there:
// counters, the beginnings of a bounded number of groups, filters for recent deduplication ids, and one small record
// for each message that has been received and not deleted. A standard queue has at most [MaxInFlight] of these records.
// A FIFO queue may also have as many as one receive delivers for each message in flight: messages that wait behind it.
// Memory does not grow with the stored messages, and only redrives and moves read bodies.
//
// # Tables
//
// All keys except those of the last five rows begin with the queue's id (8 bytes) and a table's letter, so one range
// deletion drops a queue.
//
//	!                      the queue's record: counters and heads   (meta.go)
//	n                      the name to which its counters belong    (ownname.go)
//	m position             the message, written once                (message.go)
//	s position             what its receives did to it              (held.go)
//	d due position         waiting for its delay to end             (delay.go)
//	x group position       available member of a group              (group.go)
//	g group                the group: its turn, where it begins     (group.go)
//	r order                groups to be served, in order            (rota.go)
//	p group                paused: nothing of it is received        (pausedgroup.go)
//	e sent position        age of what is in no order of age        (index.go)
//	t started              message move tasks                       (moves.go)
//	c started              what a running task chooses and edits    (moves.go)
//	D, E, S                the second edition of d, e and s         (kept.go)
//	a shard                the last accepted from another shard     (accept.go)
//	k slot queue kind id   deduplication and receive attempts       (slots.go)
//	v level start name     rows of the series of a queue            (block.go)
//	w name                 names of which there are series          (name.go)
//	B, P number            publications whose copies are to be made  (backlog.go)
//	T name                 the running minute of a topic            (topiccount.go)
//
// A message takes one of two ways to its consumer. The line is for messages of standard queues that have neither delay
// nor group. Their positions are dense, and they are received in order of position. So the messages that were never
// received are exactly those at [head, next), and no key marks the available ones. All other messages (FIFO, delayed,
// grouped, redriven) are indexed: they are members of a group, and groups take turns. In a FIFO queue, a message in
// flight blocks the messages of its group behind it, but not those in front of it that have become visible again, as in
// SQS. In a standard queue a served group goes to the end of the rota, so groups get equal shares.
//
// A queue consists of parts, each with its own fields, tables and invariants: the line, the index (positions and ages
// of all other messages), the groups and their rota, the held messages (received and not deleted), the delays, the
// deduplication, the move tasks, the tally. DESIGN.md has a picture.
//
// Events of a queue are counted in its record, in the transaction in which they happen. When a minute ends, the engine
// writes the counters and the state of the queue as a row of the queue's series. The series belong to the queue's name,
// and stay until they are too old, even if the queue is removed. The name is stored beside the record, so that the
// running minute is not lost if the queue is deleted while no engine is loaded.
//
// A publication is a message of a topic with copies for several queues, all of which are accepted in one transaction.
// The same transaction counts its events in a record of the topic, which becomes a row of the topic's series.
//
// A message that is redriven, moved or published to a queue of another shard waits in the outbox of that queue until
// the other shard has accepted it. A queue that another shard serves has only the following tables here. If this shard
// serves some of its message groups, the queue has them in addition to the others:
//
//	@                      the outbox's record                      (outbox.go)
//	f position             a message in the outbox                  (transfer.go)
package queue
