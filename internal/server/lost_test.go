package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
)

// A server whose control store is lost keeps the messages that it does not know any more, and gives them to no new
// queue.
func TestLostControlStore(t *testing.T) {
	t.Parallel()
	config := onDisk(filepath.Join(t.TempDir(), "data"))
	var unknown int
	run := func(f func(c *client)) {
		t.Helper()
		s, stop := start(t, config)
		unknown = len(s.storage.node.(*alone).shard.Unknown())
		c := clientOf(t, s, inJSON)
		c.Region = "us-east-1"
		f(c)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
	run(func(c *client) {
		for _, name := range []string{"a", "b"} {
			c.Make("CreateQueue", object{"QueueName": name})
			c.Make("SendMessage", object{"QueueUrl": c.URL(name), "MessageBody": name})
		}
	})
	if err := os.RemoveAll(filepath.Join(config.Data, datadir.ControlDir)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c", "d"} {
		run(func(c *client) {
			if unknown != 2 {
				t.Errorf("%d queues are unknown", unknown)
			}
			c.Make("CreateQueue", object{"QueueName": name})
			if got := c.Make("ReceiveMessage", object{"QueueUrl": c.URL(name)}); got["Messages"] != nil {
				t.Errorf("a new queue has %v", got)
			}
			c.Make("DeleteQueue", object{"QueueUrl": c.URL(name)})
		})
	}
	if run(func(*client) {}); unknown != 2 {
		t.Errorf("at the end %d queues are unknown", unknown)
	}
}

// The copy of a publication that comes to a queue before the queue is known, because the control store is older than
// the messages, is in the queue as soon as it is known.
func TestHeldCopyArrives(t *testing.T) {
	t.Parallel()
	s, _ := start(t, onDisk(filepath.Join(t.TempDir(), "data")))
	c := clientOf(t, s, inJSON)
	c.Make("CreateQueue", object{"QueueName": "known"})
	known := s.storage.catalog.Load().Find(catalog.Name{Account: account, Region: c.Region, Queue: "known"}).ID
	shard := s.storage.node.(*alone).shard
	p := queue.Publication{ID: queue.MessageID{1}, Copies: []queue.Copy{{Queue: known + 1, Message: queue.Outgoing{Body: "held"}}}}
	if _, err := shard.Publish(t.Context(), []queue.Publication{p}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the copy is held", func() bool {
		held, err := shard.ReadOutbox(t.Context(), known+1, 1, 1<<20)
		return err == nil && len(held) == 1
	})
	c.Make("CreateQueue", object{"QueueName": "late"})
	eventually.True(t, "the copy is in the queue", func() bool {
		return c.Make("ReceiveMessage", object{"QueueUrl": c.URL("late")})["Messages"] != nil
	})
}
