package cluster

import (
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
)

// Drain says whether a node is to keep no shards, because it is to be stopped for
// long or taken away. They move to others in the following seconds, as far as
// there are others. It is to be called where the control shard is owned. The errors are
// status.ErrNoNode and status.ErrNotDrained.
func (n *Node) Drain(name string, drain bool) error {
	return n.control.Change(func(tx *control.Tx) error {
		record, ok := n.records.node(name)
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

// Remove makes the cluster forget a node that will not come back: with the data that it
// has, it is refused from now on. It is to be called where the control shard is owned. The
// errors are status.ErrNoNode and status.ErrAlive.
func (n *Node) Remove(name string) error {
	return n.control.Change(func(tx *control.Tx) error {
		record, ok := n.records.node(name)
		if !ok {
			return status.ErrNoNode
		}
		if _, alive := n.view.live()[name]; alive {
			return status.ErrAlive
		}
		i := incarnation{Node: name, ID: record.Incarnation}
		n.giveUp(tx, i)
		s := n.records.allSettings()
		s.remove(i.server())
		put(tx, keySettings, s)
		tx.Delete(keyNode + name)
		return nil
	})
}
