package status

import "errors"

// ControlShard is the name of the shard with the records of queues and users.
const ControlShard = "control"

const (
	// Copies is how many nodes keep a replica of a shard, if there are enough nodes.
	Copies = 3
	// Near is how many records a replica may be behind and still count as ready.
	Near = 2000
)

// Roles of replicas that readers of a status must distinguish.
const (
	Absent   = "absent"   // it should be on a node but is not known to be
	Fetching = "fetching" // it fetches a copy from another node
)

// The errors of commands to a node.
var (
	ErrNoNode     = errors.New("the cluster has no node of that name")
	ErrAlive      = errors.New("the node is alive; drain and stop it first")
	ErrNotDrained = errors.New("the node is not drained")
)

// Status is a cluster as one node sees it.
type Status struct {
	Cluster string
	Node    string // that answered; empty for a single server
	Nodes   []Node
	Shards  []Shard
	// The number of shards that the answering node has handed over since its start, and the number that it has lost.
	HandOvers int64
	Lost      int64
}

// Alone reports whether this is the status of a server that belongs to no cluster.
func (s *Status) Alone() bool { return s.Node == "" }

// Node is the known state of a node.
type Node struct {
	Name        string
	Live        bool
	AwaySeconds int64    // how long it has been absent
	Endpoint    string   // where clients reach it
	Version     string   // of its program
	Incarnation string   // of its data directory
	Draining    bool     // its shards are being moved away
	Leaving     bool     // it is about to stop
	Unready     bool     // it answers no clients: it is starting, stopping, or does not hear the others
	Unanswered  bool     // it has not answered the latest heartbeat and may just have died
	Low         bool     // its disk is nearly full
	SkewMillis  int64    // how far its clock is ahead of the majority's
	Owns        []string `json:",always"` // names of shards
	// The number of days for which the certificate that identifies the node is valid. Nil if it does not expire.
	CertificateDays *int64
}

// Shard is the known state of a shard.
type Shard struct {
	Name      string
	Owner     string // a node's name, or empty
	Preferred string // the node that should own it
	Epoch     int64
	LogFirst  int64 // positions
	LogLast   int64
	LogBytes  int64     // of one copy of the log
	Complete  int64     // complete copies of the log, as its owner last reported; 0: unknown
	Copies    int64     // that the log should have
	Unknown   int64     // queues whose data its owner keeps without knowing their record or deletion
	Parted    int64     // the first position at which two replicas are known to differ; 0: none
	Replicas  []Replica `json:",always"`
}

// Replica is the known state of a shard on one node.
type Replica struct {
	Node    string
	Role    string
	Applied int64 // positions
	Durable int64
	Lag     int64 // records
	Error   string
}

// Queue records the shards of a queue.
type Queue struct {
	QueueArn string
	Shards   []QueueShard `json:",always"`
}

// QueueShard is a shard with messages of a queue.
type QueueShard struct {
	Name  string
	Owner string // a node's name, or empty: this part of the queue is not served
}
