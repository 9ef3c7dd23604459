package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sluicemq/sluice/internal/control"
)

// KeyPrefix begins the keys of the cluster's own records in the control store.
const KeyPrefix = "cluster/"

const (
	keySettings = KeyPrefix + "settings"
	keyShard    = KeyPrefix + "shard/"
	keyNode     = KeyPrefix + "node/"
	keyGone     = KeyPrefix + "gone/"
)

// settings holds the decisions of the cluster's founding, and the removed incarnations. An older program omits fields
// that it does not know, and keeps the record unchanged.
type settings struct {
	Shards  int      // with messages
	Founder string   // the founding node
	OldData []string `json:"Bears,omitempty"` // shards whose data the founder brought in
	Removed []string `json:",omitempty"`      // removed or replaced servers, the last maxRemoved of them
	Backup  string   `json:",omitempty"`      // identity of the continuous backups; empty: none was needed
}

// maxRemoved limits a record that is read and written as a whole.
const maxRemoved = 1000

// remove records removed servers.
func (s *settings) remove(servers ...string) {
	s.Removed = slices.Concat(s.Removed, servers)
	s.Removed = s.Removed[max(0, len(s.Removed)-maxRemoved):]
}

// nodeRecord is the cluster's record of a node, which may be dead.
type nodeRecord struct {
	Incarnation string
	Draining    bool `json:",omitempty"`
	GivenUp     bool `json:",omitempty"` // away for so long that another node has replaced it
}

// gone is a server that the engine must still forget.
type gone struct{}

// records holds the cluster's records in memory. All nodes eventually have the same.
type records struct {
	mu       sync.RWMutex
	settings settings
	shards   map[string]shardRecord
	nodes    map[string]nodeRecord
	gone     map[string]bool
	changed  chan struct{} // closed at the next change
}

func newRecords() *records {
	return &records{
		shards:  make(map[string]shardRecord),
		nodes:   make(map[string]nodeRecord),
		gone:    make(map[string]bool),
		changed: make(chan struct{}),
	}
}

// Load implements control.Reader.
func (r *records) Load(all iter.Seq2[string, []byte]) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settings = settings{}
	clear(r.shards)
	clear(r.nodes)
	clear(r.gone)
	for key, value := range all {
		if err := r.put(key, value); err != nil {
			return err
		}
	}
	r.tell()
	return nil
}

// Apply implements control.Reader.
func (r *records) Apply(changes []control.Change) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range changes {
		if c.Removed {
			r.remove(c.Key)
		} else if err := r.put(c.Key, c.Value); err != nil {
			return err
		}
	}
	r.tell()
	return nil
}

func (r *records) put(key string, value []byte) error {
	var err error
	switch {
	case key == keySettings:
		err = json.Unmarshal(value, &r.settings)
	case strings.HasPrefix(key, keyShard):
		var s shardRecord
		err = json.Unmarshal(value, &s)
		r.shards[key[len(keyShard):]] = s
	case strings.HasPrefix(key, keyNode):
		var n nodeRecord
		err = json.Unmarshal(value, &n)
		r.nodes[key[len(keyNode):]] = n
	case strings.HasPrefix(key, keyGone):
		r.gone[key[len(keyGone):]] = true
	default:
		err = errors.New("unknown key, written by a newer program")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func (r *records) remove(key string) {
	switch {
	case strings.HasPrefix(key, keyShard):
		delete(r.shards, key[len(keyShard):])
	case strings.HasPrefix(key, keyNode):
		delete(r.nodes, key[len(keyNode):])
	case strings.HasPrefix(key, keyGone):
		delete(r.gone, key[len(keyGone):])
	}
}

func (r *records) tell() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// watch returns a channel that is closed at the next change.
func (r *records) watch() <-chan struct{} {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.changed
}

func (r *records) count() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.settings.Shards
}

// founder returns the node that founded the cluster, and whether it brought in data of a shard.
func (r *records) founder(shard string) (node string, hasOldData bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.settings.Founder, slices.Contains(r.settings.OldData, shard)
}

// removed reports whether an incarnation of a node was removed.
func (r *records) removed(i incarnation) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Contains(r.settings.Removed, i.server())
}

// allSettings returns a copy that the caller may change.
func (r *records) allSettings() settings {
	r.mu.RLock()
	defer r.mu.RUnlock()
	s := r.settings
	s.Removed = slices.Clone(s.Removed)
	return s
}

func (r *records) shard(name string) shardRecord {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.shards[name]
}

func (r *records) allShards() map[string]shardRecord {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return maps.Clone(r.shards)
}

func (r *records) node(name string) (nodeRecord, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	n, ok := r.nodes[name]
	return n, ok
}

func (r *records) allNodes() map[string]nodeRecord {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return maps.Clone(r.nodes)
}

// nodeNames returns the names of the nodes that the cluster knows, in a fixed order.
func (r *records) nodeNames() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.nodes))
}

// allGone returns the servers that the engine must still forget.
func (r *records) allGone() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Collect(maps.Keys(r.gone))
}
