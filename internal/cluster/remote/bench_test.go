package remote_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// still answers without doing anything, so that only the transport is measured.
type still struct {
	remote.Shard
	sent     []queue.Sent
	messages []shard.Message
}

func (s *still) Send(context.Context, queue.ID, []queue.Outgoing) ([]queue.Sent, error) {
	return s.sent, nil
}

func (s *still) Receive(context.Context, queue.ID, queue.Receive, time.Duration) ([]shard.Message, error) {
	return s.messages, nil
}

// BenchmarkRoundTrip sends ten messages of 1 KiB to, and receives them from, an owner that costs nothing, over messages
// in memory.
func BenchmarkRoundTrip(b *testing.B) {
	body := strings.Repeat("x", 1024)
	out := make([]queue.Outgoing, 10)
	s := &still{sent: make([]queue.Sent, 10), messages: make([]shard.Message, 10)}
	for i := range out {
		out[i] = queue.Outgoing{Body: body, Sender: "AIDA"}
		s.messages[i].Body = body
	}
	network := messenger.NewMemory()
	remote.Serve(network.Node("b"), remote.ServerOptions{Lookup: func(int) (remote.Shard, error) { return s, nil }})
	c := remote.New(remote.Options{Messenger: network.Node("a")}).Shard("b", 1)
	b.Run("Send", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Send(b.Context(), 1, out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Receive", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Receive(b.Context(), 1, queue.Receive{Max: 10}, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
