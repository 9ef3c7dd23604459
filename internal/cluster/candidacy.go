package cluster

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
)

// candidacy decides which shards this node seeks to own, and when.
//
//   - Nodes seek a shard one after the other: the preferred owner first, then the others in an order that all nodes
//     compute. A node that must not own shards does not seek any.
//   - The owner of a shard that another node should own hands it over when that node is ready, as patience allows.
type candidacy struct {
	*common
	members   *membership
	control   *controlShardReplica
	locals    *locals
	handOvers *handOvers
	patience  patience // with the nodes that should own this node's shards
}

// seekControl decides whether this node should own the control shard. Its first owner is the founder of the cluster: a
// node with data, or otherwise the first configured node.
func (c *candidacy) seekControl(began time.Time) {
	status := c.control.replica.Status()
	if c.records.count() == 0 && status.Last == 0 {
		c.control.replica.Want(c.isFounder(status, began), 0)
		return
	}
	c.seek(controlShard, c.control.replica, c.records.nodeNames())
}

// isFounder reports whether this node should found the cluster. own is its replica of the control shard, and began is
// when the node started to look for the others.
func (c *candidacy) isFounder(own replica.Status, began time.Time) bool {
	if hasOldData(own) {
		return true
	}
	live := c.members.view.live()
	first := ""
	missing := 0
	for _, p := range c.o.Peers {
		b, ok := live[p.Name]
		switch {
		case !ok:
			missing++
		case b.OldData:
			return false
		case first == "":
			first = p.Name
		}
	}
	return first == c.o.Name && (missing == 0 || time.Since(began) > foundTimeout)
}

// seek makes a replica try to own its shard, or stop trying. It hands the shard over if this node owns it and another
// should.
func (c *candidacy) seek(name string, r *replica.Replica, replicas []string) {
	own := r.Status()
	want, delay := c.turn(name, own, replicas)
	r.Want(want, delay)
	to := c.records.shard(name).Preferred
	able := c.members.isAble(name, to) && c.members.isReady(name, to)
	if owner, known := c.members.view.owner(name); known {
		c.patience.seen(name, owner.Node, owner.Epoch, to, able, time.Now())
	}
	if !want || to == c.o.Name || own.Role != replica.Owner || !able {
		return
	}
	if !c.handOvers.inProgress(name) && c.patience.over(name, time.Now()) {
		c.handOvers.start(name, r, to)
	}
}

// turn decides whether this node should try to own a shard, and after which delay. own is its replica of the shard.
func (c *candidacy) turn(name string, own replica.Status, replicas []string) (want bool, delay time.Duration) {
	if c.mayNotOwn() {
		return false, 0
	}
	if founder, hasOldData := c.records.founder(name); hasOldData && founder != c.o.Name && own.Last == 0 {
		return false, 0 // its log begins with the founder's data
	}
	preferred := c.records.shard(name).Preferred
	if preferred == c.o.Name {
		return true, 0
	}
	// The nodes before this one get time to take it.
	if c.members.isAble(name, preferred) {
		delay += 2 * c.times.step
	}
	line := slices.Clone(replicas)
	slices.SortFunc(line, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(name, b), weight(name, a)), cmp.Compare(a, b))
	})
	for _, other := range line {
		if other == c.o.Name {
			break
		}
		if other != preferred && c.members.isAble(name, other) {
			delay += c.times.step
		}
	}
	if !c.members.isAble(name, c.o.Name) { // a drained owner is better than none
		delay += 8 * c.times.step
	}
	return true, delay
}

// electionTurn returns how long this node leaves the election of a log's leader to the nodes that should own its shard.
// "" stands for a log that belongs to no shard.
func (c *candidacy) electionTurn(log string) time.Duration {
	var own replica.Status
	replicas := c.records.nodeNames()
	if l := c.locals.of(log); l != nil {
		own, replicas = l.replica.Status(), c.records.shard(log).Replicas
	} else if log == controlShard {
		own = c.control.replica.Status()
	}
	want, delay := c.turn(log, own, replicas)
	if !want {
		delay = 8 * c.times.step
	}
	return electionSteps * delay
}

// electionSteps is how many times longer a node waits for an earlier node in an election than for its claim of a shard.
// If the earlier node lacks too many records to win, NATS lets the others stand at once.
const electionSteps = 4

// nudged takes a shard that another node has given up.
func (c *candidacy) nudged(_ context.Context, name []byte) ([]byte, error) {
	r := c.control.replica
	if string(name) != controlShard {
		l := c.locals.of(string(name))
		if l == nil {
			return nil, errors.New("there is no replica of that shard here")
		}
		r = l.replica
	}
	c.leases.expire()
	if c.mayNotOwn() {
		return nil, errors.New("this node no longer owns shards")
	}
	r.Want(true, 0)
	r.Nudge()
	return nil, nil
}
