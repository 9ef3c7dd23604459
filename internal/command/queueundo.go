package command

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func newQueueUndoPurge(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo-purge QUEUE",
		Short: "Bring back what the last purge of a queue deleted",
		Long: `Bring back what the last purge of a queue deleted, up to ten minutes after it.
Sluice only; needs sluice:UndoPurge.`,
		Example:           "  sluice queue undo-purge jobs",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		out := new(undonePurge)
		return answerOr(out, c.sluice(ctx, "UndoPurge", map[string]string{"QueueUrl": url}, out))
	})
}

func newQueueUndoDelete(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "undo-delete NAME",
		Short: "Bring back a deleted queue",
		Long: `Bring back a queue up to ten minutes after its deletion, with attributes, tags and messages.
NAME is its name or ARN. Sluice only; needs sluice:UndoDelete.`,
		Example: "  sluice queue undo-delete jobs",
		Args:    arguments("NAME"),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		in, err := c.queueName(c.args[0])
		if err != nil {
			return nil, err
		}
		out := new(undoneDeletion)
		return answerOr(out, c.sluice(ctx, "UndoDelete", in, out))
	})
}

// undoneDeletion is the answer of queue undo-delete.
type undoneDeletion struct {
	QueueUrl         string
	DeletedTimestamp int64
	Messages         *int64 `json:",omitempty"`
}

func (u *undoneDeletion) text(w io.Writer) error {
	what := "queue " + queueName(u.QueueUrl) + " is back"
	switch {
	case u.Messages == nil:
	case *u.Messages == 1:
		what += ", with 1 message"
	default:
		what += fmt.Sprintf(", with %d messages", *u.Messages)
	}
	fmt.Fprintln(w, what)
	return nil
}

// undonePurge is the answer of queue undo-purge.
type undonePurge struct {
	Messages        int64
	PurgedTimestamp int64
	UntilTimestamp  int64
	Running         bool `json:",omitempty"`
}

func (u *undonePurge) text(w io.Writer) error {
	what, verb := fmt.Sprintf("%d messages", u.Messages), "are"
	if u.Messages == 1 {
		what, verb = "1 message", "is"
	}
	if u.Running {
		fmt.Fprintln(w, what, verb, "coming back")
	} else {
		fmt.Fprintln(w, what, verb, "back")
	}
	return nil
}
