package cluster

import (
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
)

// Two nodes with data from before the cluster try to found it. What the one had that was
// not the first is no checkpoint for a node that has nothing.
func TestCheckpointIsOfThisLog(t *testing.T) {
	h := &host{members: meet(t, "a")["a"]}
	h.common = h.members.common
	for node, s := range map[string]replica.Status{
		"founder": {Role: replica.Owner, Applied: 1, Last: 1, Hash: "77397410cc73f66b"},
		"other":   {Role: replica.Follower, Hash: "962bb7ac660b9dd9"},
		"empty":   {Role: replica.Follower, Hash: emptyHash},
		"stopped": {Role: replica.Stopped, Applied: 1, Hash: "77397410cc73f66b", Error: "it is damaged"},
	} {
		h.members.view.record(heartbeat{Node: node, Shards: map[string]replica.Status{"0001": s}}, time.Now())
	}
	if got := h.sources("0001", 1); !slices.Equal(got, []string{"founder"}) {
		t.Errorf("checkpoints come from %v", got)
	}
	if got := h.sources("0001", 3); len(got) > 0 {
		t.Errorf("the log begins with record 3, and checkpoints come from %v", got)
	}
}
