package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// director makes the decisions of the cluster: it founds the cluster, records its nodes, and places the shards. It
// works on the node that owns the control shard. On the others it waits until they own it.
type director struct {
	*common
	members   *membership
	store     *control.Control
	alarm     alarm // wakes the director after a change
	replacing replacing
	minority  string // the shard for whose log it waits, once logged; see waitsFor
	// controlEpoch returns the epoch in which this node owns the control shard, or 0.
	controlEpoch atomic.Uint64
}

// run decides after every relevant change. It may have to wait for the log.
func (d *director) run() {
	tick := time.NewTicker(directInterval)
	defer tick.Stop()
	begun := uint64(0) // the epoch that began with Found
	said := ""
	for {
		changed := d.records.watch()
		if epoch := d.controlEpoch.Load(); epoch != 0 {
			var err error
			if begun != epoch {
				if err = d.o.Found(d.store); err == nil {
					begun = epoch
				}
			}
			if err == nil {
				err = d.store.Change(d.ctx, d.decide)
			}
			switch {
			case err == nil:
				said = ""
			case err.Error() != said && !errors.Is(err, control.ErrElsewhere) && d.ctx.Err() == nil:
				d.log.Warn("shards are not placed", "error", err)
				said = err.Error()
			}
			d.forget()
		}
		select {
		case <-tick.C:
		case <-d.alarm:
		case <-changed:
			_ = wait.For(d.ctx, recordsPause)
		case <-d.ctx.Done():
			return
		}
	}
}

// decide makes the changes that are due.
func (d *director) decide(tx *control.Tx) error {
	if d.records.count() == 0 {
		d.log.Info("founding the cluster", "cluster", d.o.Cluster)
		if err := d.found(tx); err != nil {
			return err
		}
	}
	d.noteNodes(tx)
	d.noteShards(tx)
	return nil
}

// found makes the decisions of the cluster's founding.
func (d *director) found(tx *control.Tx) error {
	s := settings{Shards: d.o.Shards, Founder: d.o.Name}
	for i := range MaxShards {
		name := shardName(i + 1)
		there, err := store.Exists(d.o.Disk, shardDir(d.o.Dir, name))
		if err != nil {
			return fmt.Errorf("found the cluster: %w", err)
		}
		if there {
			s.OldData = append(s.OldData, name)
			s.Shards = max(s.Shards, i+1)
		}
	}
	put(tx, keySettings, s)
	return nil
}

// noteNodes records new nodes, and removes the servers of nodes that are gone for good.
func (d *director) noteNodes(tx *control.Tx) {
	live := d.members.view.live()
	now := time.Now()
	minority := d.waitsFor(live)
	if minority == "" {
		d.minority = ""
	}
	var replaced []string
	for name, b := range live {
		record, known := d.records.node(name)
		switch {
		case d.records.removed(incarnation{Node: name, ID: b.Incarnation}): // the node learns this from the answer
		case !known:
			put(tx, keyNode+name, nodeRecord{Incarnation: b.Incarnation})
		case record.Incarnation != b.Incarnation:
			came := incarnation{Node: name, ID: b.Incarnation}
			if d.waits(minority) || !d.replacing.due(came, d.members.view.spoke(came), now, d.times.silence) {
				continue
			}
			d.log.Warn("a node has returned with an empty disk", "node", name)
			old := incarnation{Node: name, ID: record.Incarnation}
			d.giveUp(tx, old)
			replaced = append(replaced, old.server())
			put(tx, keyNode+name, nodeRecord{Incarnation: b.Incarnation, Draining: record.Draining})
		case record.GivenUp:
			d.log.Info("a node is back that had been given up", "node", name)
			record.GivenUp = false
			put(tx, keyNode+name, record)
			tx.Delete(keyGone + incarnation{Node: name, ID: record.Incarnation}.server())
		}
	}
	if len(replaced) > 0 {
		s := d.records.allSettings()
		s.remove(replaced...)
		put(tx, keySettings, s)
	}
	for _, server := range d.members.returned.silent(now, d.times.silence) {
		tx.Put(keyGone+server, []byte("{}"))
	}
	for name, record := range d.records.allNodes() {
		_, alive := live[name]
		late := !alive && !record.GivenUp && len(live) >= copies && d.members.view.missedFor(name) >= d.o.ReplaceAfter
		if late && !d.waits(minority) {
			d.log.Warn(
				"a node has been away for long; others get its replicas", "node", name, "after", d.o.ReplaceAfter,
			)
			d.giveUp(tx, incarnation{Node: name, ID: record.Incarnation})
			record.GivenUp = true
			put(tx, keyNode+name, record)
		}
	}
}

