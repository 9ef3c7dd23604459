package cluster

import (
	"maps"
	"slices"
	"sync"
)

// locals are the replicas of shards with messages that are open on this node. A replica is added when it has begun to
// run, and taken out before it is stopped. The zero value is ready for use.
type locals struct {
	mu   sync.Mutex
	open map[string]*local // by the name of the shard
}

func (ls *locals) all() []*local {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return slices.Collect(maps.Values(ls.open))
}

// of returns the replica of a shard, or nil.
func (ls *locals) of(name string) *local {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return ls.open[name]
}

func (ls *locals) add(l *local) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.open == nil {
		ls.open = make(map[string]*local)
	}
	ls.open[l.name] = l
}

// take takes the replica of a shard out, and returns it, or nil.
func (ls *locals) take(name string) *local {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.open[name]
	delete(ls.open, name)
	return l
}
