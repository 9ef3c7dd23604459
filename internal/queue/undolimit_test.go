package queue

import (
	"testing"
	"time"
)

// A queue delivers no new messages in place of received ones that an undo has yet to restore. The rig checks the limit.
func TestUndoKeepsRoomForReceivedMessages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.kept, r.undoAtOnce = true, 1
	r.reload()
	r.configure(Config{ID: 1, ARN: "jobs", Retention: time.Hour, Visibility: time.Minute, MaxInFlight: 3})
	received := 0
	do := func(f func(*Engine) error) {
		t.Helper()
		if err := r.transact(f); err != nil {
			t.Fatal(err)
		}
	}
	send := func(e *Engine) error {
		_, err := e.Send(1, []Outgoing{{Body: "1"}, {Body: "2"}, {Body: "3"}})
		return err
	}
	receive := func(e *Engine) error {
		given, err := e.Receive(1, Receive{Max: 10})
		received += len(given)
		return err
	}
	do(send)
	do(receive)
	do(func(e *Engine) error { _, err := e.Purge(Purging{Queue: 1}); return err })
	do(send)
	do(func(e *Engine) error { _, err := e.UndoPurge(1); return err })
	do(receive)
	r.drain()
	if q := r.engine.queues[1]; received != 3 || len(q.held.at) != 3 || q.stored != 6 {
		t.Errorf("received %d; %d of %d are held", received, len(q.held.at), q.stored)
	}
}
