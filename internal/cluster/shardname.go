package cluster

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/cluster/status"
)

const controlShard = status.ControlShard

// shardName returns the name of a shard with messages, which are numbered from 1.
func shardName(n int) string { return fmt.Sprintf("%04d", n) }
