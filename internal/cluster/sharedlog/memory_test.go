package sharedlog_test

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog/logtest"
)

func TestMemory(t *testing.T) {
	logtest.TestLog(t, func(*testing.T) sharedlog.Log {
		return sharedlog.NewMemory(time.Second, nil).Log("1")
	})
	logtest.TestLeases(t, func(*testing.T) sharedlog.Leases {
		return sharedlog.NewMemory(500*time.Millisecond, nil)
	})
}
