package router_test

import (
	"errors"
	"testing"

	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/queue"
)

// The messages of a queue on many shards are counted together, from any node.
func TestCensus(t *testing.T) {
	c := newCluster(t, 5, "a", "b")
	for i := range 40 {
		out := []queue.Outgoing{{Body: `{"error": "odd"}`, ID: queue.MessageID{1, byte(i)}}}
		if i%4 == 0 {
			out[0].Body = `{"error": "even"}`
		}
		if _, err := c.router("a").Send(t.Context(), wide, out); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []*router.Router{c.router("a"), c.router("b")} {
		var all queue.CensusResult
		for ask := (queue.Census{States: queue.AllStates, Key: "body.error"}); ; {
			got, err := r.Census(t.Context(), wide, ask)
			if err != nil {
				t.Fatal(err)
			}
			all.Add(got)
			if ask.After = got.Next; !got.More {
				break
			}
		}
		counts := make(map[string]uint64)
		for _, share := range all.Shares {
			counts[share.Term] += share.Messages
		}
		if len(all.Shares) != 2 || counts[`body.error:"odd"`] != 30 || counts[`body.error:"even"`] != 10 ||
			all.Scanned != 40 || all.Found != 40 {
			t.Errorf("there are %+v", all)
		}
	}
	if _, err := c.router("a").Census(t.Context(), 99, queue.Census{Key: "count"}); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("no queue: %v", err)
	}
}
