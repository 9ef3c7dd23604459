// Package history records the calls of a service and their outcomes, and decides whether the service has kept its
// promises.
//
// A History holds every call of a run with its outcome: acknowledged, refused, or
// unknown because no answer came. Verdict is a pure function of it and returns
// each promise that was broken:
//
//	lost           an acknowledged message was neither received nor deleted by any client
//	phantom        a message was received that no client sent, or whose send was refused
//	undead         a message was received after its delete was acknowledged
//	duplicate      one deduplication id, or one send, made two messages
//	order          a message of a FIFO group was received before an earlier one, or while an earlier one was in flight
//	sequence       sequence numbers do not grow in the order in which messages were accepted
//	hold           a message was received while it was invisible
//	count, handle  a receive count that does not grow, a receipt handle given out twice
//	redrive        moved to the dead-letter queue too early or too late
//	early          received before its delay was over
//	purge          received although it was there before a purge or deletion of the queue that was not undone
//	identity       two answers disagree on what a message is
//	body           a body is not what was sent
//	deleted queue  a queue goes on after its delete was acknowledged, and it was not made again
//	resource       a queue, topic, subscription, user or access key is not what the last acknowledged call has made of
//	               it, or is there after its delete, or is not there
//	refusal        something was refused that must not be
//	answer         no answer although nothing was wrong
//	settle, drain  the run did not come to its end
//	counters       what a queue said that it held was not what was found in it, or the metrics of a
//	               queue say that more or less has happened to it than what was acknowledged
//
// An acknowledged undo of a purge or deletion restores all messages: one that is nowhere is lost. An undo without an
// answer restores all or nothing; of a purge, all or nothing of each shard.
//
// A publication to a topic is a message of its own in each of the topic's queues: a message is lost if one of them
// never returned it, and duplicate if a queue returned it twice; the order of a FIFO group is the order of the
// publications.
//
// All times are read from one clock, the client's. A call was executed some time between its beginning and its end, if
// it was, so a rule is broken only if it is broken for every such time. Slack is how far the service's clock may be
// off; between nodes whose clocks differ it must be as large as the difference.
//
// A history is kept in a file as lines of JSON, see Write and Read.
package history
