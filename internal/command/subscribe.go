package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"
)

func newSubscribe() *cobra.Command {
	server := new(clientFlags)
	var s subscribeFlags
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "subscribe TOPIC QUEUE",
		Short: "Subscribe a queue to a topic, and let the topic send to it",
		Long: `Subscribe a queue to a topic, and let the topic send to it.

The command prints the statement that lets the topic send, and adds it to the policies
of the queue and of the queue for dead letters. Do not change the policies elsewhere at
the same time, because they have no version.`,
		Example: `  sluice subscribe news jobs
  sluice subscribe news jobs --raw --filter '{"stage":["live"]}' --dead-letters failed-jobs
  sluice subscribe news jobs --dry-run`,
		Args: arguments("TOPIC", "QUEUE"),
	}
	server.add(cmd, "SNS")
	s.add(server, cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show the statement, and change nothing")
	return server.onTopic(cmd, func(ctx context.Context, c *call, topic string) (answer, error) {
		queues, err := s.queuePolicies(ctx, c.client, topic, c.args[1])
		if err != nil {
			return nil, err
		}
		made := &subscribedQueue{TopicArn: topic, QueueArn: queues[0].arn, Statements: []*topicStatement{}}
		for _, q := range queues {
			if q.added != nil {
				made.Statements = append(made.Statements, q.added)
			}
		}
		if dryRun {
			return made, nil
		}
		if err := made.showStatements(c.progress); err != nil {
			return nil, err // changes that cannot be shown are not made
		}
		made.SubscriptionArn, err = s.subscribeQueue(ctx, c.client, topic, queues)
		return answerOr(made, err)
	})
}

// queuePolicies returns the policies that let a topic send to a queue, and to the queue for dead letters if there is
// one.
func (s *subscribeFlags) queuePolicies(
	ctx context.Context, c *client, topic, queue string,
) (all []*queuePolicy, err error) {
	names := []string{queue}
	if s.deadLetters != "" {
		names = append(names, s.deadLetters)
	}
	for _, name := range names {
		q := new(queuePolicy)
		if q.url, err = c.queueURL(ctx, name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		attributes, err := c.queueAttributes(ctx, q.url)
		if err != nil {
			return nil, err
		}
		q.arn, q.before = attributes["QueueArn"], attributes["Policy"]
		if err := q.allow(topic); err != nil {
			return nil, fmt.Errorf("the policy of %s cannot be read: %w", q.arn, err)
		}
		all = append(all, q)
	}
	return all, nil
}

// subscribeQueue subscribes the first of the queues, after setting their policies. If the subscription is refused, it
// restores the policies.
func (s *subscribeFlags) subscribeQueue(
	ctx context.Context, c *client, topic string, queues []*queuePolicy,
) (arn string, err error) {
	for _, q := range queues {
		if q.added == nil {
			continue
		}
		if err := q.set(ctx, c, q.after); err != nil {
			return "", err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, q.set(context.WithoutCancel(ctx), c, q.before))
			}
		}()
	}
	subscription, err := s.subscribe(ctx, c, topic, "sqs", queues[0].arn)
	if err != nil {
		return "", err
	}
	return subscription.SubscriptionArn, nil
}

// subscribedQueue is the answer of subscribe.
type subscribedQueue struct {
	TopicArn, QueueArn string
	Statements         []*topicStatement // that are added to the policies of queues
	SubscriptionArn    string            `json:",omitempty"` // none in a dry run
}

func (s *subscribedQueue) text(w io.Writer) error {
	if s.SubscriptionArn == "" {
		return s.showStatements(w)
	}
	_, err := fmt.Fprintln(w, s.SubscriptionArn)
	return err
}

func (s *subscribedQueue) showStatements(w io.Writer) error {
	if len(s.Statements) == 0 {
		_, err := fmt.Fprintf(w, "the policy of %s lets %s send already\n", s.QueueArn, s.TopicArn)
		return err
	}
	for _, statement := range s.Statements {
		if _, err := fmt.Fprintf(w, "to the policy of %s is added:\n", statement.Resource); err != nil {
			return err
		}
		if err := printJSON(w, statement); err != nil {
			return err
		}
	}
	return nil
}

// queuePolicy is the policy of a queue, before and after the addition of a statement.
type queuePolicy struct {
	url, arn      string
	before, after string
	added         *topicStatement // nil: the policy has it already
}

func (q *queuePolicy) set(ctx context.Context, c *client, policy string) error {
	in := map[string]any{"QueueUrl": q.url, "Attributes": map[string]string{"Policy": policy}}
	return c.sqs(ctx, "SetQueueAttributes", in, nil)
}

// topicStatement is the statement in a queue's policy that lets a topic send.
type topicStatement struct {
	Sid       string
	Effect    string
	Principal map[string]string
	Action    string
	Resource  string
	Condition map[string]map[string]string
}

func newTopicStatement(topic, queue string) *topicStatement {
	return &topicStatement{
		Sid: "topic-" + strings.ReplaceAll(topicName(topic), ".", "-"), Effect: "Allow",
		Principal: map[string]string{"Service": "sns.amazonaws.com"}, Action: "sqs:SendMessage", Resource: queue,
		Condition: map[string]map[string]string{"ArnEquals": {"aws:SourceArn": topic}},
	}
}

// allow adds the statement that lets a topic send to the queue, without changing other statements. If the policy has
// such a statement already, under any name, allow adds nothing.
func (q *queuePolicy) allow(topic string) error {
	document := struct {
		Version   json.RawMessage `json:",omitempty"`
		Id        json.RawMessage `json:",omitempty"`
		Statement json.RawMessage
	}{Version: json.RawMessage(`"2012-10-17"`)}
	if q.before != "" {
		document.Version = nil
		if err := json.Unmarshal([]byte(q.before), &document); err != nil {
			return err
		}
	}
	statements, err := oneOrSeveral(document.Statement)
	if err != nil {
		return err
	}
	statement := newTopicStatement(topic, q.arn)
	if statement.among(statements) {
		return nil
	}
	text, err := json.Marshal(statement)
	if err != nil {
		return err
	}
	if document.Statement, err = json.Marshal(append(statements, text)); err != nil {
		return err
	}
	whole, err := json.Marshal(document)
	q.after, q.added = string(whole), statement
	return err
}

// oneOrSeveral returns the statements of a policy, which may be a single one without a list.
func oneOrSeveral(text json.RawMessage) (statements []json.RawMessage, err error) {
	switch text = bytes.TrimSpace(text); {
	case len(text) == 0:
		return nil, nil
	case text[0] == '{':
		return []json.RawMessage{text}, nil
	}
	err = json.Unmarshal(text, &statements)
	return statements, err
}

// among reports whether the list has the statement, under any name. If not, the statement gets a name that none of them
// has.
func (s *topicStatement) among(statements []json.RawMessage) bool {
	names := make(map[string]bool)
	for _, text := range statements {
		var named struct{ Sid string }
		if json.Unmarshal(text, &named) == nil {
			names[named.Sid] = true
		}
		var other topicStatement
		if json.Unmarshal(text, &other) == nil {
			if other.Sid = s.Sid; reflect.DeepEqual(&other, s) {
				return true
			}
		}
	}
	for n, base := 2, s.Sid; names[s.Sid]; n++ {
		s.Sid = fmt.Sprint(base, "-", n)
	}
	return false
}
