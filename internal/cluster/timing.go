package cluster

import (
	"errors"
	"fmt"
	"time"
)

// DefaultFailover is approximately how long the shards of a dead node are without an owner. See Options.Failover.
const DefaultFailover = 2 * time.Second

// MinFailover and MaxFailover limit Options.Failover.
const (
	MinFailover = time.Second
	MaxFailover = 30 * time.Second
)

// ExternalFailover is the failover timeout with external NATS servers. They elect leaders after 4 to 9 seconds, and no
// node can speed that up.
const ExternalFailover = 20 * time.Second / 3

// ErrFailover reports a failover timeout out of range.
var ErrFailover = errors.New("the failover timeout is out of bounds")

// CheckFailover returns ErrFailover if a failover timeout is out of range.
func CheckFailover(d time.Duration) error {
	if d < MinFailover || d > MaxFailover {
		return fmt.Errorf("%w: %s is not between %s and %s", ErrFailover, d, MinFailover, MaxFailover)
	}
	return nil
}

// timing holds the times that follow from the failover timeout. A node dies at 0, and the timeout is 2 s:
//
//	0 s       0.5       1.0       1.5       2.0
//	|---------|---------|---------|---------|
//	heartbeats: one every 0.3 s, none is answered any more
//	                  stall: requests no longer queue up behind a
//	                  |      commit that has not come back
//	                        silence: the node counts as dead. Requests for its shards
//	                        |        fail at once. The others elect leaders of its logs
//	                              lease: its leases have ended,
//	                              |      other nodes may take them
//	                               step: the preferred owner tries at once,
//	                               |  each further one 0.15 s later
//
// A different timeout changes all of them by the same factor.
//
// # Leases
//
// Only one guarantee depends on these times: an owner never answers from memory that another owner has since made
// outdated. Writes need no lease, because the log decides who may write. A lease is a record with a duration. The
// following rules ensure that an owner stops trusting its lease before any other node considers it over:
//
//   - The holder counts the length from before it sends a record, less a margin of a fifth. See replica.Options.Margin.
//   - Another node counts the length that the record names from the moment at which it saw the record, as long as no
//     newer record has come. It can take the lease only by replacing exactly that record.
//   - Both measure with monotonic clocks, so setting a clock has no effect. The rates of clocks may differ by up to
//     20%.
//   - One record, the session's, renews all leases of a process: see jetstream/session.go.
//   - An older program that does not know sessions or lengths waits until JetStream forgets the record.
//   - Nodes may have different timeouts, because each record names the length that its holder uses.
//
// A process that was paused for longer than its lease finds out before its next answer: see replica.Ownership.
//
// # Silence
//
// Considering a live node dead costs only time. The node continues to write to its shards until another node claims
// them, which is impossible while the lease lasts. So silence decides when requests fail at once and when logs elect
// leaders, not who owns a shard. It is shorter than the lease, so that a log already has a leader when its shard can be
// taken.
type timing struct {
	failover time.Duration
	// lease is how long a dead node still owns its shards.
	lease time.Duration
	// silence is the time without a message after which a node counts as dead.
	silence time.Duration
	// heartbeat is the interval of heartbeats. Four fit into the silence.
	heartbeat time.Duration
	// step is how long the preferred owner of a shard may take to claim it before the next node tries. Each further
	// node waits that much longer. The nodes stand for leader of a log in the same order.
	step time.Duration
	// stall is how long requests queue up behind a commit whose outcome is unknown.
	stall time.Duration
	// listAge is the maximum age of a list of leases. Every replica that could own its shard reads the list.
	listAge time.Duration
	// forward is how long a change of queues or users waits for an owner of the control shard. It covers a death if the
	// failover timeout is short, and otherwise a planned stop.
	forward time.Duration
	// isolated is how long a node that has lost most of the others answers from its own knowledge of queues and users.
	// See staleAfter.
	isolated time.Duration
}

