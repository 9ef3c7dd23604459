package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// A server whose control store is lost keeps the messages of unknown queues, and gives them to no new queue.
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

// A server delivers messages that arrived while it did not know their queue, and that wait in an outbox.
func TestOutboxOfOneServer(t *testing.T) {
	t.Parallel()
	config := onDisk(filepath.Join(t.TempDir(), "data"))
	run := func(f func(s *Server, c *client)) {
		t.Helper()
		s, stop := start(t, config)
		c := clientOf(t, s, inJSON)
		c.Region = "us-east-1"
		f(s, c)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
	}
	var configs []queue.Config
	for _, name := range []string{"a", "b.fifo"} {
		run(func(s *Server, c *client) {
			c.Make("CreateQueue", object{"QueueName": name, "Attributes": fifoIf(name)})
			configs = s.storage.catalog.Load().Configs(theShard)
		})
	}
	putIntoOutboxes(t, filepath.Join(config.Data, ShardDir), configs)
	run(func(_ *Server, c *client) {
		for _, name := range []string{"a", "b.fifo"} {
			got := c.Make("ReceiveMessage", object{"QueueUrl": c.URL(name), "WaitTimeSeconds": 20})
			if list, _ := got["Messages"].([]any); len(list) != 1 || list[0].(map[string]any)["Body"] != "late" {
				t.Errorf("%s has %v", name, got)
			}
		}
	})
}

// putIntoOutboxes puts a message for each queue into the store of a shard that does not serve it.
func putIntoOutboxes(t *testing.T, dir string, configs []queue.Config) {
	t.Helper()
	st, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var p queue.Publication
	for i := range configs {
		configs[i].Elsewhere = true
		m := queue.Outgoing{Body: "late"}
		if configs[i].FIFO {
			m.Group, m.Dedup = "g", "d"
		}
		p.Copies = append(p.Copies, queue.Copy{Queue: configs[i].ID, Message: m})
	}
	sh, err := shard.Open(shard.Options{Store: st, Configs: func() []queue.Config { return configs }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sh.Publish(t.Context(), []queue.Publication{p}); err != nil {
		t.Error(err)
	}
	sh.Close()
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}
