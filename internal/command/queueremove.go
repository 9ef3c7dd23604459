package command

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

// deleteAtOnce is how many ids a call of DeleteMessages may have.
const deleteAtOnce = 1000

func newQueueRemoveMessages(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rm-messages QUEUE ID...",
		Short: "Delete messages by their ids, without receiving them",
		Long: `Delete messages by their ids, without receiving them: visible, in flight, delayed, or
blocked in their groups. Deleting a message in flight unblocks its group. sluice queue
peek shows the ids. The exit status is 1 if one of the messages is not in the queue.
Sluice only; needs sluice:DeleteMessages and sqs:DeleteMessage.`,
		Example: `  sluice queue rm-messages jobs 5ec5b5a4-3c1f-4b5e-9d0c-2f1b6c1d9a3e
  sluice queue peek jobs poison --json | jq -r '.Messages[].MessageId' | xargs sluice queue rm-messages jobs`,
		Args:              arguments("QUEUE", "ID..."),
		ValidArgsFunction: completeQueues(server),
	}
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		out := &discarded{Results: []discardedMessage{}}
		for ids := range slices.Chunk(c.args[1:], deleteAtOnce) {
			if err := out.discard(ctx, c, url, ids); err != nil {
				return nil, err
			}
		}
		if n := out.count("NotFound"); n > 0 {
			return out, fmt.Errorf("%d of %d messages are not in the queue", n, len(out.Results))
		}
		return out, nil
	})
}

// discarded is the answer of queue rm-messages.
type discarded struct{ Results []discardedMessage }

type discardedMessage struct{ MessageId, Outcome string }

// discard deletes messages, in as many calls as the server needs to find them.
func (d *discarded) discard(ctx context.Context, c *call, url string, ids []string) error {
	in := map[string]any{"QueueUrl": url}
	scanned, said := int64(0), time.Now()
	for {
		in["MessageIds"] = ids
		var page struct {
			Results        []discardedMessage
			Cursor         string
			Scanned, Total int64
		}
		if err := c.sluice(ctx, "DeleteMessages", in, &page); err != nil {
			return err
		}
		d.Results = append(d.Results, page.Results...)
		if scanned += page.Scanned; page.Cursor == "" {
			return nil
		}
		in["Cursor"] = page.Cursor
		ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
			return slices.ContainsFunc(page.Results, func(r discardedMessage) bool { return r.MessageId == id })
		})
		if time.Since(said) > time.Second {
			said = time.Now()
			fmt.Fprintf(
				c.progress, "looked at %d of about %d messages, deleted %d\n", scanned, page.Total, d.count("Deleted"),
			)
		}
	}
}

// count returns the number of messages with an outcome.
func (d *discarded) count(outcome string) (n int) {
	for _, r := range d.Results {
		if r.Outcome == outcome {
			n++
		}
	}
	return n
}

func (d *discarded) text(w io.Writer) error {
	for _, r := range d.Results {
		if r.Outcome != "Deleted" {
			fmt.Fprintf(w, "%s: not in the queue\n", r.MessageId)
		}
	}
	n := d.count("Deleted")
	if n == 1 {
		_, err := fmt.Fprintln(w, "1 message deleted")
		return err
	}
	_, err := fmt.Fprintf(w, "%d messages deleted\n", n)
	return err
}
