package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// direct is what the owner of the control shard does for all: it founds the
// cluster, notes who is there, and decides where shards are kept. It may have to
// wait for the log, and so stands apart from the manager.
func (n *Node) direct() {
	tick := time.NewTicker(manageInterval)
	defer tick.Stop()
	begun := uint64(0) // the reign that has begun with Found
	said := ""
	for {
		changed := n.records.watch()
		if reign := n.reign.Load(); reign != 0 {
			var err error
			if begun != reign {
				if err = n.o.Found(n.control); err == nil {
					begun = reign
				}
			}
			if err == nil {
				err = n.control.Change(n.decide)
			}
			switch {
			case err == nil:
				said = ""
			case err.Error() != said && !errors.Is(err, control.ErrElsewhere) && n.ctx.Err() == nil:
				n.log.Warn("shards are not placed", "error", err)
				said = err.Error()
			}
			n.forget()
		}
		select {
		case <-tick.C:
		case <-n.director:
		case <-changed:
			pause(n.ctx, 50*time.Millisecond) // others will follow
		case <-n.ctx.Done():
			return
		}
	}
}

// decide makes the changes that are due.
func (n *Node) decide(tx *control.Tx) error {
	if n.records.count() == 0 {
		n.log.Info("founding the cluster", "cluster", n.o.Cluster)
		if err := n.found(tx); err != nil {
			return err
		}
	}
	n.noteNodes(tx)
	n.noteShards(tx)
	return nil
}

// found decides what is decided once.
func (n *Node) found(tx *control.Tx) error {
	s := settings{Shards: n.o.Shards, Founder: n.o.Name}
	for i := range MaxShards {
		name := shardName(i + 1)
		there, err := store.Exists(n.o.Disk, n.shardDir(name))
		if err != nil {
			return fmt.Errorf("found the cluster: %w", err)
		}
		if there {
			s.Bears = append(s.Bears, name)
			s.Shards = max(s.Shards, i+1)
		}
	}
	put(tx, keySettings, s)
	return nil
}

// noteNodes remembers the nodes that have come, and gives up the servers of those
// that will not come back.
func (n *Node) noteNodes(tx *control.Tx) {
	live := n.view.live()
	var replaced []string
	for name, b := range live {
		record, known := n.records.node(name)
		switch {
		case n.records.removed(incarnation{Node: name, ID: b.Incarnation}): // and will be told so
		case !known:
			put(tx, keyNode+name, nodeRecord{Incarnation: b.Incarnation})
		case record.Incarnation != b.Incarnation:
			n.log.Warn("a node has come back with an empty disk", "node", name)
			old := incarnation{Node: name, ID: record.Incarnation}
			n.giveUp(tx, old)
			replaced = append(replaced, old.server())
			put(tx, keyNode+name, nodeRecord{Incarnation: b.Incarnation, Draining: record.Draining})
		case record.GivenUp:
			n.log.Info("a node is back that had been given up", "node", name)
			record.GivenUp = false
			put(tx, keyNode+name, record)
			tx.Delete(keyGone + incarnation{Node: name, ID: record.Incarnation}.server())
		}
	}
	if len(replaced) > 0 {
		s := n.records.allSettings()
		s.remove(replaced...)
		put(tx, keySettings, s)
	}
	for _, server := range n.returned.silent(time.Now()) {
		tx.Put(keyGone+server, []byte("{}"))
	}
	for name, record := range n.records.allNodes() {
		_, alive := live[name]
		if !alive && !record.GivenUp && len(live) >= copies && n.view.missedFor(name) >= n.o.ReplaceAfter {
			n.log.Warn("a node has been away for long; others get its replicas", "node", name, "after", n.o.ReplaceAfter)
			n.giveUp(tx, incarnation{Node: name, ID: record.Incarnation})
			record.GivenUp = true
			put(tx, keyNode+name, record)
		}
	}
}

// noteShards takes the next step towards a good placement.
func (n *Node) noteShards(tx *control.Tx) {
	shards := []string{controlShard}
	for i := range n.records.count() {
		shards = append(shards, shardName(i+1))
	}
	now := n.records.allShards()
	next := place(shards, n.members(), now, n.isReady)
	for name, r := range next {
		was, placed := now[name]
		if founder, bears := n.records.founder(name); bears && !placed && len(r.Replicas) > 0 {
			// Nobody else has what is in it.
			if r.Preferred = founder; !slices.Contains(r.Replicas, founder) {
				r.Replicas = append(r.Replicas, founder)
			}
		}
		if !placed && len(r.Replicas) > 0 || was.Preferred != r.Preferred || !slices.Equal(was.Replicas, r.Replicas) {
			put(tx, keyShard+name, r)
		}
	}
}

// members returns the nodes for placement.
func (n *Node) members() []member {
	live := n.view.live()
	var members []member
	for _, name := range n.nodeNames() {
		record, _ := n.records.node(name)
		b, alive := live[name]
		present := alive || n.view.missedFor(name) < n.o.ReplaceAfter
		members = append(members, member{
			name: name, live: alive && !b.Leaving, fit: present && !record.Draining,
		})
	}
	return members
}

// giveUp notes that a server will not come back.
func (n *Node) giveUp(tx *control.Tx, i incarnation) { put(tx, keyGone+i.server(), gone{}) }

// forget has the engine replace the servers that will not come back, again until
// it has.
func (n *Node) forget() {
	for _, server := range n.records.allGone() {
		n.tasks.single("forget "+server, func() {
			if err := n.engine.Forget(n.ctx, server); err != nil {
				if n.ctx.Err() == nil {
					n.log.Warn("the engine does not forget a server", "server", server, "error", err)
				}
				pause(n.ctx, forgetAgain)
				return
			}
			err := n.control.Change(func(tx *control.Tx) error {
				tx.Delete(keyGone + server)
				return nil
			})
			if err != nil {
				return // it is done again
			}
			n.log.Info("the engine has forgotten a server", "server", server)
		})
	}
}

const forgetAgain = 3 * time.Second

func put(tx *control.Tx, key string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // all of them have a JSON form
	}
	tx.Put(key, b)
}
