package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/shard"
)

// host keeps this node's shards: it opens the replicas that the director has placed here, seeks to own the shards that
// this node should own, and hands over those that it should not own.
type host struct {
	*common
	members  *membership
	barrier  *barrier
	control  *controlShardReplica
	director *director
	forwards *forwardBarrier
	router   *router.Router
	mux      *rebindMux
	alarm    alarm      // wakes the host after a change
	copies   copyCounts // of the logs of this node's shards
	// successors holds the next owners of the shards in a hand-over, by shard name.
	successors sync.Map
	patience   patience // with the nodes that should own this node's shards
	strange    sync.Map // names of shards whose stores are kept, though they belong to no log

	handOvers, lost atomic.Int64 // ownerships that have ended; see ended

	mu      sync.Mutex
	catalog *catalog.Catalog // nil until the node serves
	// toEndpoints delivers the messages of topics from a shard, while this node owns it.
	toEndpoints func(context.Context, *shard.Shard)
	locals      map[string]*local
	feeds       map[*feed]bool
}

// serve starts keeping and serving the shards with messages.
func (h *host) serve(c *catalog.Catalog, deliver func(context.Context, *shard.Shard)) {
	c.OnChange(h.onQueue)
	h.mu.Lock()
	h.catalog, h.toEndpoints = c, deliver
	h.mu.Unlock()
	h.wake()
}

// queues returns the catalog, or nil before the node serves.
func (h *host) queues() *catalog.Catalog {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.catalog
}

// deliverer returns the function that delivers the messages of topics from a shard.
func (h *host) deliverer() func(context.Context, *shard.Shard) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.toEndpoints
}

// wake makes this node check at once which shards it should keep, and where shards should be.
func (h *host) wake() {
	h.alarm.ring()
	h.director.alarm.ring()
}

// heartbeat returns this node's statement to the other nodes.
func (h *host) heartbeat() heartbeat {
	out := heartbeat{
		Node: h.o.Name, Incarnation: h.id.ID, Endpoint: h.o.Endpoint(), Version: h.o.Version,
		Reads: h.o.Reads, Format: h.format.current(h.o.Dir), Low: h.o.Low(),
		Failover: h.times.failover, Silent: h.members.view.silent(), Leaving: h.leaving.Load(),
		Unready:     !h.o.Answers() || h.probe() != nil,
		Certificate: h.certificateEnd(), Skew: h.members.clocks.skew().Round(time.Millisecond),
		Shards: make(map[string]replica.Status),
		Told:   h.o.Tell(),
	}
	out.Shards[controlShard] = h.control.replica.Status()
	out.OldData = hasOldData(out.Shards[controlShard])
	for _, l := range h.allLocals() {
		out.Shards[l.name] = l.replica.Status()
		if s := l.serving.Load(); s != nil && len(s.shard.Unknown()) > 0 {
			if out.Unknown == nil {
				out.Unknown = make(map[string]int)
			}
			out.Unknown[l.name] = len(s.shard.Unknown())
		}
	}
	for name, s := range out.Shards {
		if c := h.copies.of(name); s.Role.Owns() && c.Wanted > 0 {
			if out.Copies == nil {
				out.Copies = make(map[string]logCopies)
			}
			if name == controlShard {
				c = c.fewer(h.copies.of(leaseCopies))
			}
			out.Copies[name] = c
		}
	}
	return out
}

// knownOwners returns the owners of this node's shards, as recorded in their logs.
func (h *host) knownOwners() map[string]replica.Holder {
	owners := make(map[string]replica.Holder)
	note := func(name string, r *replica.Replica) {
		if node, epoch, ok := r.Owner(); ok {
			owners[name] = replica.Holder{Node: node, Epoch: epoch}
		}
	}
	note(controlShard, h.control.replica)
	for _, l := range h.allLocals() {
		note(l.name, l.replica)
	}
	return owners
}

// ended counts an ownership that ends. It is called before the shard stops serving.
func (h *host) ended(o *replica.Ownership) {
	select {
	case <-o.Ended():
		h.lost.Add(1)
	default: // it can still commit
		h.handOvers.Add(1)
	}
}

// owns reports whether this node owns a shard.
func (h *host) owns(number int) bool {
	l := h.local(shardName(number))
	return l != nil && l.serving.Load() != nil
}

// reclaim starts to free the space of deleted data. See store.Reclaim.
func (h *host) reclaim() error {
	errs := []error{h.control.replica.FlushStore()}
	for _, l := range h.allLocals() {
		if s := l.serving.Load(); s != nil { // what purges have kept goes first
			errs = append(errs, s.shard.ForgetPurged(h.ctx))
		}
		errs = append(errs, l.replica.FlushStore())
	}
	return errors.Join(errs...)
}
