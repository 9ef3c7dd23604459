package cluster

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
)

// heartbeat is a node's statement about itself, sent to the others every timing.heartbeat.
type heartbeat struct {
	Node        string
	Incarnation string
	Endpoint    string // where clients reach it
	Version     string
	Reads       int  `json:",omitempty"`      // the newest format of a data directory that it reads; 0: unknown
	Format      int  `json:",omitempty"`      // of its data directory; 0: unknown
	Low         bool `json:",omitempty"`      // its disk is nearly full
	OldData     bool `json:"Bears,omitempty"` // it has data from before the cluster
	Leaving     bool `json:",omitempty"`      // it is about to stop
	Unready     bool `json:",omitempty"`      // does not answer clients at present; not reported by older programs
	// Failover is the node's failover timeout. 0 means an older program, which does not report Silent.
	Failover    time.Duration `json:",omitempty"`
	Silent      []string      `json:",omitempty"` // the nodes that it no longer hears
	Shards      map[string]replica.Status
	Copies      map[string]logCopies `json:",omitempty"` // of the logs that it owns
	Unknown     map[string]int       `json:",omitempty"` // by owned shard: the number of queues with data here that the node does not know
	Certificate *time.Time           `json:",omitempty"` // when it expires
	Skew        time.Duration        `json:",omitempty"` // how far its clock is ahead of the majority
	Told        json.RawMessage      `json:",omitempty"` // see Options.Tell
}

// view is a node's knowledge of the others, from their heartbeats and the leases. It may be out of date.
type view struct {
	silence time.Duration // see timing

	mu         sync.Mutex
	nodes      map[string]heard
	duplicates map[string]string    // incarnations that appeared while another of the same name was alive
	missed     map[string]time.Time // since when a node is not alive
	unanswered map[string]bool      // nodes silent since the latest heartbeat was sent to them
	owners     map[string]replica.Holder
	markedDead map[string]bool          // shards whose owner is logged as dead
	changed    map[string]chan struct{} // by shard; closed when its owner changes or dies
}

type heard struct {
	said  heartbeat
	at    time.Time // start of its silence; see forgive
	spoke time.Time // time of its last message
}

func newView(silence time.Duration) *view {
	return &view{
		silence: silence,
		nodes:   make(map[string]heard), duplicates: make(map[string]string), missed: make(map[string]time.Time),
		unanswered: make(map[string]bool),
		owners:     make(map[string]replica.Holder), markedDead: make(map[string]bool),
		changed: make(map[string]chan struct{}),
	}
}

// record records a node's heartbeat, and reports whether it changes anything that decisions depend on. Of two processes
// with one name, the first counts until it is silent. The other one is reported once as a duplicate.
func (v *view) record(b heartbeat, at time.Time) (news, duplicate bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	was, known := v.nodes[b.Node]
	alive := known && at.Sub(was.at) < v.silence
	if alive && was.said.Incarnation != b.Incarnation {
		duplicate = v.duplicates[b.Node] != b.Incarnation
		v.duplicates[b.Node] = b.Incarnation
		return false, duplicate
	}
	v.nodes[b.Node] = heard{b, at, at}
	delete(v.missed, b.Node)
	delete(v.unanswered, b.Node)
	return !alive || was.said.Leaving != b.Leaving || !slices.Equal(was.said.Silent, b.Silent), false
}

// isDuplicate reports whether a heartbeat comes from a second process with its name, which does not count.
func (v *view) isDuplicate(b heartbeat) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.nodes[b.Node].said.Incarnation != b.Incarnation
}

// spoke returns when an incarnation of a node was last heard. It is zero if another incarnation counts now.
func (v *view) spoke(i incarnation) time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if h := v.nodes[i.Node]; h.said.Incarnation == i.ID {
		return h.spoke
	}
	return time.Time{}
}

// noAnswer records that a node did not answer a heartbeat sent at a time.
func (v *view) noAnswer(node string, sent time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.nodes[node].at.Before(sent) {
		v.unanswered[node] = true
	}
}

