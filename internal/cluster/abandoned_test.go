//go:build !race

// In real time a client without an answer tries again; the counts here are exact only in a bubble.

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// A consumer stops waiting while the answer to its long poll is on its way, and the shard changes its owner before the
// answer arrives. The new owner makes the message visible again.
func TestAbandonedPollIsTakenBackWhileItsShardMoves(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		status := w.settled("a", "b", "c")
		w.does(func() error { return w.at("a").create("jobs", nil) })
		for _, name := range []string{"a", "b", "c"} {
			w.eventually("all know of the queue", func() bool { return w.at(name).catalog.Find(named("jobs")) != nil })
		}
		q := w.at("a").catalog.Find(named("jobs"))
		owner := ""
		for _, s := range status.Shards {
			if s.Name == fmt.Sprintf("%04d", q.Shards[0]) {
				owner = s.Owner
			}
		}
		consumer := "a"
		if owner == consumer {
			consumer = "b"
		}

		come, release := make(chan struct{}, 1), make(chan struct{})
		ctx, leave := context.WithCancel(w.life)
		left := make(chan error, 1)
		hour := time.Hour
		go func() {
			_, err := w.at(consumer).node.Router().Receive(ctx, q.ID, queue.Receive{Max: 1, Timeout: &hour},
				20*time.Second)
			left <- err
		}()
		time.Sleep(time.Second) // it waits at the owner
		w.mu.Lock()
		w.answers = func(kind string) {
			if kind == "shard" {
				select {
				case come <- struct{}{}:
				default:
				}
				<-release
			}
		}
		w.mu.Unlock()
		if _, err := w.at(owner).node.Router().Send(w.life, q.ID, []queue.Outgoing{{Body: "m"}}); err != nil {
			t.Fatal(err)
		}
		<-come
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("the consumer got %v", err)
		}
		w.mu.Lock()
		w.answers = nil
		w.mu.Unlock()
		w.stop(owner)
		close(release)
		got, err := w.at(consumer).node.Router().Receive(w.life, q.ID, queue.Receive{Max: 1}, 20*time.Second)
		if err != nil || len(got) != 1 || got[0].ReceiveCount() != 1 {
			t.Errorf("received %v, %v", got, err)
		}
	})
}
