package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sluicemq/sluice/internal/tool/wait"
)

// worker moves one batch at a time. It has connections of its own.
type worker struct {
	*Mover
	ring     *ring
	from, to API
}

// run moves messages until all queues have ended, or ctx does.
func (w *worker) run(ctx context.Context) error {
	for ctx.Err() == nil {
		l, ended := w.ring.take(time.Now())
		if ended {
			return nil
		}
		if l == nil {
			_ = wait.For(ctx, w.Pause)
			continue
		}
		moved, left, err := w.step(ctx, l)
		w.ring.put(l, time.Now(), moved, left)
		switch {
		case err == nil || ctx.Err() != nil:
		case w.Follow && !isRefusal(err):
			w.warn(fmt.Sprintf("%s: %v; trying again", l.name, err))
		default:
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// step moves one batch of a queue. If it has moved none, left is how many messages the source still has.
func (w *worker) step(ctx context.Context, l *line) (moved, left int, err error) {
	messages, err := w.receive(ctx, l)
	if err != nil {
		return 0, 1, err
	}
	// Received messages are finished even when the run is stopped.
	finish, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(w.Finish, cancel) })()
	sent, err := w.send(finish, l, messages)
	if deleting := w.remove(finish, l, sent); err == nil {
		err = deleting
	}
	if len(sent) > 0 || err != nil {
		return len(sent), 1, err
	}
	left, err = w.count(ctx, l)
	return 0, left, err
}

// receive receives messages from the source, and omits those that the target has refused.
func (w *worker) receive(ctx context.Context, l *line) (all []*received, err error) {
	in := map[string]any{
		"QueueUrl": l.from, "MaxNumberOfMessages": mostMessages, "VisibilityTimeout": w.Hidden,
		"WaitTimeSeconds": w.Poll,
		// MessageSystemAttributeNames is not known everywhere
		"AttributeNames": []string{"All"}, "MessageAttributeNames": []string{"All"},
	}
	var out struct{ Messages []*received }
	err = retrying(ctx, func() error { return w.from.SQS(ctx, "ReceiveMessage", in, &out) })
	for _, m := range out.Messages {
		if !w.ring.stays(l, m) {
			all = append(all, m)
		}
	}
	return all, err
}

// send sends messages to the target, and returns those that it has acknowledged.
func (w *worker) send(ctx context.Context, l *line, messages []*received) (sent []*received, err error) {
	for _, batch := range batches(messages, l.fifo) {
		err := retrying(ctx, func() error {
			taken, rest, err := w.sendBatch(ctx, l, batch)
			sent, batch = append(sent, taken...), rest
			return err
		})
		if err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// errRest reports that the target has not accepted some messages of a batch, but may accept them later.
var errRest = errors.New("the target did not take all messages of a batch")

// sendBatch sends those messages of a batch that do not stay at the source. It returns the messages that the target has
// accepted and, with an error, those to send again.
func (w *worker) sendBatch(ctx context.Context, l *line, batch []*received) (taken, rest []*received, err error) {
	entries, messages := w.entries(l, batch)
	if len(entries) == 0 {
		return nil, nil, nil
	}
	var out struct {
		Successful []struct{ Id string }
		Failed     []failure
	}
	in := map[string]any{"QueueUrl": l.to, "Entries": entries}
	if err := w.to.SQS(ctx, "SendMessageBatch", in, &out); err != nil {
		return nil, batch, err
	}
	for _, f := range out.Failed {
		if m := messages[f.Id]; m != nil && f.final() {
			w.ring.refuse(l, m)
			w.warn(fmt.Sprintf("%s: the target refuses message %s: %s: %s", l.name, m.MessageId, f.Code, f.Message))
		}
	}
	for _, s := range out.Successful {
		if m := messages[s.Id]; m != nil {
			taken = append(taken, m)
			delete(messages, s.Id)
		}
	}
	for _, e := range entries {
		if m := messages[e.Id]; m != nil && !w.ring.stays(l, m) {
			rest = append(rest, m)
		}
	}
	if len(rest) > 0 {
		err = errRest
	}
	return taken, rest, err
}

// failure is the reason why the target has not accepted a message of a batch.
type failure struct {
	Id, Code, Message string
	SenderFault       bool
}

// final reports whether the target will never accept the message.
func (f failure) final() bool { return f.SenderFault && !slices.Contains(passing, f.Code) }

// entries returns those messages of a batch to send, and which message each is, by its id in the batch.
func (w *worker) entries(l *line, batch []*received) (entries []*outgoing, messages map[string]*received) {
	messages = make(map[string]*received)
	for i, m := range batch {
		if !w.ring.stays(l, m) {
			e := m.outgoing(l.fifo)
			e.Id = strconv.Itoa(i)
			entries, messages[e.Id] = append(entries, e), m
		}
	}
	return entries, messages
}

// remove deletes messages at the source. One that cannot be deleted is received again, and so may be moved twice.
func (w *worker) remove(ctx context.Context, l *line, messages []*received) error {
	for len(messages) > 0 {
		batch := messages[:min(len(messages), mostMessages)]
		messages = messages[len(batch):]
		type entry struct{ Id, ReceiptHandle string }
		var entries []entry
		for i, m := range batch {
			entries = append(entries, entry{strconv.Itoa(i), m.ReceiptHandle})
		}
		var out struct {
			Failed []struct{ Id, Code, Message string }
		}
		in := map[string]any{"QueueUrl": l.from, "Entries": entries}
		if err := retrying(ctx, func() error { return w.from.SQS(ctx, "DeleteMessageBatch", in, &out) }); err != nil {
			return err
		}
		for _, failed := range out.Failed {
			w.warn(
				fmt.Sprintf("%s: the source does not delete a message, which may come twice: %s: %s", l.name, failed.Code, failed.Message),
			)
		}
	}
	return nil
}

// count returns how many messages the source has: visible, delayed or in flight.
func (w *worker) count(ctx context.Context, l *line) (int, error) {
	var counts Counts
	err := retrying(ctx, func() (err error) { counts, err = countsOf(ctx, w.from, l.from); return err })
	return counts.total(), err
}
