package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
)

// receiveFlags are the flags of queue receive.
type receiveFlags struct {
	most       int
	wait       *int32
	visibility *int32
	remove     bool
}

func newQueueReceive(server *clientFlags) *cobra.Command {
	wait := int32(5)
	r := receiveFlags{most: 1, wait: &wait}
	cmd := &cobra.Command{
		Use:   "receive QUEUE",
		Short: "Receive messages, and print them",
		Long: `Receive messages as a consumer does, and print them. They are hidden from others until
the visibility timeout ends, and their receive counts grow.`,
		Example: `  sluice queue receive jobs
  sluice queue receive jobs --max 10 --wait 20s --delete
  sluice queue receive jobs --json | jq -r '.Messages[].Body'`,
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	f := cmd.Flags()
	f.IntVar(&r.most, "max", r.most, "maximum number of messages to receive, up to 10")
	addSeconds(f, &r.wait, "wait", "how long to wait for a message, up to 20s")
	addSeconds(f, &r.visibility, "visibility-timeout",
		"how long the messages are hidden from other consumers (default: the queue's)")
	f.BoolVar(&r.remove, "delete", false, "delete the messages after printing them")
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		got, err := r.receive(ctx, c.client, url)
		if err != nil || !r.remove {
			return answerOr(got, err)
		}
		if err := c.print(got); err != nil {
			return nil, err // and messages that were not shown stay
		}
		return nil, deleteMessages(ctx, c.client, url, got.Messages)
	})
}

// receivedMessages is the answer of queue receive.
type receivedMessages struct{ Messages []receivedMessage }

type receivedMessage struct {
	MessageId         string
	ReceiptHandle     string
	Body              string
	Attributes        map[string]string
	MessageAttributes map[string]attributeValue `json:",omitempty"`
}

func (r *receiveFlags) receive(ctx context.Context, c *client, url string) (*receivedMessages, error) {
	in := map[string]any{
		"QueueUrl": url, "MaxNumberOfMessages": r.most, "WaitTimeSeconds": r.wait,
		"MessageSystemAttributeNames": []string{"All"}, "MessageAttributeNames": []string{"All"},
	}
	if r.visibility != nil {
		in["VisibilityTimeout"] = *r.visibility
	}
	got := new(receivedMessages)
	if err := c.sqs(ctx, "ReceiveMessage", in, got); err != nil {
		return nil, err
	}
	if got.Messages == nil {
		got.Messages = []receivedMessage{}
	}
	return got, nil
}

func deleteMessages(ctx context.Context, c *client, url string, messages []receivedMessage) error {
	var failures []error
	for _, m := range messages {
		in := map[string]string{"QueueUrl": url, "ReceiptHandle": m.ReceiptHandle}
		if err := c.sqs(ctx, "DeleteMessage", in, nil); err != nil {
			failures = append(failures, fmt.Errorf("message %s: %w", m.MessageId, err))
		}
	}
	return errors.Join(failures...)
}

func (r *receivedMessages) text(w io.Writer) error {
	if len(r.Messages) == 0 {
		_, err := fmt.Fprintln(w, "no message")
		return err
	}
	for i, m := range r.Messages {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(
			w,
			"%s, sent %s, received %s\n",
			m.MessageId,
			timeOf(m.Attributes["SentTimestamp"]),
			times(m.Attributes["ApproximateReceiveCount"]),
		)
		if group, ok := m.Attributes["MessageGroupId"]; ok {
			fmt.Fprintln(w, "group", printable(group))
		}
		if source, ok := m.Attributes["DeadLetterQueueSourceArn"]; ok {
			fmt.Fprintln(w, "dead letter of", printable(source))
		}
		printAttributes(w, m.MessageAttributes)
		if _, err := fmt.Fprintln(w, printableLines(m.Body)); err != nil {
			return err
		}
	}
	return nil
}

// printableLines is printable for a text of several lines.
func printableLines(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

func times(count string) string {
	if count == "1" {
		return "once"
	}
	return count + " times"
}

// timeOf formats a time in SQS's milliseconds for people.
func timeOf(milliseconds string) string {
	n, err := strconv.ParseInt(milliseconds, 10, 64)
	if err != nil {
		return printable(milliseconds)
	}
	return time.UnixMilli(n).UTC().Format(time.RFC3339)
}
