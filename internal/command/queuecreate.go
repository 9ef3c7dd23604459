package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// queueSettings are the flags of queue create.
type queueSettings struct {
	visibility, retention, delay, wait *int32
	deadLetters                        string // the queue for them
	receives                           int    // after which a message moves there
	attributes, tags                   []string
}

func newQueueCreate(server *clientFlags) *cobra.Command {
	s := queueSettings{receives: 5}
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a queue",
		Long: `Create a queue, and print its URL. One whose name ends in .fifo is a FIFO queue. If it
exists with the same attributes, nothing changes.`,
		Example: `  sluice queue create jobs
  sluice queue create jobs --dead-letters failed-jobs --max-receives 3
  sluice queue create orders.fifo --attribute ContentBasedDeduplication=true --tag team=sales`,
		Args: arguments("NAME"),
	}
	f := cmd.Flags()
	addSeconds(f, &s.visibility, "visibility-timeout",
		"how long a received message is hidden from other consumers (default 30s)")
	addSeconds(f, &s.retention, "retention", "how long a message is kept (default 96h)")
	addSeconds(f, &s.delay, "delay", "how long a new message is hidden (default 0s)")
	addSeconds(f, &s.wait, "wait", "how long a receive waits for a message (default 0s)")
	f.StringVar(&s.deadLetters, "dead-letters", "", "queue for messages that were received too often")
	f.IntVar(&s.receives, "max-receives", s.receives, "how often a message is received before it goes there")
	f.StringArrayVar(&s.attributes, "attribute", nil, "any attribute of SQS, as Name=value; repeatable")
	f.StringArrayVar(&s.tags, "tag", nil, "tag, as key=value; repeatable")
	onlyWith(f, []string{"dead-letters"}, "max-receives")
	must(cmd.RegisterFlagCompletionFunc("dead-letters", completeQueueFlag(server)))
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		in, err := s.input(c.args[0])
		if err != nil {
			return nil, usage(err)
		}
		if err := s.addDeadLetters(ctx, c.client, in.Attributes); err != nil {
			return nil, err
		}
		var made createdQueue
		if err := c.sqs(ctx, "CreateQueue", in, &made); err != nil {
			return nil, err
		}
		return made, nil
	})
}

// createQueueInput is the input of CreateQueue.
type createQueueInput struct {
	QueueName  string
	Attributes map[string]string `json:",omitempty"`
	Tags       map[string]string `json:"tags,omitempty"`
}

func (s *queueSettings) input(name string) (*createQueueInput, error) {
	in := &createQueueInput{QueueName: name}
	var err error
	if in.Attributes, err = pairs("--attribute", s.attributes); err != nil {
		return nil, err
	}
	if in.Tags, err = pairs("--tag", s.tags); err != nil {
		return nil, err
	}
	if strings.HasSuffix(name, ".fifo") {
		in.Attributes["FifoQueue"] = "true"
	}
	for attribute, value := range map[string]*int32{
		"VisibilityTimeout": s.visibility, "MessageRetentionPeriod": s.retention,
		"DelaySeconds": s.delay, "ReceiveMessageWaitTimeSeconds": s.wait,
	} {
		if value != nil {
			in.Attributes[attribute] = strconv.Itoa(int(*value))
		}
	}
	return in, nil
}

// addDeadLetters adds the redrive policy.
func (s *queueSettings) addDeadLetters(ctx context.Context, c *client, attributes map[string]string) error {
	if s.deadLetters == "" {
		return nil
	}
	arn, err := c.queueARN(ctx, s.deadLetters)
	if err != nil {
		return fmt.Errorf("--dead-letters %s: %w", s.deadLetters, err)
	}
	policy, err := json.Marshal(map[string]any{"deadLetterTargetArn": arn, "maxReceiveCount": s.receives})
	attributes["RedrivePolicy"] = string(policy)
	return err
}

// queueARN returns the ARN of a queue, given its name, URL or ARN.
func (c *client) queueARN(ctx context.Context, queue string) (string, error) {
	if strings.HasPrefix(queue, "arn:") {
		return queue, nil
	}
	url, err := c.queueURL(ctx, queue)
	if err != nil {
		return "", err
	}
	attributes, err := c.queueAttributes(ctx, url)
	return attributes["QueueArn"], err
}

// pairs parses name=value.
func pairs(flag string, texts []string) (map[string]string, error) {
	out := make(map[string]string)
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s %q: want a name and a value, such as name=value", flag, text)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%s %q: %s is given twice", flag, text, name)
		}
		out[name] = value
	}
	return out, nil
}

// createdQueue is the answer of queue create.
type createdQueue struct{ QueueUrl string }

func (q createdQueue) text(w io.Writer) error {
	_, err := fmt.Fprintln(w, q.QueueUrl)
	return err
}
