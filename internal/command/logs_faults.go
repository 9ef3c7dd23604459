//go:build faults

package command

import (
	"math/rand/v2"
	"os"
	"time"

	"github.com/sluicemq/sluice/internal/cluster"
)

// logs sets how long the logs of a cluster keep flushed records. With SLUICE_LOG_FAULTS=short that is a few seconds, so
// that a node that was away longer needs a checkpoint. It exists only in servers built with -tags faults, for torture
// tests.
var logs = shortLogs(os.Getenv("SLUICE_LOG_FAULTS"))

func shortLogs(how string) cluster.Logs {
	if how != "short" {
		return cluster.Logs{}
	}
	return cluster.Logs{Flush: time.Second, Trim: time.Second, Least: 20}
}

// loading slows the transfer and the loading of a checkpoint's queues and users, if the logs are short. Meanwhile the
// other nodes have time to hand shards over to this one.
func loading() {
	if logs != (cluster.Logs{}) {
		time.Sleep(4*time.Second + rand.N(4*time.Second))
	}
}
