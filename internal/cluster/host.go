package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/shard"
)

// host keeps this node's shards: it opens the replicas that the director has placed here, and closes those that other
// nodes keep now. Its parts seek to own shards, hand them over, and look after their logs.
type host struct {
	*common
	members   *membership
	barrier   *barrier
	control   *controlShardReplica
	locals    *locals
	queues    *feeds
	leads     *leads
	handOvers *handOvers
	candidacy *candidacy
	routing   *routing
	copies    *copyCounter
	trimmer   *trimmer
	mux       *rebindMux
	alarm     alarm    // wakes the host after a change
	strange   sync.Map // names of shards whose stores are kept, though they belong to no log
	// toEndpoints delivers the messages of topics from a shard, while this node owns it. It is set before queues has a
	// catalog, and so before any replica is opened.
	toEndpoints func(context.Context, *shard.Shard)
}

// newHost makes a host with its parts, which stay inactive.
func newHost(m *membership, b *barrier, control *controlShardReplica, forwards *forwardBarrier) *host {
	c, ls, queues := m.common, new(locals), new(feeds)
	h := &host{common: c, members: m, barrier: b, control: control, locals: ls, queues: queues, alarm: newAlarm()}
	h.leads = &leads{common: c, members: m}
	h.handOvers = &handOvers{common: c, members: m, control: control, locals: ls, leads: h.leads}
	h.candidacy = &candidacy{common: c, members: m, control: control, locals: ls, handOvers: h.handOvers}
	h.routing = &routing{common: c, members: m, locals: ls, queues: queues, forwards: forwards}
	h.copies = &copyCounter{common: c, members: m, control: control, locals: ls}
	h.trimmer = &trimmer{common: c, members: m, control: control, locals: ls}
	return h
}

// serve starts keeping and serving the shards with messages, when the host wakes next.
func (h *host) serve(c *catalog.Catalog, deliver func(context.Context, *shard.Shard)) {
	h.toEndpoints = deliver
	h.queues.begin(c)
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
	for _, l := range h.locals.all() {
		out.Shards[l.name] = l.replica.Status()
		if s := l.serving.Load(); s != nil && len(s.shard.Unknown()) > 0 {
			if out.Unknown == nil {
				out.Unknown = make(map[string]int)
			}
			out.Unknown[l.name] = len(s.shard.Unknown())
		}
	}
	for name, s := range out.Shards {
		if c := h.copies.counts.of(name); s.Role.Owns() && c.Wanted > 0 {
			if out.Copies == nil {
				out.Copies = make(map[string]logCopies)
			}
			if name == controlShard {
				c = c.fewer(h.copies.counts.of(leaseCopies))
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
	for _, l := range h.locals.all() {
		note(l.name, l.replica)
	}
	return owners
}

// reclaim starts to free the space of deleted data. See store.Reclaim.
func (h *host) reclaim() error {
	errs := []error{h.control.replica.FlushStore()}
	for _, l := range h.locals.all() {
		if s := l.serving.Load(); s != nil { // what purges have kept goes first
			errs = append(errs, s.shard.ForgetPurged(h.ctx))
		}
		errs = append(errs, l.replica.FlushStore())
	}
	return errors.Join(errs...)
}
