package cluster

import "time"

// How the times of a cluster nest. A node dies at 0:
//
//	0 s      1         2         3         4         5         6
//	|---------|---------|---------|---------|---------|---------|
//	heartbeats: one a second, none is answered any more
//	                              stallTimeout: requests no longer queue up behind a
//	                              |             commit that has not come back
//	                                        silence: the node counts as dead; requests for
//	                                        |        its shards fail at once
//	                                                  leaseTTL: its leases have ended,
//	                                                  |         others may take them
//	                                                   takeoverStep: the preferred owner
//	                                                   |  tries at once, each further one
//	                                                   |  half a second later
//
// The rest follows from these. A caller that asks for the owner of the control shard waits forwardTimeout, which
// bridges a planned stop (leaveNotice, leadTimeout), not a death. A node that hears of few others answers from what it
// knows for isolatedAfter, one that hears of them but cannot read the log for staleAfter. Delays before a person has to
// act are tens of seconds long: leaderlessLimit, and DefaultReplaceAfter.
const (
	// leaseTTL is how long a node that has died still owns its shards. JetStream's own
	// elections, which the logs wait for, take 4 to 8 seconds.
	leaseTTL = 5 * time.Second
	// silence is after how long a node that is not heard of counts as dead. It is less
	// than the leases last, so that no request waits for a node that is about to be replaced.
	silence = 4 * time.Second
	// takeoverStep is how long the preferred owner of a shard has to take it before
	// another node does, and each further one waits as much longer.
	takeoverStep = 500 * time.Millisecond
	// stallTimeout is for how long requests pile up behind a commit whose outcome is not
	// known.
	stallTimeout = 3 * time.Second
)

// Intervals of periodic work.
const (
	heartbeatInterval = time.Second
	ownersInterval    = 400 * time.Millisecond // leases are read, and the logs asked, for owners
	catchUpInterval   = 2 * time.Second        // the end of the control shard's log is looked for
	directInterval    = time.Second            // placement is decided
	replicasInterval  = time.Second            // replicas are opened, closed, and made owners
	trimInterval      = 5 * time.Second
	trimLeast         = 1000 // records that are worth a trim
	copiesInterval    = 2 * time.Second
	watchdogInterval  = 100 * time.Millisecond
	// leadInterval is how often an owner looks whether its log is led from its node. To
	// change that holds up the commit under way.
	leadInterval = 20 * time.Second
	// listAge is how old a list of leases may be: every replica that could own its shard
	// looks at it.
	listAge = 300 * time.Millisecond
	// waitingInterval is how often a node that has not found its cluster checks which nodes it still waits for. It
	// reports them after the first interval.
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
	// forwardTimeout is how long a change of queues or users waits for an owner of the
	// control shard.
	forwardTimeout = 2500 * time.Millisecond
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
	forgetAgain  = 3 * time.Second
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
	// isolatedAfter is the same for one that does not hear of most of the others.
	isolatedAfter = 4 * time.Second
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
