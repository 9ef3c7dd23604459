package cluster

import (
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/cluster/status"
)

// Queues returns where the messages of queues are, ordered by the queues' ARNs. With the name of a shard, it returns
// the queues on that shard. With the name of a queue, it returns the queues of that name in all accounts and regions.
func (n *Node) Queues(shard, queue string) (out []status.Queue) {
	cat := n.host.queues.catalog()
	if cat == nil {
		return nil
	}
	owners := make(map[string]string)
	for _, sh := range n.Status().Shards {
		owners[sh.Name] = sh.Owner
	}
	for _, q := range cat.All() {
		if queue != "" && q.Name.Queue != queue {
			continue
		}
		if found := whereIs(q, owners); shard == "" ||
			slices.ContainsFunc(found.Shards, func(s status.QueueShard) bool { return s.Name == shard }) {
			out = append(out, found)
		}
	}
	slices.SortFunc(out, func(a, b status.Queue) int { return strings.Compare(a.QueueArn, b.QueueArn) })
	return out
}

func whereIs(q *catalog.Queue, owners map[string]string) status.Queue {
	found := status.Queue{QueueArn: q.Name.ARN()}
	p := router.PlacementOf(q, nil)
	for _, number := range p.Shards {
		name := shardName(number)
		found.Shards = append(found.Shards, status.QueueShard{Name: name, Owner: owners[name]})
	}
	return found
}