// timingOf returns the times that follow from a failover timeout.
func timingOf(failover time.Duration) timing {
	unit := failover / 20
	return timing{
		failover:  failover,
		lease:     15 * unit,
		silence:   12 * unit,
		heartbeat: min(3*unit, time.Second), // it also carries other news
		step:      3 * unit / 2,
		stall:     9 * unit,
		listAge:   unit,
		forward:   max(2500*time.Millisecond, min(3*failover/2, 4*time.Second)),
		isolated:  max(4*time.Second, 12*unit),
	}
}

// Intervals of periodic work.
const (
	ownersInterval   = time.Second     // read the leases, and ask the logs, for owners
	catchUpInterval  = 2 * time.Second // look for the end of the control shard's log
	directInterval   = time.Second     // decide the placement
	replicasInterval = time.Second     // open and close replicas, and seek ownership
	trimInterval     = 5 * time.Second
	trimLeast        = 1000 // fewer records do not justify a trim
	copiesInterval   = 2 * time.Second
	copiesOthers     = 4                      // the logs of other owners are checked once in this many rounds
	watchdogInterval = 200 * time.Millisecond // check whether commits are possible again
	// leadInterval is how often an owner checks whether its node leads its log. Moving the lead delays the commit in
	// progress.
	leadInterval = 20 * time.Second
	// waitingInterval is how often a node that has not found its cluster checks which nodes are missing. It reports
	// them after the first interval.
	waitingInterval = time.Second
	// unverifiedPause is the wait before a node reads the control log again for a client whose key it does not know.
	unverifiedPause  = 100 * time.Millisecond
	certificateAgain = 24 * time.Hour
	// recordsPause is the wait after a change of the cluster's records, because more changes usually follow.
	recordsPause = 50 * time.Millisecond
)

// Limits of waits.
const (
	// foundTimeout is how long the founder waits for the configured nodes.
	foundTimeout   = 15 * time.Second
	catchUpTimeout = 5 * time.Second
	forwardPause   = 100 * time.Millisecond
	// feedTimeout is how long a request waits for a shard to learn of queues.
	feedTimeout   = 2 * time.Second
	feedAgain     = 100 * time.Millisecond
	copiesTimeout = 3 * time.Second
	// leadTimeout is how long a shard waits for the lead of its log to move. Then it continues without.
	leadTimeout = 700 * time.Millisecond
	// leaveNotice is how long a stopping node waits until other nodes are preferred.
	leaveNotice  = 500 * time.Millisecond
	nudgeTimeout = time.Second
	// handOverTimeout is how long a node may take to stop serving a shard in a hand-over, and leaveTimeout to hand over
	// all shards.
	handOverTimeout = 5 * time.Second
	leaveTimeout    = 8 * time.Second
	ownersTimeout   = 3 * time.Second // to read the leases
	// openTimeout is how long a replica waits for its log.
	openTimeout = 10 * time.Second
	// successorTimeout is how long a stopping node waits for others to serve the shards it gave them.
	successorTimeout = time.Second
	checkTimeout     = time.Second // for another process with this node's name to answer
	// endTimeout is how long a stopping node waits until other servers have taken over its leads.
	endTimeout  = 5 * time.Second
	forgetAgain = 3 * time.Second
	// holdLimit is the maximum time for which a barrier stays shut if the node that requested it is gone. holdTimeout
	// is longer than a delivery in progress may take.
	holdLimit     = 60 * time.Second
	holdTimeout   = 15 * time.Second
	snapshotTries = 5
	snapshotPause = 2 * time.Second
)

// Limits of a node's trust in itself.
const (
	// staleAfter is how long a node answers from its own knowledge of queues and users while it cannot verify it.
	staleAfter = 15 * time.Second
	// leaderlessLimit is how long a log may be without a leader while most nodes are present. An election takes
	// seconds. But a part of the engine may have excluded itself from elections, and then only a new process helps, on
	// one node after the other.
	leaderlessLimit   = 40 * time.Second
	leaderlessStagger = 20 * time.Second
	// certificateWarning is how long before the expiry of its certificate a node starts to warn.
	certificateWarning = 14 * 24 * time.Hour
)

// DefaultReplaceAfter is longer than the restart of a machine takes.
const DefaultReplaceAfter = 10 * time.Minute
