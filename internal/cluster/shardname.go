package cluster

import "fmt"

// controlShard is the name of the shard with the records of queues and users.
const controlShard = "control"

// shardName returns the name of a shard with messages, which are numbered from 1.
func shardName(n int) string { return fmt.Sprintf("%04d", n) }
