package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A record that older programs cannot read waits until each node has reported that it can. For a node that is away the
// last report counts, and a node that has never reported delays the record.
func TestAllNodesRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := meet(t, "a", "b", "c")
		reads := map[string]int{"a": 3, "b": 3, "c": 0}
		for name, m := range nodes {
			m.self = func() heartbeat {
				return heartbeat{
					Node: name, Incarnation: "1", Version: "1.0", Reads: reads[name],
				}
			}
			for other := range nodes {
				m.records.nodes[other] = nodeRecord{}
			}
		}
		want := func(what, text string) {
			t.Helper()
			if err := nodes["a"].allRead(3); fmt.Sprint(err) != text {
				t.Errorf("%s: %v, want %s", what, err, text)
			}
		}
		readable := func(format int) {
			t.Helper()
			if got := nodes["a"].readable(); got != format {
				t.Errorf("all read format %d, want %d", got, format)
			}
		}
		readable(1)
		want("before the first heartbeat", "the node b is away, and which version it runs is not known")
		nodes["a"].sendHeartbeats()
		want("an older node", "the node c runs version 1.0, which is too old for it")
		readable(1)
		reads["c"] = 4
		nodes["a"].sendHeartbeats()
		readable(3)
		want("all are new enough", "<nil>")
		time.Sleep(2 * usual.silence)
		want("all others are away", "<nil>")
		delete(nodes["a"].records.nodes, "b")
		reads["b"] = 0
		nodes["a"].sendHeartbeats()
		want("a node that was removed", "<nil>")
		readable(4)
	})
}
