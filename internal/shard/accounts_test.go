package shard

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// Exports, searches and redrives wait for turns under the account of their queue. So an account that exports ten queues
// at once delays each of another account's by one turn.
func TestReadersTakeTurnsByAccount(t *testing.T) {
	const busy, alone = "111111111111", "222222222222"
	for name, read := range map[string]func(context.Context, *Shard) error{
		"an export": func(ctx context.Context, s *Shard) error {
			_, err := s.Peek(ctx, 1, queue.Peek{Max: 10, Bodies: true})
			return err
		},
		"a search": func(ctx context.Context, s *Shard) error {
			_, err := s.Peek(ctx, 1, queue.Peek{Filter: "chosen", Max: 10})
			return err
		},
		"a redrive": func(ctx context.Context, s *Shard) error {
			task := queue.MoveTask{
				ID: "t", Destination: "arn:aws:sqs:us-east-1:" + alone + ":to",
				Selection: &queue.Selection{Filter: "chosen"},
			}
			if err := s.StartMove(ctx, 1, task); err != nil {
				return err
			}
			for all, err := s.Moves(ctx, 1); err != nil || all[0].Status != queue.MoveCompleted; all, err = s.Moves(ctx,
				1) {
				if err != nil {
					return err
				}
				time.Sleep(time.Second)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := twoQueues(t, "arn:aws:sqs:us-east-1:"+alone+":from", "arn:aws:sqs:us-east-1:"+alone+":to")
				if _, err := s.Send(t.Context(), 1, []queue.Outgoing{{Body: "chosen"}}); err != nil {
					t.Fatal(err)
				}
				over, end := context.WithCancel(t.Context())
				defer end()
				next := make(chan struct{})
				export := func(queue.Reader, func(int) bool) error {
					select {
					case <-next:
					case <-over.Done():
					}
					return nil
				}
				for range 10 {
					go func() { _ = s.walk(over, busy, export) }()
				}
				synctest.Wait() // one of them has the turn
				done := make(chan error, 1)
				go func() { done <- read(t.Context(), s) }()
				synctest.Wait()
				for turns := 1; len(done) == 0; turns++ {
					if turns == 5 {
						t.Fatal("it waits for all exports of the other account")
					}
					next <- struct{}{}      // ends a turn
					time.Sleep(time.Minute) // the owner may have timers
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// twoQueues returns a shard with the queues 1 and 2.
func twoQueues(t *testing.T, first, second string) *Shard {
	t.Helper()
	st, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Store: st, Configs: func() []queue.Config {
		return []queue.Config{
			{ID: 1, ARN: first, Visibility: time.Minute, Retention: time.Hour},
			{ID: 2, ARN: second, Visibility: time.Minute, Retention: time.Hour},
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
