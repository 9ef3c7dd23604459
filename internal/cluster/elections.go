package cluster

import (
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// elections makes this node's part of the engine stand for election in the groups that a dead node led, before the
// engine itself notices that the leader is missing.
//
// A node counts as dead here when a majority does not hear from it. If one node could decide this alone, two nodes that
// lose contact while a third hears both would keep taking the lead from each other.
type elections struct {
	*common
	members *membership
	turn    func(log string) time.Duration // see Engine.Elect
	alarm   alarm                          // wakes the loop when a node comes or goes
}

// run stands for election after each death of a node, until every log has a leader.
func (e *elections) run() {
	for {
		select {
		case <-e.alarm:
		case <-e.ctx.Done():
			return
		}
		// A log that finds no leader has no majority. The engine elects one when it can.
		for pause := e.times.step / 2; e.hold() > 0 && e.ctx.Err() == nil; pause = min(pause*5/4, time.Second) {
			_ = wait.For(e.ctx, pause)
		}
	}
}

// hold makes the engine stand for election, and returns how many logs have no leader yet.
func (e *elections) hold() (left int) {
	gone := e.gone()
	if len(gone) == 0 {
		return 0
	}
	return e.engine.Elect(func(server string) bool { return gone[server] }, e.turn, 6*e.times.step)
}

// gone returns the servers of the dead nodes.
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