// waitsFor returns the shard for whose log the director waits before it makes the engine forget a server that seems to
// be gone for good, or "". A forgetting engine completes the logs of that server from the remaining copies. If these
// are not a majority, an absent node may be the only one with some acknowledged records. So the director waits until
// that node is back or an operator removes it.
func (d *director) waitsFor(live map[string]heartbeat) (shard string) {
	for name, record := range d.records.allNodes() {
		if _, alive := live[name]; !alive && !record.GivenUp {
			return d.findMinority(live)
		}
	}
	return "" // no node is away
}

// waits reports whether the log of a shard prevents the replacement of nodes now. It logs the reason once.
func (d *director) waits(minority string) bool {
	if minority != d.minority {
		d.log.Warn("nodes that are away are not replaced: a log has no majority without them", "shard", minority)
	}
	d.minority = minority
	return minority != ""
}

// findMinority returns a shard whose log lacks a majority of its copies, according to the owners of the shards, or "".
func (d *director) findMinority(live map[string]heartbeat) (shard string) {
	for _, name := range slices.Sorted(maps.Keys(d.records.allShards())) {
		if !slices.ContainsFunc(slices.Collect(maps.Values(live)), func(b heartbeat) bool {
			return b.Copies[name].isMajority()
		}) {
			return name
		}
	}
	return ""
}

// noteShards takes the next step towards a good placement.
func (d *director) noteShards(tx *control.Tx) {
	shards := []string{controlShard}
	for i := range d.records.count() {
		shards = append(shards, shardName(i+1))
	}
	now := d.records.allShards()
	next := place(shards, d.candidates(), now, d.members.isReady)
	for name, r := range next {
		was, placed := now[name]
		if founder, hasOldData := d.records.founder(name); hasOldData && !placed && len(r.Replicas) > 0 {
			// No other node has its data.
			if r.Preferred = founder; !slices.Contains(r.Replicas, founder) {
				r.Replicas = append(r.Replicas, founder)
			}
		}
		if !placed && len(r.Replicas) > 0 || was.Preferred != r.Preferred || !slices.Equal(was.Replicas, r.Replicas) {
			put(tx, keyShard+name, r)
		}
	}
}

// candidates returns the nodes that placement may use.
func (d *director) candidates() []member {
	live := d.members.view.live()
	var members []member
	for _, name := range d.records.nodeNames() {
		record, _ := d.records.node(name)
		b, alive := live[name]
		present := alive || d.members.view.missedFor(name) < d.o.ReplaceAfter
		members = append(members, member{
			name: name, live: alive && !b.Leaving, fit: present && !record.Draining,
		})
	}
	return members
}

// giveUp records that a server is gone for good.
func (d *director) giveUp(tx *control.Tx, i incarnation) { put(tx, keyGone+i.server(), gone{}) }

// forget makes the engine replace the servers that are gone for good. It repeats the request until it succeeds.
func (d *director) forget() {
	for _, server := range d.records.allGone() {
		d.tasks.runOnce("forget "+server, func() {
			if err := d.engine.Forget(d.ctx, server); err != nil {
				if d.ctx.Err() == nil {
					d.log.Warn("the engine does not forget a server", "server", server, "error", err)
				}
				_ = wait.For(d.ctx, forgetAgain)
				return
			}
			err := d.store.Change(d.ctx, func(tx *control.Tx) error {
				tx.Delete(keyGone + server)
				return nil
			})
			if err != nil {
				return // the next call repeats it
			}
			d.log.Info("the engine has forgotten a server", "server", server)
		})
	}
}

func put(tx *control.Tx, key string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // every record has a JSON form
	}
	tx.Put(key, b)
}

// drain sets whether a node must keep no shards, because it will be stopped for long or removed. Its shards move to
// other nodes in the following seconds, as far as others exist. Call it where the control shard is owned. The errors
// are status.ErrNoNode and status.ErrNotDrained.
func (d *director) drain(ctx context.Context, name string, drain bool) error {
	return d.store.Change(ctx, func(tx *control.Tx) error {
		record, ok := d.records.node(name)
		if !ok {
			return status.ErrNoNode
		}
		if !drain && !record.Draining {
			return status.ErrNotDrained
		}
		record.Draining = drain
		put(tx, keyNode+name, record)
		return nil
	})
}

// remove removes a node from the cluster for good. From now on the cluster refuses the node with its present data. Call
// it where the control shard is owned. The errors are status.ErrNoNode and status.ErrAlive.
func (d *director) remove(ctx context.Context, name string) error {
	return d.store.Change(ctx, func(tx *control.Tx) error {
		record, ok := d.records.node(name)
		if !ok {
			return status.ErrNoNode
		}
		if _, alive := d.members.view.live()[name]; alive {
			return status.ErrAlive
		}
		i := incarnation{Node: name, ID: record.Incarnation}
		d.giveUp(tx, i)
		s := d.records.allSettings()
		s.remove(i.server())
		put(tx, keySettings, s)
		tx.Delete(keyNode + name)
		return nil
	})
}
