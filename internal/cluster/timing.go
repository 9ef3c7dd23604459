package cluster

import (
	"errors"
	"fmt"
	"time"
)

// DefaultFailover is how long the shards of a node that has died are without an owner, about. See Options.Failover.
const DefaultFailover = 2 * time.Second

// MinFailover and MaxFailover are the bounds of Options.Failover.
const (
	MinFailover = time.Second
	MaxFailover = 30 * time.Second
)

// ExternalFailover is the failover timeout with an existing NATS. Its servers elect leaders after 4 to 9 seconds, and
// no node can ask them to do so earlier.
const ExternalFailover = 20 * time.Second / 3

// ErrFailover is returned for a failover timeout that is out of bounds.
var ErrFailover = errors.New("the failover timeout is out of bounds")

// CheckFailover returns ErrFailover if a failover timeout is out of bounds.
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
// With another timeout all of them are longer or shorter by the same factor.
//
// # Leases
//
// One thing rests on these times: that an owner does not answer from memory what another owner has changed since. Only
// the log decides who may write. A lease is a record with a length. The following keeps an owner's belief in its lease
// shorter than what every other node grants it:
//
//   - The holder counts the length from before it sends a record, less a margin of a fifth. See replica.Options.Margin.
//   - Another node counts the length that the record names, from when it has seen that record, and only as long as no
//     newer record has come. It takes the place of that record, or of none.
//   - Both measure with monotonic clocks, so no clock that is set matters. Clocks may run at different rates: up to 20%
//     of a lease.
//   - A program that knows no lengths waits until JetStream forgets the record, after jetstream.Leases's longest
//     length.
//   - Nodes may have different timeouts, because each record names the length by which its holder goes.
//
// A process that was paused for longer than its lease finds out before its next answer: see replica.Ownership.
//
// # Silence
//
// A node that is taken for dead and is not costs nothing but time. Its owners write until another node claims the
// shard, and no node can claim it while the lease lasts. So silence decides when requests fail at once and when logs
// elect leaders, not who owns a shard. It is shorter than the lease, so that a log has a leader when its shard can be
// taken.
type timing struct {
	failover time.Duration
	// lease is how long a node that has died still owns its shards.
	lease time.Duration
	// silence is after how long a node that is not heard of counts as dead.
	silence time.Duration
	// heartbeat is the time from one heartbeat to the next. Four fit into the silence.
	heartbeat time.Duration
	// step is how long the preferred owner of a shard has to take it before another node does. Each further one waits
	// as much longer. The nodes stand for the lead of a log in the same order.
	step time.Duration
	// stall is for how long requests pile up behind a commit whose outcome is not known.
	stall time.Duration
	// listAge is how old a list of leases may be: every replica that could own its shard looks at it.
	listAge time.Duration
	// forward is how long a change of queues or users waits for an owner of the control shard. It bridges a death where
	// that is short, and else a planned stop.
	forward time.Duration
	// isolated is for how long a node that does not hear of most of the others answers from what it knows of queues and
	// users; see staleAfter.
	isolated time.Duration
}

// timingOf returns the times for a failover timeout.
func timingOf(failover time.Duration) timing {
	unit := failover / 20
	return timing{
		failover:  failover,
		lease:     15 * unit,
		silence:   12 * unit,
		heartbeat: min(3*unit, time.Second), // it also brings news
		step:      3 * unit / 2,
		stall:     9 * unit,
		listAge:   unit,
		forward:   max(2500*time.Millisecond, min(3*failover/2, 4*time.Second)),
		isolated:  max(4*time.Second, 12*unit),
	}
}

// Intervals of periodic work.
const (
	ownersInterval   = time.Second     // leases are read, and the logs asked, for owners
	catchUpInterval  = 2 * time.Second // the end of the control shard's log is looked for
	directInterval   = time.Second     // placement is decided
	replicasInterval = time.Second     // replicas are opened, closed, and made owners
	trimInterval     = 5 * time.Second
	trimLeast        = 1000 // records that are worth a trim
	copiesInterval   = 2 * time.Second
	copiesOthers     = 4 // the logs of other owners are looked at each such time
	watchdogInterval = 200 * time.Millisecond
	// leadInterval is how often an owner looks whether its log is led from its node. To
	// change that holds up the commit under way.
	leadInterval = 20 * time.Second
	// waitingInterval is how often a node that has not found its cluster checks which nodes
	// it still waits for. It reports them after the first interval.
	waitingInterval = time.Second
	// unverifiedPause is waited for before a node reads the control log once more for a
	// client whose key it does not know.
	unverifiedPause  = 100 * time.Millisecond
	certificateAgain = 24 * time.Hour
	// recordsPause is waited for after a change of the cluster's records: others follow.
	recordsPause = 50 * time.Millisecond
)

// How long something is waited for.
const (
	// foundTimeout is how long the founder waits for the nodes that were named.
	foundTimeout   = 15 * time.Second
	catchUpTimeout = 5 * time.Second
	forwardPause   = 100 * time.Millisecond
	// feedTimeout is how long a request waits for a shard to learn of queues.
	feedTimeout   = 2 * time.Second
	feedAgain     = 100 * time.Millisecond
	copiesTimeout = 3 * time.Second
	// leadTimeout is how long a shard waits for the lead of its log to move before it
	// does without.
	leadTimeout = 700 * time.Millisecond
	// leaveNotice is how long a node that stops waits for others to be preferred.
	leaveNotice  = 500 * time.Millisecond
	nudgeTimeout = time.Second
	// handOverTimeout is how long a node waits until it has stopped to serve a shard that it hands over, and
	// leaveTimeout until it has handed over all.
	handOverTimeout = 5 * time.Second
	leaveTimeout    = 8 * time.Second
	ownersTimeout   = 3 * time.Second // for the leases to be read
	// openTimeout is how long a replica waits for its log.
	openTimeout = 10 * time.Second
	// successorTimeout is how long it waits for others to serve what it has given them.
	successorTimeout = time.Second
	checkTimeout     = time.Second // for another process under this node's name to answer
	// endTimeout is how long a node that stops waits for other servers to lead what its own has led.
	endTimeout  = 5 * time.Second
	forgetAgain = 3 * time.Second
	// holdLimit is for how long messages between shards are held back at most, should the
	// node that asked for it be gone. holdTimeout is longer than a delivery may take that
	// is under way.
	holdLimit     = 60 * time.Second
	holdTimeout   = 15 * time.Second
	snapshotTries = 5
	snapshotPause = 2 * time.Second
)

// When a node no longer trusts itself.
const (
	// staleAfter is for how long a node answers from what it knows of queues and
	// users while it cannot find out whether that is still so.
	staleAfter = 15 * time.Second
	// leaderlessLimit is how long a log may be without a leader while most nodes are
	// there. An election takes seconds; but a part of the engine may have shut itself
	// out of them, and then it takes a new process, on one node after the other.
	leaderlessLimit   = 40 * time.Second
	leaderlessStagger = 20 * time.Second
	// certificateWarning is how long before the end of its certificate a node begins to
	// say so.
	certificateWarning = 14 * 24 * time.Hour
)

// DefaultReplaceAfter is longer than a machine needs to start anew.
const DefaultReplaceAfter = 10 * time.Minute
