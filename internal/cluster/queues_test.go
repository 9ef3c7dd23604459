package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
)

// order is a change of the queues.
type order struct {
	Create     string
	Attributes catalog.Attributes
	Tags       map[string]string
}

func named(name string) catalog.Name {
	return catalog.Name{Account: "000000000000", Region: "us-east-1", Queue: name}
}

func attributes(name string) catalog.Attributes {
	return catalog.Attributes{
		VisibilitySeconds: 30, RetentionSeconds: 86400, MaximumMessageSize: 1 << 18, FIFO: isFIFO(name),
	}
}

func isFIFO(name string) bool { return strings.HasSuffix(name, ".fifo") }

// change runs a change on the owner of the control shard.
func (p *process) change(o *order) error {
	return p.catalog.Change(context.Background(), func(tx *catalog.Tx) error {
		_, err := tx.Create(named(o.Create), o.Attributes, o.Tags, time.Now())
		if errors.Is(err, catalog.ErrExists) {
			return nil
		}
		return err
	})
}

// create creates a queue through a node as its server would: there if possible, otherwise on the owner of the control
// shard.
func (p *process) create(name string, tags map[string]string) error {
	o := order{Create: name, Attributes: attributes(name), Tags: tags}
	err := control.ErrElsewhere
	if !p.node.Control().Elsewhere() {
		err = p.change(&o)
	}
	if errors.Is(err, control.ErrElsewhere) {
		request, _ := json.Marshal(o)
		_, err = p.node.Forward(context.Background(), request)
	}
	return err
}

// delete deletes a queue through the node that owns the control shard. The name can be used again at once.
func (p *process) delete(name string) error {
	return p.catalog.Change(context.Background(), func(tx *catalog.Tx) error {
		q := p.catalog.Find(named(name))
		if q == nil {
			return nil
		}
		return tx.Delete(q.Name, q.ID, time.Now().Add(-catalog.RecreateInterval))
	})
}

// send sends a message to a queue that the node knows.
func (p *process) send(name, body string) {
	p.world.t.Helper()
	m := queue.Outgoing{Body: body}
	if isFIFO(name) {
		m.Group, m.Dedup = "g", body
	}
	p.world.does(func() error {
		q := p.catalog.Find(named(name))
		if q == nil {
			return fmt.Errorf("%s does not know the queue %s", p.machine.name, name)
		}
		_, err := p.node.Router().Send(context.Background(), q.ID, []queue.Outgoing{m})
		return err
	})
}

func TestQueuesOfShards(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		w.does(func() error { return w.at("a").create("wide", map[string]string{catalog.TagShards: "3"}) })
		w.does(func() error { return w.at("a").create("one", nil) })
		node := w.at("b").node
		w.does(func() error { return w.at("b").node.CatchUp(context.Background()) })
		if all := node.Queues("", ""); len(all) != 2 || !strings.HasSuffix(all[0].QueueArn, ":one") ||
			len(all[1].Shards) != 3 {
			t.Fatalf("all queues are %+v", all)
		}
		one := node.Queues("", "one")
		if len(one) != 1 || len(one[0].Shards) != 1 || one[0].Shards[0].Owner == "" {
			t.Fatalf("one is %+v", one)
		}
		for _, q := range node.Queues(one[0].Shards[0].Name, "") {
			if !slices.ContainsFunc(q.Shards, func(s status.QueueShard) bool { return s == one[0].Shards[0] }) {
				t.Errorf("%+v is not on shard %s", q, one[0].Shards[0].Name)
			}
		}
		if none := node.Queues("0099", ""); len(none) > 0 {
			t.Errorf("a shard that does not exist has %+v", none)
		}
	})
}
