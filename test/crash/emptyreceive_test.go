package crash

import (
	"os"
	"path/filepath"
	"testing"

	catalogue "github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/signing"
	"github.com/sluicemq/sluice/test/program"
)

// A server that is killed while only empty receives happen has written the earlier ones. The state after a kill is read
// from a copy of the data directory, until it has all of them.
func TestKillKeepsEmptyReceives(t *testing.T) {
	t.Parallel()
	const rounds, receives = 3, 20
	binary, data := program.Build(t), t.TempDir()
	for round := range rounds {
		p := launch(t, binary, data)
		c := p.ready(t)
		if round == 0 {
			if err := c.Create(history.Queue{Name: "idle"}); err != nil {
				t.Fatal(err)
			}
		}
		for range receives {
			if _, err := c.Receive("idle", workload.Receive{Most: 1}); err != nil {
				t.Fatal(err)
			}
		}
		want := int64((round + 1) * receives)
		eventually.True(t, "the empty receives are on the disk", func() bool {
			copied := filepath.Join(t.TempDir(), "data")
			return os.CopyFS(copied, os.DirFS(data)) == nil && emptyReceivesIn(copied, "idle") == want
		})
		p.kill(t)
		c.Close()
		if n := emptyReceivesIn(data, "idle"); n != want {
			t.Errorf("after %d kills %d empty receives are counted, want %d", round+1, n, want)
		}
	}
}

// emptyReceivesIn returns a queue's number of empty receives in a data directory, or -1 if it cannot be read.
func emptyReceivesIn(data, name string) int64 {
	control, err := store.OpenReadOnly(filepath.Join(data, server.ControlDir), store.Options{})
	if err != nil {
		return -1
	}
	defer func() { _ = control.Close() }()
	shard, err := store.OpenReadOnly(filepath.Join(data, server.ShardDir), store.Options{})
	if err != nil {
		return -1
	}
	defer func() { _ = shard.Close() }()
	listed, _, err := catalogue.Check(control, topic.Prefix, signing.Prefix)
	if err != nil {
		return -1
	}
	var configs []queue.Config
	for _, q := range listed.Queues {
		configs = append(configs, q.ConfigOn(1))
	}
	happened, err := queue.Happened(shard, configs)
	if err != nil {
		return -1
	}
	return happened[workload.ARN(name)][queue.MetricEmptyReceives]
}
