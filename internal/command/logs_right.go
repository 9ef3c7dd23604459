//go:build !faults

package command

import "github.com/sluicemq/sluice/internal/cluster"

// logs is how long the logs of a cluster hold what is flushed: as long as is right, but in programs that are built for
// torture.
var logs cluster.Logs

// loading is called before the queues and users of a checkpoint are fetched and loaded; nil, but in such programs.
var loading func()
