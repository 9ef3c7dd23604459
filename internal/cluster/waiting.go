package cluster

import (
	"fmt"
	"strings"
	"time"
)

// reportWaiting logs what the node waits for, until its control store is current.
func (n *Node) reportWaiting() {
	again := time.NewTicker(waitingInterval)
	defer again.Stop()
	said := ""
	for {
		select {
		case <-again.C:
		case <-n.founded:
			return
		case <-n.ctx.Done():
			return
		}
		if what := n.waitingFor(); what != said {
			said = what
			n.o.Waiting(what)
			n.log.Warn(what)
		}
	}
}

// waitingFor describes briefly what keeps the node from serving.
func (n *Node) waitingFor() string {
	live := n.members.view.live()
	reached := n.engine.Reached()
	var missing []string
	for _, p := range n.o.Peers {
		if _, alive := live[p.Name]; !alive && !reached[p.Name] && p.Name != n.o.Name {
			missing = append(missing, p.Name)
		}
	}
	if 2*(len(n.o.Peers)-len(missing)) > len(n.o.Peers) && n.records.count() > 0 {
		return "waiting for the state of the other nodes"
	}
	if len(missing) == 0 {
		return "waiting for the cluster to be founded; all nodes are present"
	}
	return fmt.Sprintf("waiting for a majority of the nodes: %s", strings.Join(missing, ", "))
}
