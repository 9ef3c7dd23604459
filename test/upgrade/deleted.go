package upgrade

import (
	"errors"
	"fmt"
	"strings"
)

// deleted makes and deletes a queue with a message.
func (f *filler) deleted() error {
	q, err := f.create("gone", nil)
	if err != nil {
		return err
	}
	f.content.Queues = f.content.Queues[:len(f.content.Queues)-1]
	if _, err := f.send(q, &Message{Body: "gone as well"}, nil); err != nil {
		return err
	}
	if err := f.sqs("DeleteQueue", map[string]any{"QueueUrl": q.URL}, nil); err != nil {
		return err
	}
	f.content.Deleted = append(f.content.Deleted, q.Name)
	return nil
}

// gone checks that a queue stays deleted, and that one made under its name is empty.
func (k *checker) gone(name string) error {
	q := &Queue{Name: name}
	var refusal *Refusal
	if err := k.find(q); !errors.As(err, &refusal) || !strings.Contains(refusal.Body, "QueueDoesNotExist") {
		return fmt.Errorf("the deleted queue %s: %w", name, err)
	}
	if err := k.SQS(k.ctx, "CreateQueue", map[string]string{"QueueName": name}, nil); err != nil {
		return err
	}
	if err := k.find(q); err != nil {
		return err
	}
	return k.counts(q, 0, 0, 0)
}
