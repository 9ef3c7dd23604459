package upgrade

import (
	"errors"
	"fmt"
	"strings"
)

// undone is a queue whose messages were purged, or that was deleted. An undo brings back its messages.
type undone struct {
	Queue    string
	Deleted  bool `json:",omitempty"`
	Messages int
}

// purged purges a queue, if the server can undo that.
func (f *filler) purged() error {
	return f.undoable(undone{Queue: "purged", Messages: 2}, "UndoPurge", "PurgeQueue")
}

// shelved deletes a queue, if the server can undo that.
func (f *filler) shelved() error {
	return f.undoable(undone{Queue: "shelved", Messages: 3, Deleted: true}, "UndoDelete", "DeleteQueue")
}

// undoable makes a queue, and calls an operation on it that undo undoes.
func (f *filler) undoable(u undone, undo, operation string) error {
	q, err := f.create(u.Queue, map[string]string{"MessageRetentionPeriod": longest})
	if err != nil {
		return err
	}
	f.content.Queues = f.content.Queues[:len(f.content.Queues)-1]
	if err := f.Sluice(f.ctx, undo, u.input(), nil); !isNothingToUndo(err) {
		return fmt.Errorf("there is nothing to undo: %w", err)
	}
	for i := range u.Messages {
		if _, err := f.send(q, &Message{Body: fmt.Sprint(u.Queue, i)}, nil); err != nil {
			return err
		}
	}
	if err := f.sqs(operation, map[string]any{"QueueUrl": q.URL}, nil); err != nil {
		return err
	}
	f.content.Undone = append(f.content.Undone, u)
	return nil
}

// input returns the input of the undo. It names a deleted queue by its name, and any other by its URL.
func (u *undone) input() map[string]string {
	if u.Deleted {
		return map[string]string{"QueueName": u.Queue}
	}
	return map[string]string{"QueueUrl": u.Queue}
}

func isNothingToUndo(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && strings.Contains(refusal.Body, "can be undone")
}

// undo checks that an undo brings back the messages of a queue.
func (k *checker) undo(u undone) error {
	operation := "UndoPurge"
	if u.Deleted {
		operation = "UndoDelete"
	}
	if err := k.Sluice(k.ctx, operation, u.input(), nil); err != nil {
		return fmt.Errorf("queue %s: %w", u.Queue, err)
	}
	q := &Queue{Name: u.Queue}
	return k.persist(func() error { return errors.Join(k.find(q), k.counts(q, u.Messages, 0, 0)) })
}
