package cluster_test

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/store"
)

// settled waits until all shards are owned by the nodes that should own them, among these nodes, and all their replicas
// are complete.
func (w *world) settled(names ...string) status.Status {
	w.t.Helper()
	var s status.Status
	w.eventually("all shards are where they should be", func() bool {
		for _, name := range names {
			s = w.at(name).node.Status()
			if !well(s, names) {
				return false
			}
		}
		return true
	})
	return s
}

func well(s status.Status, names []string) bool {
	if len(s.Shards) == 0 {
		return false
	}
	for _, sh := range s.Shards {
		if sh.Owner == "" || sh.Owner != sh.Preferred || !slices.Contains(names, sh.Owner) || sh.Parted != 0 ||
			len(sh.Replicas) < min(3, len(names)) || sh.Name != "control" && len(sh.Replicas) > 3 {
			return false
		}
		for _, r := range sh.Replicas {
			if slices.Contains(names, r.Node) && (r.Error != "" || r.Role == "absent" || r.Lag > 200) {
				return false
			}
		}
	}
	return true
}

// brief summarizes a status.
func brief(s status.Status) string {
	out := ""
	for _, n := range s.Nodes {
		out += fmt.Sprintf("\n  %s: live %t, away %d s, draining %t, leaving %t, owns %v", n.Name, n.Live,
			n.AwaySeconds, n.Draining, n.Leaving, n.Owns)
	}
	for _, sh := range s.Shards {
		out += fmt.Sprintf("\n  %s: owner %q, preferred %q, epoch %d, log %d-%d", sh.Name, sh.Owner, sh.Preferred,
			sh.Epoch, sh.LogFirst, sh.LogLast)
		for _, r := range sh.Replicas {
			out += fmt.Sprintf("; %s %s at %d, durable %d %s", r.Node, r.Role, r.Applied, r.Durable, r.Error)
		}
	}
	return out
}

// gone returns the servers that the engine has forgotten.
func (w *world) gone() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.forgotten)
}

// stores returns the number of shards with messages whose store is on a machine.
func (w *world) stores(name string) int {
	m := w.machines[name]
	n := 0
	for i := range 6 {
		is, err := store.Exists(m.process.disk, filepath.Join(m.dir, "shards", fmt.Sprintf("%04d", i+1)))
		w.must(err)
		if is {
			n++
		}
	}
	return n
}

// durableOf returns how much of each shard would survive the end of a node.
func durableOf(p *process) map[string]int64 {
	out := make(map[string]int64)
	for _, sh := range p.node.Status().Shards {
		for _, r := range sh.Replicas {
			if r.Node == p.machine.name { // it knows its own
				out[sh.Name] = r.Durable
			}
		}
	}
	return out
}
