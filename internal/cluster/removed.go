package cluster

import (
	"fmt"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
)

// codeRemoved is the error code with which nodes answer a removed node.
const codeRemoved = "Removed"

// errRemoved tells the operator why a removed node does not start.
func (c *common) errRemoved() error {
	return fmt.Errorf(
		"the node %s was removed from the cluster, or replaced by one with an empty disk, "+
			"and cannot return with its data: empty the data directory %s, and it joins as a new node",
		c.o.Name,
		c.o.Dir,
	)
}

// refuseRemoved returns an error if an incarnation was removed.
func (m *membership) refuseRemoved(i incarnation) error {
	if !m.records.removed(i) {
		return nil
	}
	if m.returned.note(i.server(), time.Now()) {
		m.log.Warn(
			"a node that was removed, or replaced, has returned with its old data; it is refused",
			"node",
			i.Node,
			"incarnation",
			i.ID,
		)
	}
	return &messenger.Failure{Code: codeRemoved, Text: "this node was removed from the cluster"}
}

// returned holds the removed servers that have returned. When their process has ended, the engine must remove them
// again. The zero value is ready for use.
type returned struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// note records a heartbeat of a server, and reports whether the server is new here.
func (r *returned) note(server string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen == nil {
		r.seen = make(map[string]time.Time)
	}
	_, known := r.seen[server]
	r.seen[server] = now
	return !known
}

// silent returns the servers that have been silent for at least the given time, each once.
func (r *returned) silent(now time.Time, after time.Duration) (servers []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for server, at := range r.seen {
		if now.Sub(at) >= after {
			servers = append(servers, server)
			delete(r.seen, server)
		}
	}
	return servers
}
