package command

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// messageFlags are the flags of queue send, for each of the messages.
type messageFlags struct {
	lines      bool
	delay      *int32
	group      string
	dedup      string
	attributes []string
}

func newQueueSend(server *clientFlags) *cobra.Command {
	var m messageFlags
	cmd := &cobra.Command{
		Use:   "send QUEUE [BODY]",
		Short: "Send a message, or each line of standard input",
		Long:  `Send a message, and print its id. Without BODY, the body comes from standard input.`,
		Example: `  sluice queue send jobs hello
  sluice queue send jobs --delay 5m --attribute tenant=acme --attribute retries:Number=3 <job.json
  sluice queue send orders.fifo --group customer-7 --lines <orders.txt`,
		Args:              arguments("QUEUE", "[BODY]"),
		ValidArgsFunction: completeQueues(server),
	}
	f := cmd.Flags()
	f.BoolVar(&m.lines, "lines", false, "send each line of standard input, except empty ones")
	addSeconds(f, &m.delay, "delay", "how long the message is hidden at first, up to 15m (default: the queue's)")
	f.StringVar(&m.group, "group", "", "message group")
	f.StringVar(&m.dedup, "dedup-id", "", "deduplication id, for FIFO queues")
	f.StringArrayVar(
		&m.attributes,
		"attribute",
		nil,
		"attribute of the message, as name=value or name:Number=value; a value of type Binary in base64; repeatable",
	)
	notWith(f, "lines", "dedup-id")
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		attributes, err := messageAttributes("--attribute", m.attributes)
		if err != nil {
			return nil, usage(err)
		}
		template := outgoing{
			DelaySeconds: m.delay, MessageAttributes: attributes, MessageGroupId: m.group,
			MessageDeduplicationId: m.dedup,
		}
		if m.lines {
			return m.sendLines(ctx, c, url, template)
		}
		return m.sendOne(ctx, c, url, template)
	})
}

// outgoing is a message to be sent, alone or in a batch.
type outgoing struct {
	Id                     string `json:",omitempty"` // in its batch
	QueueUrl               string `json:",omitempty"` // if it is alone
	MessageBody            string
	DelaySeconds           *int32                    `json:",omitempty"`
	MessageAttributes      map[string]attributeValue `json:",omitempty"`
	MessageGroupId         string                    `json:",omitempty"`
	MessageDeduplicationId string                    `json:",omitempty"`
}

// attributeValue is the value of a message attribute.
type attributeValue struct {
	DataType    string
	StringValue string `json:",omitempty"`
	BinaryValue []byte `json:",omitempty"`
}

// messageAttributes parses name=value and name:Type=value.
func messageAttributes(flag string, texts []string) (map[string]attributeValue, error) {
	given, err := pairs(flag, texts)
	if err != nil {
		return nil, err
	}
	out := make(map[string]attributeValue)
	for name, value := range given {
		name, kind, typed := strings.Cut(name, ":")
		if !typed {
			kind = "String"
		}
		v := attributeValue{DataType: kind, StringValue: value}
		if kind == "Binary" || strings.HasPrefix(kind, "Binary.") {
			if v.BinaryValue, err = base64.StdEncoding.DecodeString(value); err != nil {
				return nil, fmt.Errorf("%s %s: want a value in base64: %w", flag, name, err)
			}
			v.StringValue = ""
		}
		out[name] = v
	}
	return out, nil
}

// sentMessages is the answer of queue send.
type sentMessages struct{ Messages []sentMessage }

type sentMessage struct {
	MessageId      string
	SequenceNumber string `json:",omitempty"` // in a FIFO queue
}

func (s *sentMessages) text(w io.Writer) error {
	for _, m := range s.Messages {
		if _, err := fmt.Fprintln(w, m.MessageId); err != nil {
			return err
		}
	}
	return nil
}

// sendOne sends a message whose body is an argument or standard input.
func (m *messageFlags) sendOne(ctx context.Context, c *call, url string, message outgoing) (answer, error) {
	message.QueueUrl, message.MessageBody = url, strings.Join(c.args[1:], "")
	if len(c.args) == 1 {
		text, err := io.ReadAll(io.LimitReader(c.in, maxLine+1))
		if err != nil {
			return nil, err
		}
		if len(text) > maxLine {
			return nil, fmt.Errorf("standard input has more than %d bytes, which no message may", maxLine)
		}
		message.MessageBody = string(text)
	}
	var one sentMessage
	if err := c.sqs(ctx, "SendMessage", message, &one); err != nil {
		return nil, err
	}
	return &sentMessages{Messages: []sentMessage{one}}, nil
}

const (
	maxLine  = 1 << 20 // of SQS: the largest message
	maxBatch = 10
	// maxBatchBytes is the minimum size of a batch's bodies that every server accepts. A longer message is sent alone.
	maxBatchBytes = 200 << 10
)

// sendLines sends each line that is not empty. It returns the sent messages, even after an error.
func (m *messageFlags) sendLines(ctx context.Context, c *call, url string, template outgoing) (answer, error) {
	if len(c.args) > 1 {
		return nil, usage(errors.New("--lines reads the bodies from standard input: leave BODY out"))
	}
	sent := &sentMessages{Messages: []sentMessage{}}
	lines := bufio.NewScanner(c.in)
	lines.Buffer(nil, maxLine+1)
	var batch []outgoing
	size, number := 0, 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := sendBatch(ctx, c.client, url, batch, sent)
		batch, size = batch[:0], 0
		return err
	}
	for lines.Scan() {
		number++
		if lines.Text() == "" {
			continue
		}
		if len(batch) == maxBatch || size+len(lines.Text()) > maxBatchBytes {
			if err := flush(); err != nil {
				return sent, err
			}
		}
		template.Id, template.MessageBody = "line-"+strconv.Itoa(number), lines.Text()
		batch, size = append(batch, template), size+len(lines.Text())
	}
	if err := flush(); err != nil {
		return sent, err
	}
	if err := lines.Err(); err != nil {
		return sent, fmt.Errorf("line %d: %w", number+1, err)
	}
	return sent, nil
}

// sendBatch stops at the first refused message: in a FIFO queue, later ones must not overtake it.
func sendBatch(ctx context.Context, c *client, url string, batch []outgoing, sent *sentMessages) error {
	var result struct {
		Successful []sentMessage
		Failed     []struct{ Id, Code, Message string }
	}
	if err := c.sqs(ctx, "SendMessageBatch", map[string]any{"QueueUrl": url, "Entries": batch}, &result); err != nil {
		return fmt.Errorf("%s: %w", strings.Replace(batch[0].Id, "-", " ", 1), err)
	}
	sent.Messages = append(sent.Messages, result.Successful...)
	var failures []error
	for _, f := range result.Failed {
		failures = append(
			failures, fmt.Errorf("%s: %w", strings.Replace(f.Id, "-", " ", 1), &apiError{f.Code, f.Message}),
		)
	}
	return errors.Join(failures...)
}
