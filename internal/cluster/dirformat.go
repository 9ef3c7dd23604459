package cluster

import (
	"sync"

	"github.com/sluicemq/sluice/internal/datadir"
)

// directoryFormat is the format of this node's data directory. The shards of this node raise it, and so do those of
// other nodes, as their heartbeats say: each node may hold a replica of what they write, and an older program must not
// open it.
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
