// Package jetstream carries the shared log, its leases and the messages between
// nodes on NATS JetStream: on servers embedded in the nodes ([Start]), or on a
// NATS cluster that is there already ([Connect]).
//
// # What a log is
//
// A log is a stream, its positions the stream's sequence numbers. An append is
// one publish that names the sequence it expects to be the last; the stream's
// leader checks that before it proposes the record to the stream's Raft group,
// and acknowledges it when a majority has written and synced it.
//
// A leader refuses such a publish also because of one that it has proposed and
// that has not been decided yet, and a leader that has just been elected because
// of records that it has not applied yet. So a refusal is only passed on as
// sharedlog.ErrConflict when it has been seen, behind a barrier, that the log
// does end elsewhere.
//
// A barrier is a purge of nothing (of a subject that no record has): it goes through the stream's Raft group as records
// do, so when it is answered, the server that answered was the leader after the question was asked, and has applied all
// that had been committed. One moment is left open: a leader that was deposed without knowing it, resumes right after
// another one has answered the barrier, and answers the question for the extent that follows. Its answer is old, not
// wrong: an append that builds on it is refused, and this process does not go back behind a position that it has itself
// seen.
//
// # What is avoided
//
// No consumers: creating one needs the leader of JetStream's meta group, which is
// being elected when it matters. No Nats-Expected-Last-Msg-Id: one mismatch stops
// a replicated stream for good. No publish is repeated by the client library,
// and none is kept in a buffer while the connection is down.
//
// # Stable storage
//
// Embedded servers run with SyncAlways: the Raft log of every stream, which
// is what a record is acknowledged from, is synced with every write, as are terms,
// votes and the meta group's log. See [Conn.CheckSync] for an external NATS
// cluster.
package jetstream
