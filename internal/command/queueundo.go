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
		Long: `Bring back what the last purge of a queue deleted, up to ten minutes after it: with ids,
receive counts and receipt handles. Sluice only; needs sluice:UndoPurge.`,
		Example:           "  sluice queue undo-purge jobs",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		out := new(undonePurge)
		return answerOr(out, c.sluice(ctx, "UndoPurge", map[string]string{"QueueUrl": url}, out))
	})
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
