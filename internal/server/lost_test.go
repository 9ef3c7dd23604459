package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicemq/sluice/internal/datadir"
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
