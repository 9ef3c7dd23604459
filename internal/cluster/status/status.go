package status

import "errors"

// ControlShard is the name of the shard with the records of queues and users.
const ControlShard = "control"

const (
	// Copies is how many nodes keep a replica of a shard, if there are as many.
	Copies = 3
	// Near is how many records a replica may be behind and still count as ready.
	Near = 2000
)

// Roles of replicas that a reader of a status has to tell from others.
const (
	Absent   = "absent"   // it is to be on a node and is not known to be
	Fetching = "fetching" // it gets a copy from another node
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
	Node    string // that was asked; empty if it is a server that is alone
	Nodes   []Node
	Shards  []Shard
	// How often the node that was asked has given a shard to another since it was
	// started, and how often it has lost one.
	HandOvers int64
	Lost      int64
}

// Alone reports whether this is the status of a server that belongs to no cluster.
func (s *Status) Alone() bool { return s.Node == "" }

// Node is what is known of a node.
type Node struct {
	Name        string
	Live        bool
	AwaySeconds int64    // for how long it has been missed
	Endpoint    string   // where clients reach it
	Version     string   // of its program
	Incarnation string   // of its data directory
	Draining    bool     // its shards are being moved away
	Leaving     bool     // it is about to stop
	Unready     bool     // it answers no clients: it is starting, stopping, or does not hear of the others
	Unanswered  bool     // it has not answered the latest heartbeat: it may just have died
	Low         bool     // its disk is nearly full
	SkewMillis  int64    // how far its clock is ahead of the majority's
	Owns        []string `json:",always"` // names of shards
	// For how many days the certificate is valid by which other nodes know it; nil if it
	// has none that ends.
	CertificateDays *int64
}

// Shard is what is known of a shard.
type Shard struct {
	Name      string
	Owner     string // a node's name, or empty
	Preferred string // who should own it
	Epoch     int64
	LogFirst  int64 // positions
	LogLast   int64
	LogBytes  int64     // that one copy of the log takes
	Complete  int64     // copies of the log that have all of it, as its owner last reported; 0: unknown
	Copies    int64     // of the log there should be
	Unknown   int64     // queues of which its owner keeps data, and knows neither the record nor the deletion
	Parted    int64     // the first position at which two replicas are known to differ; 0: none
	Replicas  []Replica `json:",always"`
}

// Replica is what is known of a shard on one node.
type Replica struct {
	Node    string
	Role    string
	Applied int64 // positions
	Durable int64
	Lag     int64 // records
	Error   string
}

// Queue says where the messages of a queue are.
type Queue struct {
	QueueArn string
	Shards   []QueueShard `json:",always"`
}

// QueueShard is a shard with messages of a queue.
type QueueShard struct {
	Name  string
	Owner string // a node's name, or empty: this part of the queue is not served
}
