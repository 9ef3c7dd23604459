package shard

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
)

// Searches that run beside the owner find the messages of a task with a selection. While one waits for its turn, the
// shard serves its queues, and the task has moved nothing. A closing shard does not wait for the search.
func TestSearchesOfTasksDoNotHoldUpTheOwner(t *testing.T) {
	t.Parallel()
	arn := func(name string) string { return "arn:aws:sqs:us-east-1:111111111111:" + name }
	s := twoQueues(t, arn("from"), arn("to"))
	send := func(id queue.ID, bodies ...string) {
		t.Helper()
		for i, body := range bodies {
			if _, err := s.Send(t.Context(), id,
				[]queue.Outgoing{{Body: body, ID: queue.MessageID{byte(id), byte(i + 1)}}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	task := func() queue.MoveTask {
		t.Helper()
		all, err := s.Moves(t.Context(), 1)
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0]
	}
	send(1, "a chosen", "b", "c chosen")
	give, err := s.pacer.turn.Take(t.Context(), "222222222222") // another account has its turn
	if err != nil {
		t.Fatal(err)
	}
	selection := &queue.Selection{Filter: "chosen"}
	if err := s.StartMove(t.Context(), 1, queue.MoveTask{
		ID: "t", Destination: arn("to"), Selection: selection,
	}); err != nil {
		t.Fatal(err)
	}
	send(2, "sent while the search waits")
	if got, err := s.Receive(t.Context(), 2, queue.Receive{Max: 1}, 0); err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	if m := task(); m.Status != queue.MoveRunning || m.Scanned != 0 {
		t.Errorf("the task before its search: %+v", m)
	}
	give()
	eventually.Succeeds(t, func() error {
		if m := task(); m.Status != queue.MoveCompleted || m.Moved != 2 || m.Scanned != 3 {
			return fmt.Errorf("the task: %+v", m)
		}
		return nil
	})

	if give, err = s.pacer.turn.Take(t.Context(), "222222222222"); err != nil {
		t.Fatal(err)
	}
	defer give()
	if err := s.StartMove(t.Context(), 1, queue.MoveTask{
		ID: "u", Destination: arn("to"), Selection: selection,
	}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := s.Moves(t.Context(), 1); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a closed shard: %v", err)
	}
}
