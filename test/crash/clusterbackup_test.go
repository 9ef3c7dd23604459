package crash

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// backedUpNodes is a cluster that makes continuous backups, and the calls to it.
type backedUpNodes struct {
	*backedUp
	*rolling
	ending *workload.Ending
}

// TestKillClusterBackup kills the node of a cluster that makes the continuous backups, during a backup and under load:
// another node continues. Finally it kills all nodes. Then it restores the last moment and some others into clusters of
// one node, and checks each as TestKillContinuousBackup does. The cluster itself must keep its promises, too.
func TestKillClusterBackup(t *testing.T) {
	program.Long(t)
	t.Parallel()
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("SLUICE_TEST_CRASH_SEED=%d", seed)
	c := newBackedUpNodes(t, rand.New(rand.NewPCG(seed, 0)))
	idle := c.use()
	rounds := number(t, "SLUICE_TEST_CRASH_ROUNDS", 2)
	for range rounds {
		c.killMaker()
	}
	c.killAll(idle)
	moments, queues := c.moments(t), c.queues()
	for _, m := range c.choose(moments) {
		h := c.history.Restored(m.span(c.clock))
		t.Run(fmt.Sprintf("moment %d of %d", m.Number, len(moments)),
			func(t *testing.T) { c.judge(t, m, h, queues, seed) })
	}
	c.restartAll()
	c.ending.Queues = c.users.Queues()
	c.ending.Quiesce()
	c.ending.Drain()
	report(t, c.history, seed)
	t.Logf("%d moments", len(moments))
}

func newBackedUpNodes(t *testing.T, rng *rand.Rand) *backedUpNodes {
	b := newBackedUp(t, rng)
	b.history.Grace = 30 * time.Second
	flags := []string{"--backup-to", b.url(), "--backup-every", "1s", "--backup-bandwidth", "8MiB"}
	c := &backedUpNodes{
		backedUp: b, rolling: &rolling{nodes: newNodes(t, b.binary, flags...), new: b.binary, journal: b.journal},
	}
	t.Cleanup(c.stop)
	c.whole()
	c.ending = &workload.Ending{
		Recorder: &workload.Recorder{
			Journal: b.journal, Worker: "test", Pick: c.pick(rand.New(rand.NewPCG(rng.Uint64(), 0))),
		},
		Wait: time.Second, Patience: 3 * time.Minute,
	}
	if err := c.ending.Persist(func() error { return b.users.Establish(c.ending.Recorder) }); err != nil {
		t.Fatal(err)
	}
	c.learn(b.users.Topics())
	return c
}

// use makes all users use all nodes, until the returned function is called.
func (c *backedUpNodes) use() (idle func()) {
	ctx, over := context.WithCancel(c.Context())
	var all sync.WaitGroup
	for _, w := range c.users.Workers {
		own := rand.New(rand.NewPCG(c.rng.Uint64(), 0))
		rec := &workload.Recorder{Journal: c.backedUp.journal, Worker: w.Name(), Pick: c.pick(own)}
		all.Go(func() {
			for ctx.Err() == nil {
				rec.Gone = false
				w.Step(rec)
				rec.Sleep(time.Duration(20+own.IntN(50)) * time.Millisecond)
			}
		})
	}
	c.Cleanup(func() { over(); all.Wait() })
	return func() { over(); all.Wait() }
}

// maker returns the node that is making a backup.
func (c *backedUpNodes) maker() (node int) {
	c.Helper()
	eventually.True(c.T, "in a backup", func() bool {
		for i := range c.running {
			if c.backedUp.files(c.T, c.nodes.data(i), "backup-*") > 0 {
				node = i
				return true
			}
		}
		return false
	})
	return node
}

// killMaker kills the node that makes the backups, and restarts it when another one has made some.
func (c *backedUpNodes) killMaker() {
	c.Helper()
	c.await(c.T, time.Now())
	c.sleep(time.Second)
	i := c.maker()
	healed := c.backedUp.journal.Trouble("kill", "node "+c.name(i))
	c.nodes.kill(i)
	killed := time.Now()
	c.await(c.T, killed)
	c.Logf("node %s was killed; there was a backup by another node after at most %s", c.name(i),
		time.Since(killed).Round(time.Millisecond))
	c.running[i] = c.start(i)
	c.wait(i)
	c.whole()
	healed()
}

// killAll kills all nodes during a backup, and ends their use.
func (c *backedUpNodes) killAll(idle func()) {
	c.Helper()
	c.await(c.T, time.Now())
	c.maker()
	c.revived = c.backedUp.journal.Trouble("kill", "all nodes")
	for i := range c.running {
		_ = c.running[i].cmd.Process.Kill()
	}
	idle()
	c.stop()
}

func (c *backedUpNodes) restartAll() {
	c.Helper()
	for i := range c.running {
		c.running[i] = c.start(i)
	}
	for i := range c.running {
		c.wait(i)
	}
	c.whole()
	c.revived()
}

// judge restores a moment into a cluster of one node, and checks its contents.
func (c *backedUpNodes) judge(t *testing.T, m backupMoment, h *history.History, queues []history.Queue, seed uint64) {
	data := filepath.Join(t.TempDir(), fmt.Sprint(m.Number))
	at := m.Moment.Format(time.RFC3339Nano)
	c.sluice(t, "backup", "verify", c.url(), "--at", at, "--scratch", t.TempDir())
	c.sluice(t, "restore", c.url(), "--at", at, "--data", data)
	p := launch(t, c.backedUp.binary, data, "--node", "z", "--cluster", "z=127.0.0.1:0", "--cluster-name", "restored")
	c.drain(t, p, p.ready(t), h, queues)
	report(t, h, seed)
}
