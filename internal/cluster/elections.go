package cluster

import (
	"slices"
	"time"
)

// elections have this node's part of the engine stand for the lead of what a dead node has led, before the engine
// itself finds that there is no leader.
//
// A node is dead for this when no node hears of it, and those that say so are a majority. If one node could decide it,
// two that lose each other, while a third hears both, would take the lead from each other all the time.
type elections struct {
	*common
	members *membership
	turn    func(log string) time.Duration // see Engine.Elect
	alarm   alarm                          // who is there has changed
}

// run stands for election whenever a node has died, until all is led.
func (e *elections) run() {
	for {
		select {
		case <-e.alarm:
		case <-e.ctx.Done():
			return
		}
		// A log that finds no leader has no majority. The engine finds a leader when it can.
		for wait := e.times.step / 2; e.hold() > 0 && e.ctx.Err() == nil; wait = min(wait*5/4, time.Second) {
			pause(e.ctx, wait)
		}
	}
}

// hold has the engine stand for election, and returns how much has no leader yet.
func (e *elections) hold() (left int) {
	gone := e.gone()
	if len(gone) == 0 {
		return 0
	}
	return e.engine.Elect(func(server string) bool { return gone[server] }, e.turn, 6*e.times.step)
}

// gone returns the servers of the nodes that are dead.
func (e *elections) gone() map[string]bool {
	said, live := e.members.view.lastSaid(), e.members.view.live()
	if 2*len(live) <= max(len(e.records.allNodes()), len(e.o.Peers)) {
		return nil
	}
	servers := make(map[string]bool)
	for _, node := range e.members.view.silent() {
		agreed := true
		for name, other := range live {
			agreed = agreed && (name == e.o.Name || other.Failover > 0 && slices.Contains(other.Silent, node))
		}
		if agreed {
			servers[incarnation{Node: node, ID: said[node].Incarnation}.server()] = true
		}
	}
	return servers
}
