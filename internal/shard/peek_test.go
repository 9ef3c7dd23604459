package shard_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// Peeks that run while messages are sent, received and deleted find no message twice, never fail, and receive nothing.
func TestPeekBesideTraffic(t *testing.T) {
	r := openShard(t, queue.Config{ID: jobs, ARN: "jobs", Retention: time.Hour, Visibility: time.Minute})
	const messages = 2000
	var all sync.WaitGroup
	all.Go(func() {
		for i := range messages {
			if _, err := r.Send(t.Context(), jobs, []queue.Outgoing{{Body: fmt.Sprint(i)}}); err != nil {
				t.Error(err)
			}
		}
	})
	received := 0
	all.Go(func() {
		for received < messages {
			got, err := r.Receive(t.Context(), jobs, queue.Receive{Max: 10}, time.Second)
			if err != nil {
				t.Error(err)
				return
			}
			for _, m := range got {
				if received++; m.Receives != 1 {
					t.Errorf("%s was received %d times", m.Body, m.Receives)
				}
				if _, err := r.Delete(t.Context(), jobs,
					[]queue.Receipt{{Position: m.Position, Number: m.Receipt}}); err != nil {
					t.Error(err)
				}
			}
		}
	})
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for looks := 0; ; looks++ {
		found, err := r.Peek(t.Context(), jobs, queue.Peek{States: queue.AllStates, Max: 500, Bodies: true})
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for _, m := range found.Messages {
			if seen[m.Body] || m.Body == "" {
				t.Errorf("%q is seen twice", m.Body)
			}
			seen[m.Body] = true
		}
		select {
		case <-done:
			if looks == 0 {
				t.Error("no peek ran during traffic")
			}
			return
		default:
		}
	}
}

func TestPeekOfWhatIsNotThere(t *testing.T) {
	r := openShard(t, queue.Config{ID: jobs, ARN: "jobs", Retention: time.Hour}, queue.Config{
		ID: 2, ARN: "away", Elsewhere: true,
	})
	for _, id := range []queue.ID{2, 99} {
		if _, err := r.Peek(t.Context(), id, queue.Peek{
			States: queue.AllStates, Max: 1,
		}); !errors.Is(err, queue.ErrNoQueue) {
			t.Errorf("queue %d: %v", id, err)
		}
	}
	r.Close()
	if _, err := r.Peek(t.Context(), jobs, queue.Peek{
		States: queue.AllStates, Max: 1,
	}); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("of a closed shard: %v", err)
	}
}
