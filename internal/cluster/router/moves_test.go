package router_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// A task of a queue on several shards looks like that of one.
func TestMoveTaskOverShards(t *testing.T) {
	c := newCluster(t, 4, "a", "b")
	r := c.router("a")
	for n := 1; n <= 3; n++ {
		if _, err := c.shards[n].shard.Send(t.Context(), wide, outgoing("x", "y")); err != nil {
			t.Fatal(err)
		}
	}
	slow := queue.MoveTask{ID: "slow", Destination: arn(narrow), Rate: 4}
	if err := r.StartMove(t.Context(), wide, slow); err != nil {
		t.Fatal(err)
	}
	if err := r.StartMove(t.Context(), wide, queue.MoveTask{ID: "second"}); !errors.Is(err, queue.ErrTaskRunning) {
		t.Errorf("second task: %v", err)
	}
	list, err := r.Moves(t.Context(), wide)
	if err != nil || len(list) != 1 || list[0].ID != "slow" || list[0].Status != queue.MoveRunning ||
		list[0].Rate != 4 || list[0].ToMove != 6 {
		t.Errorf("tasks %+v, %v", list, err)
	}
	if _, err := r.CancelMove(t.Context(), wide, "other"); !errors.Is(err, queue.ErrNoTask) {
		t.Errorf("cancel another: %v", err)
	}
	task, err := r.CancelMove(t.Context(), wide, "slow")
	if err != nil || task.ID != "slow" || task.Status == queue.MoveRunning || task.ToMove != 6 {
		t.Errorf("cancelled %+v, %v", task, err)
	}
	if _, err := r.CancelMove(t.Context(), wide, "slow"); !errors.Is(err, queue.ErrNoTask) {
		t.Errorf("cancel again: %v", err)
	}

	c.take(4)
	if err := r.StartMove(t.Context(), wide, queue.MoveTask{ID: "early"}); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("with a shard missing: %v", err)
	}
	c.give(4, "b")

	quick := queue.MoveTask{ID: "quick", Destination: slow.Destination}
	if err := r.StartMove(t.Context(), wide, quick); err != nil {
		t.Fatal(err)
	}
	eventually.Succeeds(t, func() error {
		list, err := r.Moves(t.Context(), wide)
		if err != nil {
			t.Fatal(err)
		}
		if list[0].ID != "quick" || list[0].Status != queue.MoveCompleted || list[0].Moved != list[0].ToMove {
			return fmt.Errorf("tasks %+v", list)
		}
		return nil
	})
	ids := make(map[queue.MessageID]bool)
	for _, m := range drainMessages(t, r, narrow) {
		ids[m.ID] = true
	}
	if len(ids) != 6 {
		t.Errorf("%d different messages have been moved", len(ids))
	}
}

// A task is cancelled by its id wherever it was started: even before the queue had several shards.
func TestMoveTaskOfAnotherTime(t *testing.T) {
	c := newCluster(t, 2, "a", "b")
	r := c.router("a")
	if _, err := c.shards[1].shard.Send(t.Context(), wide, outgoing("x", "y")); err != nil {
		t.Fatal(err)
	}
	task := queue.MoveTask{ID: "t", Destination: arn(narrow), Rate: 1}
	if err := c.shards[1].shard.StartMove(t.Context(), wide, task); err != nil {
		t.Fatal(err)
	}
	if got, err := r.CancelMove(t.Context(), wide, "t"); err != nil || got.ID != "t" {
		t.Errorf("cancelled %+v, %v", got, err)
	}
	if list, err := r.Moves(t.Context(), wide); err != nil || len(list) != 1 || list[0].Status != queue.MoveCancelled {
		t.Errorf("tasks %+v, %v", list, err)
	}
	if list, err := r.Moves(t.Context(), single); err != nil || len(list) != 0 {
		t.Errorf("tasks of another queue %+v, %v", list, err)
	}
}
