package command

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// publishFlags are the flags of topic publish.
type publishFlags struct {
	subject, group, dedup string
	perProtocol           bool
	attributes            []string
}

func newTopicPublish(server *clientFlags) *cobra.Command {
	var p publishFlags
	cmd := &cobra.Command{
		Use:   "publish TOPIC [MESSAGE]",
		Short: "Publish a message to all subscriptions of a topic",
		Long: `Publish a message to all subscriptions of a topic whose filters accept it, and
print its id. Without MESSAGE it is read from standard input.`,
		Example: `  sluice topic publish news "it is Monday"
  sluice topic publish news --subject Deploy --attribute stage=live <message.txt
  sluice topic publish orders.fifo --group customer-7 --dedup-id 4711 paid`,
		Args: arguments("TOPIC", "[MESSAGE]"),
	}
	f := cmd.Flags()
	f.StringVar(&p.subject, "subject", "", "subject, for mails")
	f.StringVar(&p.group, "group", "", "message group")
	f.StringVar(&p.dedup, "dedup-id", "", "deduplication id, for FIFO topics")
	f.BoolVar(
		&p.perProtocol,
		"per-protocol",
		false,
		`the message is JSON with a text for each protocol: {"default":"...","email":"..."}`,
	)
	f.StringArrayVar(
		&p.attributes,
		"attribute",
		nil,
		"attribute of the message, as name=value or name:Number=value; a value of type Binary in base64; repeatable",
	)
	return server.onTopic(cmd, func(ctx context.Context, c *call, arn string) (answer, error) {
		params, err := p.parameters()
		if err != nil {
			return nil, usage(err)
		}
		message, err := messageOf(c)
		if err != nil {
			return nil, err
		}
		var published publishedMessage
		if err := c.sns(
			ctx, "Publish", &published, append(params, "TopicArn", arn, "Message", message)...,
		); err != nil {
			return nil, err
		}
		return published, nil
	})
}

// messageOf returns the message from the argument or standard input.
func messageOf(c *call) (string, error) {
	if len(c.args) > 1 {
		return c.args[1], nil
	}
	text, err := io.ReadAll(io.LimitReader(c.in, maxLine+1))
	if err == nil && len(text) > maxLine {
		err = errors.New("standard input is longer than any message may be")
	}
	return string(text), err
}

func (p *publishFlags) parameters() ([]string, error) {
	attributes, err := messageAttributes("--attribute", p.attributes)
	if err != nil {
		return nil, err
	}
	var params []string
	for i, name := range slices.Sorted(maps.Keys(attributes)) {
		at, v := fmt.Sprintf("MessageAttributes.entry.%d.", i+1), attributes[name]
		params = append(params, at+"Name", name, at+"Value.DataType", v.DataType)
		if strings.HasPrefix(v.DataType, "Binary") {
			params = append(params, at+"Value.BinaryValue", base64.StdEncoding.EncodeToString(v.BinaryValue))
		} else {
			params = append(params, at+"Value.StringValue", v.StringValue)
		}
	}
	for name, value := range map[string]string{
		"Subject": p.subject, "MessageGroupId": p.group, "MessageDeduplicationId": p.dedup,
	} {
		if value != "" {
			params = append(params, name, value)
		}
	}
	if p.perProtocol {
		params = append(params, "MessageStructure", "json")
	}
	return params, nil
}

// publishedMessage is the answer of topic publish.
type publishedMessage struct {
	MessageId      string `xml:"PublishResult>MessageId"`
	SequenceNumber string `xml:"PublishResult>SequenceNumber" json:",omitempty"` // of a FIFO topic
}

func (p publishedMessage) text(w io.Writer) error {
	_, err := fmt.Fprintln(w, p.MessageId)
	return err
}
