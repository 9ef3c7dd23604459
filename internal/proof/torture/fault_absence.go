package torture

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/proof/workload"
)

const (
	// shortLogs makes servers that are built with faultsTag trim their logs after seconds.
	shortLogs = "SLUICE_LOG_FAULTS=short"
	// missed is the minimum number of records of the control shard that a node misses. It also exceeds the records of
	// the second by which a status may be old.
	missed = 150
	// slowest is the maximum delay of a node's packets when it is back.
	slowest = 500 * time.Millisecond
)

// absence keeps a node away until the log of the control shard no longer holds what the node misses.
type absence struct {
	node  int
	dead  bool          // its process is killed; otherwise it is cut off from the other nodes
	delay time.Duration // of the network to and from the node, as long as slow lasts
	slow  time.Duration // from its return on
	seen  int           // checkpoints that it has had before
}

func newAbsence(rng *rand.Rand, nodes int) fault {
	f := &absence{node: rng.IntN(nodes), dead: rng.IntN(3) == 0}
	if rng.IntN(2) == 0 {
		f.delay, f.slow = upTo(rng, 50*time.Millisecond, slowest), upTo(rng, 2*time.Second, 12*time.Second)
	}
	return f
}

func (f *absence) String() string {
	how := "cut off"
	if f.dead {
		how = "killed"
	}
	text := fmt.Sprintf("%s, %s until the control log is trimmed", nameOf(f.node), how)
	if f.slow > 0 {
		delay, slow := f.delay.Round(time.Millisecond), f.slow.Round(time.Millisecond)
		text += fmt.Sprintf(", and back with a delay of %v for %v", delay, slow)
	}
	return text
}

// set sets the weather on the ways to and from the node.
func (f *absence) set(c *cluster, w weather) error {
	p := partition{side: []int{f.node}}
	for i := range c.nodes {
		if i != f.node {
			p.others = append(p.others, i)
		}
	}
	return p.set(c, w, w)
}

func (f *absence) inject(c *cluster) error {
	n := c.nodes[f.node]
	var err error
	if f.seen, err = n.checkpoints(); err != nil {
		return err
	}
	if f.dead {
		err = n.kill()
	} else {
		err = f.set(c, weather{There: true, Back: true})
	}
	if err == nil {
		f.wait(c)
	}
	return err
}

// wait waits until the log of the control shard begins behind all records that the node can have. A server without
// short logs flushes every 30 s and trims at least 1,000 records. If it takes longer than Config.Patience, the node
// returns without a checkpoint, and the report does not count it.
func (f *absence) wait(c *cluster) {
	ctx, cancel := context.WithTimeout(context.Background(), c.config.Patience)
	defer cancel()
	end := int64(-1)
	for {
		if s, ok := f.control(ctx, c); ok {
			if end < 0 {
				end = s.LogLast
			}
			if s.LogFirst > end+missed {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// control returns the status of the control shard, as another node sees it.
func (f *absence) control(ctx context.Context, c *cluster) (out status.Shard, ok bool) {
	for i, client := range c.clients {
		var s status.Status
		if i == f.node || client.Administer(ctx, "DescribeCluster", workload.Object{}, &s) != nil {
			continue
		}
		for _, shard := range s.Shards {
			if shard.Name == status.ControlShard {
				return shard, true
			}
		}
	}
	return out, false
}

func (f *absence) heal(c *cluster) error {
	if f.slow > 0 && !c.config.Namespaces {
		if err := f.set(c, weather{Delay: f.delay}); err != nil {
			return err
		}
	}
	if f.dead {
		if err := c.nodes[f.node].start(); err != nil {
			return err
		}
	}
	if f.slow > 0 {
		time.Sleep(f.slow)
	}
	return f.set(c, weather{})
}

// returned reports whether the node has had a checkpoint of the control shard.
func (f *absence) returned(c *cluster) bool {
	now, err := c.nodes[f.node].checkpoints()
	return err == nil && now > f.seen
}

// checkpoints returns how many checkpoints of the control shard have replaced the node's store, by its log.
func (n *node) checkpoints() (count int, err error) {
	text, err := os.ReadFile(filepath.Join(n.dir, "log"))
	if err != nil {
		return 0, err
	}
	replaced, control := []byte("the store has been replaced by a checkpoint"), []byte("shard="+status.ControlShard)
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, replaced) && bytes.Contains(line, control) {
			count++
		}
	}
	return count, nil
}
