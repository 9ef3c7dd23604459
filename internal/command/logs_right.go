//go:build !faults

package command

import "github.com/sluicemq/sluice/internal/cluster"

// logs uses the default times: only servers built for torture tests shorten them.
var logs cluster.Logs

// loading is nil: only servers built for torture tests slow the loading of checkpoints.
var loading func()
