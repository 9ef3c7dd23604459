package cluster

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
)

// beat is what a node says of itself to the others, every second.
type beat struct {
	Node        string
	Incarnation string
	Endpoint    string // where clients reach it
	Version     string
	Low         bool `json:",omitempty"` // its disk is nearly full
	Bears       bool `json:",omitempty"` // it has data from before it was in a cluster
	Leaving     bool `json:",omitempty"` // it is about to stop
	Shards      map[string]replica.Status
	Copies      map[string]logCopies `json:",omitempty"` // of the logs of what it owns
	Certificate *time.Time           `json:",omitempty"` // when it ends
	Skew        time.Duration        `json:",omitempty"` // how far its clock is ahead of the majority's
}

// view is what a node has heard of the others, and seen of the leases. It may be
// behind.
type view struct {
	mu      sync.Mutex
	nodes   map[string]heard
	rivals  map[string]string    // incarnations that came while another of the same name was alive
	missed  map[string]time.Time // since when a node is not alive
	owners  map[string]replica.Holder
	buried  map[string]bool          // shards whose owner is not alive, which has been told
	changed map[string]chan struct{} // of shards, closed when the owner changes or is no longer alive
}

type heard struct {
	beat beat
	at   time.Time
}

// silence is after how long a node that is not heard of counts as dead.
const silence = 4 * time.Second

func newView() *view {
	return &view{
		nodes: make(map[string]heard), rivals: make(map[string]string), missed: make(map[string]time.Time),
		owners: make(map[string]replica.Holder), buried: make(map[string]bool), changed: make(map[string]chan struct{}),
	}
}

// hear takes in a beat, and reports whether that is news that decisions depend on. Of
// two processes of one name the first counts, until it is silent; of the other one it
// reports once that it is a rival.
func (v *view) hear(b beat, at time.Time) (news, rival bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	was, known := v.nodes[b.Node]
	alive := known && at.Sub(was.at) < silence
	if alive && was.beat.Incarnation != b.Incarnation {
		rival = v.rivals[b.Node] != b.Incarnation
		v.rivals[b.Node] = b.Incarnation
		return false, rival
	}
	v.nodes[b.Node] = heard{b, at}
	delete(v.missed, b.Node)
	return !alive || was.beat.Leaving != b.Leaving, false
}

// bury tells those who wait for owners that are no longer alive: there is no use in
// waiting for an answer of theirs.
func (v *view) bury(at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for s, o := range v.owners {
		h, known := v.nodes[o.Node]
		if dead := known && at.Sub(h.at) >= silence; dead && !v.buried[s] {
			v.buried[s] = true
			v.tell(s)
		} else if !dead {
			delete(v.buried, s)
		}
	}
}

// isSilent reports whether a node that was heard of is no longer.
func (v *view) isSilent(node string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	h, known := v.nodes[node]
	return known && time.Since(h.at) >= silence
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

// learn takes in an owner that somebody has told of.
func (v *view) learn(shard string, o replica.Holder) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.set(shard, o)
}

// set notes an owner, unless a later one is known. A shard that nobody has the
// lease of still has its last owner, for all that is known: only a later epoch
// ends one. v.mu is held.
func (v *view) set(shard string, o replica.Holder) {
	if o.Epoch == 0 || v.owners[shard].Epoch >= o.Epoch {
		return
	}
	v.owners[shard] = o
	delete(v.buried, shard)
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
func (v *view) live() map[string]beat {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	out := make(map[string]beat)
	for name, h := range v.nodes {
		if now.Sub(h.at) < silence {
			out[name] = h.beat
		}
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