// isUnanswered reports whether a node did not answer the latest heartbeat. The node may be dead; after silence it
// counts as dead.
func (v *view) isUnanswered(node string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unanswered[node]
}

// markDead wakes the callers that wait for an owner that has died, because no answer will come.
func (v *view) markDead(at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for s, o := range v.owners {
		h, known := v.nodes[o.Node]
		if dead := known && at.Sub(h.at) >= v.silence; dead && !v.markedDead[s] {
			v.markedDead[s] = true
			v.tell(s)
		} else if !dead {
			delete(v.markedDead, s)
		}
	}
}

// forgive gives all nodes more time: this process was paused, or the machine was too busy to run it, and their messages
// are still unread.
func (v *view) forgive(late time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, h := range v.nodes {
		h.at = h.at.Add(late)
		v.nodes[name] = h
	}
}

// silent returns the nodes that were once heard and are silent now, in a fixed order.
func (v *view) silent() (nodes []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	for name, h := range v.nodes {
		if now.Sub(h.at) >= v.silence {
			nodes = append(nodes, name)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// nextSilence returns when the next node counts as dead if no more messages come. It returns false if all nodes already
// do.
func (v *view) nextSilence() (at time.Time, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	for _, h := range v.nodes {
		if end := h.at.Add(v.silence); end.After(now) && (!ok || end.Before(at)) {
			at, ok = end, true
		}
	}
	return at, ok
}

// isSilent reports whether a node was once heard and is silent now.
func (v *view) isSilent(node string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	h, known := v.nodes[node]
	return known && time.Since(h.at) >= v.silence
}

// update records the leases.
func (v *view) update(leases map[string][]byte) {
	owners := make(map[string]replica.Holder)
	for name, value := range leases {
		if rest, ok := strings.CutPrefix(name, replica.LeaseName("")); ok {
			var o replica.Holder
			if json.Unmarshal(value, &o) == nil {
				owners[rest] = o
			}
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for s, o := range owners {
		v.set(s, o)
	}
}

// learn records an owner that another node, or a log, has reported.
func (v *view) learn(shard string, o replica.Holder) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.set(shard, o)
}

// set records an owner, unless a later one is known. A shard without a lease keeps its last known owner until a later
// epoch. v.mu is held.
func (v *view) set(shard string, o replica.Holder) {
	if o.Epoch == 0 || v.owners[shard].Epoch >= o.Epoch {
		return
	}
	v.owners[shard] = o
	delete(v.markedDead, shard)
	v.tell(shard)
}

// tell wakes the watchers of a shard. v.mu is held.
func (v *view) tell(shard string) {
	if c := v.changed[shard]; c != nil {
		close(c)
		delete(v.changed, shard)
	}
}

// owner returns the last known owner of a shard.
func (v *view) owner(shard string) (replica.Holder, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, ok := v.owners[shard]
	return o, ok
}

// watch returns a channel that is closed when the shard gets another owner, or its owner dies.
func (v *view) watch(shard string) <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.changed[shard]
	if c == nil {
		c = make(chan struct{})
		v.changed[shard] = c
	}
	return c
}

// live returns the live nodes with their last heartbeats.
func (v *view) live() map[string]heartbeat {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	out := make(map[string]heartbeat)
	for name, h := range v.nodes {
		if now.Sub(h.at) < v.silence {
			out[name] = h.said
		}
	}
	return out
}

// lastSaid returns the last heartbeat of each node, including dead ones.
func (v *view) lastSaid() map[string]heartbeat {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make(map[string]heartbeat, len(v.nodes))
	for name, h := range v.nodes {
		out[name] = h.said
	}
	return out
}

// missedFor returns how long a node has been dead.
func (v *view) missedFor(node string) time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	at, ok := v.missed[node]
	if !ok {
		if at = v.nodes[node].at; at.IsZero() {
			at = now
		}
		v.missed[node] = at
	}
	return now.Sub(at)
}
