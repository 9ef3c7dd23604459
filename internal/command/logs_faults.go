//go:build faults

package command

import (
	"math/rand/v2"
	"os"
	"time"

	"github.com/sluicemq/sluice/internal/cluster"
)

// logs is how long the logs of a cluster hold what is flushed. With SLUICE_LOG_FAULTS=short that is a few seconds, so
// that a node that was away for longer needs a checkpoint. It is for torturing servers, and only in those that are
// built with -tags faults.
var logs = shortLogs(os.Getenv("SLUICE_LOG_FAULTS"))

func shortLogs(how string) cluster.Logs {
	if how != "short" {
		return cluster.Logs{}
	}
	return cluster.Logs{Flush: time.Second, Trim: time.Second, Least: 20}
}

// loading makes it slow to fetch and to load the queues and users of a checkpoint, if the logs are short. The other
// nodes get the time to hand shards over to this one meanwhile.
func loading() {
	if logs != (cluster.Logs{}) {
		time.Sleep(4*time.Second + rand.N(4*time.Second))
	}
}
