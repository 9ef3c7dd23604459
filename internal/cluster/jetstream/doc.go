// Package jetstream carries the shared log, its leases and the messages between
// nodes on NATS JetStream: on servers embedded in the nodes ([Start]), or on an
// existing NATS cluster ([Connect]).
//
// # What a log is
//
// A log is a stream, its positions the stream's sequence numbers. An append is
// one publish that names the sequence it expects to be the last; the stream's
// leader checks that before it proposes the record to the stream's Raft group,
// and acknowledges it when a majority has written and synced it.
//
// A leader also refuses such a publish because of an earlier one that is
// proposed and not decided yet, and a newly elected leader because of records
// that it has not applied yet. So the package returns sharedlog.ErrConflict
// only after a barrier has shown that the log does end elsewhere.
//
// A barrier is a purge of nothing (of a subject that no record has). It goes through the stream's Raft group as records
// do. So the server that answers it was the leader after the request was made, and has applied all committed records.
// One gap remains: a leader that was deposed without knowing it may resume right after another one has answered the
// barrier, and answer the request for the extent that follows. Its answer is outdated but harmless: an append that
// relies on it is refused, and this process never goes back behind a position that it has seen.
//
// # What is avoided
//
// No consumers: creating one needs the leader of JetStream's meta group, which is
// being elected when it matters. No Nats-Expected-Last-Msg-Id: one mismatch stops
// a replicated stream for good. The client library does not retry a publish,
// and does not buffer it while the connection is down.
//
// # Stable storage
//
// Embedded servers run with SyncAlways: they sync the Raft log of every stream,
// from which records are acknowledged, with every write, as well as terms,
// votes and the meta group's log. See [Conn.CheckSync] for an external NATS
// cluster.
package jetstream
