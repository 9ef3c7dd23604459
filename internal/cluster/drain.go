package cluster

import (
	"errors"

	"github.com/sluicemq/sluice/internal/control"
)

// ErrNoNode says that the cluster knows no node of that name.
var ErrNoNode = errors.New("the cluster has no node of that name")

// ErrNotDrained says that there is nothing to be taken back.
var ErrNotDrained = errors.New("the node is not drained")

// Drain says whether a node is to keep no shards, because it is to be stopped for
// long or taken away. They move to others in the following seconds, as far as
// there are others. It is to be called where the control shard is owned.
func (n *Node) Drain(name string, drain bool) error {
	return n.control.Change(func(tx *control.Tx) error {
		record, ok := n.records.node(name)
		if !ok {
			return ErrNoNode
		}
		if !drain && !record.Draining {
			return ErrNotDrained
		}
		record.Draining = drain
		put(tx, keyNode+name, record)
		return nil
	})
}

// ErrAlive says that a node cannot be removed because it is there.
var ErrAlive = errors.New("the node is alive; drain and stop it first")

// Remove makes the cluster forget a node that will not come back: with the data that it
// has, it is refused from now on. It is to be called where the control shard is owned.
func (n *Node) Remove(name string) error {
	return n.control.Change(func(tx *control.Tx) error {
		record, ok := n.records.node(name)
		if !ok {
			return ErrNoNode
		}
		if _, alive := n.view.live()[name]; alive {
			return ErrAlive
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
