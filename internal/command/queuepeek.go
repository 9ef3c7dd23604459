package command

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// peekFlags are the flags of queue peek.
type peekFlags struct {
	most   int
	states []string
	noBody bool
	after  string
}

// peekPage is how many messages one request asks for.
const peekPage = 100

func newQueuePeek(server *clientFlags) *cobra.Command {
	p := peekFlags{most: 10}
	cmd := &cobra.Command{
		Use:   "peek QUEUE [TERM...]",
		Short: "Show messages without receiving them",
		Long: `Show messages, also delayed ones and those in flight, without receiving them. Sluice
only; needs sluice:PeekMessages, and sluice:PeekMessageBody for bodies and searches in
them.

With terms, it shows messages for which all terms hold:

  word                     in the body, an attribute's value or the group, or the message id
  attr.NAME:VALUE          a message attribute, also attr.NAME>5
  body.PATH:VALUE          a value in a body that is JSON, also body.PATH>5; a step of the
                           path is a name, an index, or * for any
  sent>2026-11-01          sent or first (received) before or after; or age>2h
  count>=3  size>10k       its receive count; its size
  group:x id:x dedup:x sender:x source:x

A value may begin or end with * for any text. A minus before a term negates it. Put text
with spaces or operators into double quotes, inside those of the shell: '"two words"'.
The command searches until it has shown --max messages or seen all.`,
		Example: `  sluice queue peek jobs
  sluice queue peek failed-jobs 'count>=5' 'body.order.customer:17' --max 100
  sluice queue peek jobs --state in-flight --json | jq -r '.Messages[].MessageId'`,
		Args:              arguments("QUEUE", "[TERM...]"),
		ValidArgsFunction: completeQueues(server),
	}
	f := cmd.Flags()
	f.IntVar(&p.most, "max", p.most, "maximum number of messages to show")
	f.StringSliceVar(&p.states, "state", nil, "visible, in-flight or delayed (default: all)")
	f.BoolVar(&p.noBody, "no-body", false, "do not show the bodies")
	f.StringVar(&p.after, "after", "", "cursor of an earlier call")
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		return answerOr(p.peek(ctx, c, url, strings.Join(c.args[1:], " ")))
	})
}

// peeked is the answer of queue peek.
type peeked struct {
	Messages []peekedMessage
	Cursor   string `json:",omitempty"` // there may be more
	Scanned  int64
	Total    int64
}

type peekedMessage struct {
	MessageId                string
	State                    string
	Size                     int64
	SentTimestamp            int64
	ReceiveCount             int64
	FirstReceiveTimestamp    int64                     `json:",omitempty"`
	LastReceiveTimestamp     int64                     `json:",omitempty"`
	InvisibleUntil           int64                     `json:",omitempty"`
	SenderId                 string                    `json:",omitempty"`
	SequenceNumber           string                    `json:",omitempty"`
	MessageGroupId           string                    `json:",omitempty"`
	MessageDeduplicationId   string                    `json:",omitempty"`
	AWSTraceHeader           string                    `json:",omitempty"`
	DeadLetterQueueSourceArn string                    `json:",omitempty"`
	MessageAttributes        map[string]attributeValue `json:",omitempty"`
	Unreadable               bool                      `json:",omitempty"`
	MD5OfBody                string
	Body                     *string `json:",omitempty"`
}

// states returns the server's names of the states.
func (p *peekFlags) serverStates() ([]string, error) {
	names := map[string]string{"visible": "Visible", "in-flight": "InFlight", "delayed": "Delayed"}
	var out []string
	for _, s := range p.states {
		if names[s] == "" {
			return nil, usage(fmt.Errorf("--state %s: want visible, in-flight or delayed", s))
		}
		out = append(out, names[s])
	}
	return out, nil
}

func (p *peekFlags) peek(ctx context.Context, c *call, url, filter string) (*peeked, error) {
	states, err := p.serverStates()
	if err != nil {
		return nil, err
	}
	if p.most < 1 {
		return nil, usage(fmt.Errorf("--max %d: want 1 or more", p.most))
	}
	all := &peeked{Messages: []peekedMessage{}, Cursor: p.after}
	said := time.Now()
	for {
		in := map[string]any{
			"QueueUrl": url, "States": states, "Filter": filter, "Cursor": all.Cursor, "IncludeBody": !p.noBody,
			"Max": min(peekPage, p.most-len(all.Messages)),
		}
		var page peeked
		if err := c.sluice(ctx, "PeekMessages", in, &page); err != nil {
			return nil, err
		}
		all.Messages = append(all.Messages, page.Messages...)
		all.Scanned += page.Scanned
		all.Total, all.Cursor = page.Total, page.Cursor
		if all.Cursor == "" || len(all.Messages) >= p.most {
			return all, nil
		}
		if time.Since(said) > time.Second {
			said = time.Now()
			fmt.Fprintf(
				c.progress, "looked at %d of about %d messages, found %d\n", all.Scanned, all.Total, len(all.Messages),
			)
		}
	}
}

func (p *peeked) text(w io.Writer) error {
	for _, m := range p.Messages {
		m.text(w)
		fmt.Fprintln(w)
	}
	found := fmt.Sprintf("%d found, looked at %d of %d", len(p.Messages), p.Scanned, p.Total)
	if p.Cursor != "" {
		found += "; continue with --after " + p.Cursor
	}
	_, err := fmt.Fprintln(w, found)
	return err
}

// stateWords describe the states of messages for people.
var stateWords = map[string]string{"Visible": "visible", "InFlight": "in flight", "Delayed": "delayed"}

func (m *peekedMessage) text(w io.Writer) {
	state := stateWords[m.State]
	if m.InvisibleUntil != 0 {
		state += " until " + millis(m.InvisibleUntil)
	}
	received := "never received"
	if m.ReceiveCount > 0 {
		received = "received " + times(fmt.Sprint(m.ReceiveCount))
	}
	fmt.Fprintf(w, "%s, %s, sent %s, %s, %d bytes\n", m.MessageId, state, millis(m.SentTimestamp), received, m.Size)
	for _, line := range [][2]string{
		{"group", m.MessageGroupId}, {"dead letter of", m.DeadLetterQueueSourceArn},
	} {
		if line[1] != "" {
			fmt.Fprintln(w, line[0], printable(line[1]))
		}
	}
	printAttributes(w, m.MessageAttributes)
	switch {
	case m.Unreadable:
		fmt.Fprintln(w, "cannot be decrypted: its key is missing, or it was changed")
	case m.Body != nil:
		fmt.Fprintln(w, printableLines(*m.Body))
	}
}

// printAttributes prints message attributes, one per line.
func printAttributes(w io.Writer, attributes map[string]attributeValue) {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		v := attributes[name]
		value := v.StringValue
		if v.BinaryValue != nil {
			value = base64.StdEncoding.EncodeToString(v.BinaryValue)
		}
		fmt.Fprintf(w, "%s (%s): %s\n", printable(name), printable(v.DataType), printable(value))
	}
}

// millis formats a time in milliseconds for people.
func millis(n int64) string { return timeOf(fmt.Sprint(n)) }
