package cluster

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
)

// heartbeat is what a node says of itself to the others, every timing.heartbeat.
type heartbeat struct {
	Node        string
	Incarnation string
	Endpoint    string // where clients reach it
	Version     string
	Reads       int  `json:",omitempty"`      // the newest format of a data directory that it reads; 0: it does not say so yet
	Low         bool `json:",omitempty"`      // its disk is nearly full
	OldData     bool `json:"Bears,omitempty"` // it has data from before it was in a cluster
	Leaving     bool `json:",omitempty"`      // it is about to stop
	Unready     bool `json:",omitempty"`      // it answers no clients: not yet, no more, or not now. Older programs do not say so
	// Failover is by which timeout the node goes. 0: its program is older, and says nothing of Silent.
	Failover    time.Duration `json:",omitempty"`
	Silent      []string      `json:",omitempty"` // the nodes that it does not hear of any more
	Shards      map[string]replica.Status
	Copies      map[string]logCopies `json:",omitempty"` // of the logs of what it owns
	Unknown     map[string]int       `json:",omitempty"` // by shard that it owns: the queues that it keeps and does not know
	Certificate *time.Time           `json:",omitempty"` // when it ends
	Skew        time.Duration        `json:",omitempty"` // how far its clock is ahead of the majority's
	Told        json.RawMessage      `json:",omitempty"` // see Options.Tell
}

// view is what a node has heard of the others, and seen of the leases. It may be
// behind.
type view struct {
	silence time.Duration // see timing

	mu         sync.Mutex
	nodes      map[string]heard
	duplicates map[string]string    // incarnations that came while another of the same name was alive
	missed     map[string]time.Time // since when a node is not alive
	unanswered map[string]bool      // nodes that have not answered the latest heartbeat, nor sent one since
	owners     map[string]replica.Holder
	markedDead map[string]bool          // shards whose owner is not alive, which has been logged
	changed    map[string]chan struct{} // of shards, closed when the owner changes or is no longer alive
}

type heard struct {
	said  heartbeat
	at    time.Time // from which its silence is counted, see forgive
	spoke time.Time // when it was heard of last
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

// record notes what a node has said, and reports whether that is news that decisions depend on. Of
// two processes of one name the first counts, until it is silent; of the other one it
// reports once that it is a duplicate.
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

// isDuplicate reports whether a heartbeat is of a second process of its name, which does not count.
func (v *view) isDuplicate(b heartbeat) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.nodes[b.Node].said.Incarnation != b.Incarnation
}

// spoke returns when an incarnation of a node was heard of last. It is zero if another one counts now.
func (v *view) spoke(i incarnation) time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	if h := v.nodes[i.Node]; h.said.Incarnation == i.ID {
		return h.spoke
	}
	return time.Time{}
}

// noAnswer notes that a node has not answered a heartbeat that was sent at a time.
func (v *view) noAnswer(node string, sent time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.nodes[node].at.Before(sent) {
		v.unanswered[node] = true
	}
}

// isUnanswered reports whether a node has not answered the latest heartbeat. It may be
// gone, which is certain only after silence.
func (v *view) isUnanswered(node string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.unanswered[node]
}

// markDead tells those who wait for owners that are no longer alive: there is no use in
// waiting for an answer of theirs.
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

// forgive gives all nodes so much more time to be heard of: this process was paused, or the machine was too busy to run
// it, and what they have said meanwhile is yet to be read.
func (v *view) forgive(late time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for name, h := range v.nodes {
		h.at = h.at.Add(late)
		v.nodes[name] = h
	}
}

// silent returns the nodes that were heard of and are no longer, in a fixed order.
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

// nextSilence returns when the next node counts as dead if none is heard of any more, or false if all do.
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

// isSilent reports whether a node that was heard of is no longer.
func (v *view) isSilent(node string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	h, known := v.nodes[node]
	return known && time.Since(h.at) >= v.silence
}

// update takes in the leases.
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

// learn takes in an owner that another node, or a log, has reported.
func (v *view) learn(shard string, o replica.Holder) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.set(shard, o)
}

// set notes an owner, unless a later one is known. A shard that no node has the
// lease of still has its last owner, for all that is known: only a later epoch
// ends one. v.mu is held.
func (v *view) set(shard string, o replica.Holder) {
	if o.Epoch == 0 || v.owners[shard].Epoch >= o.Epoch {
		return
	}
	v.owners[shard] = o
	delete(v.markedDead, shard)
	v.tell(shard)
}

// tell tells those who watch a shard. v.mu is held.
func (v *view) tell(shard string) {
	if c := v.changed[shard]; c != nil {
		close(c)
		delete(v.changed, shard)
	}
}

// owner returns who owned a shard last.
func (v *view) owner(shard string) (replica.Holder, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, ok := v.owners[shard]
	return o, ok
}

// watch returns a channel that is closed when the shard gets another owner, or its
// owner is not heard of any more.
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

// live returns the nodes that are alive, with what they have said last.
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

// lastSaid returns what each node has said last, also of those that are not alive.
func (v *view) lastSaid() map[string]heartbeat {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := make(map[string]heartbeat, len(v.nodes))
	for name, h := range v.nodes {
		out[name] = h.said
	}
	return out
}

// missedFor returns for how long a node that is not alive has been missed.
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
