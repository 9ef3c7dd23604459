package cluster

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/sluicemq/sluice/internal/datadir"
)

// kindFormat raises the format of a node's data directory. Nodes of older programs do not answer it: they learn the
// format from heartbeats.
const kindFormat = "format"

// directoryFormat is the format of this node's data directory. The shards of this node raise it, and so do those of
// other nodes: each node may hold a replica of what they write, and an older program must not open it. Before the first
// record of a format, its owner tells all live nodes. The others learn the format from heartbeats, when they come.
type directoryFormat struct {
	mu     sync.Mutex
	number int // 0: not known yet
}

// current returns the format, or 0 if the directory cannot be read.
func (f *directoryFormat) current(dir string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.number == 0 {
		if have, err := datadir.ReadFormat(dir); err == nil {
			f.number = have.Number
		}
	}
	return f.number
}

// require raises the format to number, if it is lower.
func (f *directoryFormat) require(dir string, number int, version string) error {
	if f.current(dir) >= number {
		return nil
	}
	if err := datadir.Require(dir, number, version); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.number = max(f.number, number)
	return nil
}

// requireFormat writes down, durably, that this node's data directory has at least that format.
func (c *common) requireFormat(number int) error {
	return c.format.require(c.o.Dir, number, c.o.Version)
}

// requireFormat raises the format of this node's data directory, and then that of all live nodes.
func (m *membership) requireFormat(number int) error {
	if m.format.current(m.o.Dir) >= number {
		return nil
	}
	if err := m.common.requireFormat(number); err != nil {
		return err
	}
	m.tellFormat(number)
	return nil
}

// tellFormat waits until all live nodes have raised the format of their data directories. A node that does not answer
// soon learns it later: it must not stop the others.
func (m *membership) tellFormat(number int) {
	ctx, cancel := context.WithTimeout(m.ctx, m.times.stall)
	defer cancel()
	var all sync.WaitGroup
	for node := range m.view.live() {
		if node == m.o.Name {
			continue
		}
		all.Go(func() {
			if _, err := m.messages.Request(ctx, node, kindFormat, []byte(strconv.Itoa(number))); err != nil {
				m.log.Debug("node has not raised the format of its data directory", "node", node, "error", err)
			}
		})
	}
	all.Wait()
}

// onFormat answers tellFormat.
func (m *membership) onFormat(_ context.Context, message []byte) ([]byte, error) {
	number, err := strconv.Atoi(string(message))
	if err != nil {
		return nil, err
	}
	if number > m.o.Reads {
		return nil, fmt.Errorf("this program reads formats up to %d", m.o.Reads)
	}
	return nil, m.common.requireFormat(number)
}

// hearFormat raises the format of this node's data directory to that of another node, if this program reads it.
func (c *common) hearFormat(h heartbeat) {
	if h.Format <= c.format.current(c.o.Dir) || h.Format > c.o.Reads {
		return
	}
	c.tasks.start(func() {
		if err := c.requireFormat(h.Format); err != nil {
			c.log.Debug("the format of the data directory is not raised yet", "format", h.Format, "error", err)
		}
	})
}
