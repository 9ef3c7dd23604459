package queue

import (
	"testing"
	"time"
)

// Consumers delete messages of a group while an undo restores its others: the group becomes active once for each
// received message, and needs a place each time.
func TestUndoOfAGroupWhoseMessagesAreDeleted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	defer r.close()
	r.kept, r.undoAtOnce = true, 1
	r.reload()
	r.configure(Config{ID: 1, ARN: "jobs.fifo", FIFO: true, Retention: time.Hour, Visibility: time.Minute})
	do := func(f func(*Engine) error) {
		t.Helper()
		if err := r.transact(f); err != nil {
			t.Fatal(err)
		}
	}
	var receipts []Receipt
	do(func(e *Engine) error {
		_, err := e.Send(1, []Outgoing{
			{Body: "1", Group: "a", Dedup: "1"}, {Body: "2", Group: "b", Dedup: "2"},
			{Body: "3", Group: "a", Dedup: "3"},
		})
		return err
	})
	do(func(e *Engine) error {
		given, err := e.Receive(1, Receive{Max: 10})
		for _, d := range given {
			receipts = append(receipts, Receipt{d.Position, d.Receipt})
		}
		return err
	})
	do(func(e *Engine) error { _, err := e.Purge(Purging{Queue: 1}); return err })
	do(func(e *Engine) error { _, err := e.UndoPurge(1); return err })
	for _, receipt := range receipts {
		do(func(e *Engine) error {
			results, err := e.Delete(1, []Receipt{receipt})
			return firstError(append([]error{err}, results...)...)
		})
	}
	r.drain()
	if q := r.engine.queues[1]; q.stored != 0 || q.kept.since != 0 {
		t.Errorf("%d messages are stored, and %d are kept", q.stored, q.kept.messages)
	}
}
