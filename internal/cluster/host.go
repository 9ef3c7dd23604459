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
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/shard"
)

// host keeps the shards of this node: it opens the replicas that the director has given
// to it, tries to own those that it should own, and hands them over when it should not.
type host struct {
	*common
	members  *membership
	barrier  *barrier
	control  *controlShardReplica
	director *director
	forwards *forwardBarrier
	router   *router.Router
	mux      *rebindMux
	alarm    alarm      // something has changed that it should see
	copies   copyCounts // of the logs of what this node keeps
	// successors are the next owners of shards that are being handed over, by the name of the shard.
	successors sync.Map
	patience   patience // with the nodes that should own what this one does

	handOvers, lost atomic.Int64 // ownerships that have ended, see ended

	mu      sync.Mutex
	catalog *catalog.Catalog // nil until the node serves
	// toEndpoints delivers messages of topics from a shard, as long as this node owns it.
	toEndpoints func(context.Context, *shard.Shard)
	locals      map[string]*local
	feeds       map[*feed]bool
}

// serve begins to keep and to serve the shards with messages.
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

// deliverer returns what delivers messages of topics from a shard.
func (h *host) deliverer() func(context.Context, *shard.Shard) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.toEndpoints
}

// wake has this node look at once at what it should keep, and decide at once where shards
// should be.
func (h *host) wake() {
	h.alarm.ring()
	h.director.alarm.ring()
}

// heartbeat is what there is to tell the other nodes.
func (h *host) heartbeat() heartbeat {
	out := heartbeat{
		Node: h.o.Name, Incarnation: h.id.ID, Endpoint: h.o.Endpoint(), Version: h.o.Version, Reads: formats.Newest,
		Low:      h.o.Low(),
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
		if s := l.serving.Load(); s != nil && s.shard.Unknown() > 0 {
			if out.Unknown == nil {
				out.Unknown = make(map[string]int)
			}
			out.Unknown[l.name] = s.shard.Unknown()
		}
	}
	for name, s := range out.Shards {
		if c := h.copies.of(name); s.Role.Owns() && c.Wanted > 0 {
			if out.Copies == nil {
				out.Copies = make(map[string]logCopies)
			}
			out.Copies[name] = c
		}
	}
	return out
}

// knownOwners returns who owns the shards that this node keeps, by their logs.
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

// ended counts an ownership that ends, before what served the shard is stopped.
func (h *host) ended(o *replica.Ownership) {
	select {
	case <-o.Ended():
		h.lost.Add(1)
	default: // it still can commit
		h.handOvers.Add(1)
	}
}

// owns reports whether this node owns a shard.
func (h *host) owns(number int) bool {
	l := h.local(shardName(number))
	return l != nil && l.serving.Load() != nil
}

// reclaim begins to give back the space of what was deleted; see store.Reclaim.
func (h *host) reclaim() error {
	errs := []error{h.control.replica.FlushStore()}
	for _, l := range h.allLocals() {
		errs = append(errs, l.replica.FlushStore())
	}
	return errors.Join(errs...)
}
