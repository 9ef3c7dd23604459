package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func newQueue() *cobra.Command {
	server := new(clientFlags)
	cmd := &cobra.Command{
		Use:   "queue",
		Short: "Create, inspect, fill and empty queues",
		Long: `Create, inspect, fill and empty queues. Commands work with other servers and AWS, too,
unless their help says "Sluice only".

QUEUE is a name, a URL or an ARN.`,
	}
	server.add(cmd, "SQS")
	cmd.AddCommand(
		newQueueList(server),
		newQueueCount(server),
		newQueueCreate(server),
		newQueueShow(server),
		newQueueSend(server),
		newQueueReceive(server),
		newQueuePeek(server),
		newQueueState(server),
		newQueueGroups(
			server,
		),
		newQueueConsumers(server),
		newQueuePause(server),
		newQueueResume(server),
		newQueueLimit(server),
		newQueuePurge(server),
		newQueueUndoPurge(server),
		newQueueRemove(server),
		newQueueUndoDelete(server),
		newQueueRemoveMessages(server),
		newQueueRedrive(server),
	)
	return cmd
}

// queueURL returns the URL of a queue, given its name, URL or ARN.
func (c *client) queueURL(ctx context.Context, queue string) (string, error) {
	if strings.Contains(queue, "://") {
		return queue, nil
	}
	in, err := c.queueName(queue)
	if err != nil {
		return "", err
	}
	var found struct{ QueueUrl string }
	err = c.sqs(ctx, "GetQueueUrl", in, &found)
	return found.QueueUrl, err
}

// queueName returns the parameters that name a queue, given its name or ARN.
func (c *client) queueName(queue string) (map[string]string, error) {
	arn := strings.Split(queue, ":")
	switch {
	case len(arn) != 6 || arn[0] != "arn":
		return map[string]string{"QueueName": queue}, nil
	case arn[3] != c.signer.Region:
		return nil, usage(fmt.Errorf("%s is in the region %s: give --region %s", queue, arn[3], arn[3]))
	}
	return map[string]string{"QueueName": arn[5], "QueueOwnerAWSAccountId": arn[4]}, nil
}

// onQueue makes cmd a command on a queue, its first argument.
func (s *clientFlags) onQueue(
	cmd *cobra.Command, run func(ctx context.Context, c *call, url string) (answer, error),
) *cobra.Command {
	return s.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		url, err := c.queueURL(ctx, c.args[0])
		if _, refused := errors.AsType[*apiError](err); refused {
			err = fmt.Errorf("queue %s: %w", printable(c.args[0]), err)
		}
		if err != nil {
			return nil, err
		}
		return run(ctx, c, url)
	})
}

// queueName returns the name in a queue's URL.
func queueName(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// queueURLs returns the URLs of all queues whose names begin with a prefix.
func (c *client) queueURLs(ctx context.Context, prefix string) ([]string, error) {
	in := map[string]any{"MaxResults": 1000}
	if prefix != "" {
		in["QueueNamePrefix"] = prefix
	}
	var urls []string
	for {
		var page struct {
			QueueUrls []string
			NextToken string
		}
		if err := c.sqs(ctx, "ListQueues", in, &page); err != nil {
			return nil, err
		}
		urls = append(urls, page.QueueUrls...)
		if page.NextToken == "" {
			return urls, nil
		}
		in["NextToken"] = page.NextToken
	}
}

// completeQueues completes the names of queues for the first argument.
func completeQueues(server *clientFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeQueueFlag(server)(cmd, nil, prefix)
	}
}

// completeQueueFlag completes the names of queues for a flag.
func completeQueueFlag(server *clientFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return server.ask(cmd, func(ctx context.Context, c *client) ([]string, error) {
			urls, err := c.queueURLs(ctx, prefix)
			for i := range urls {
				urls[i] = queueName(urls[i])
			}
			return urls, err
		})
	}
}

// queueAttributes returns all attributes of a queue.
func (c *client) queueAttributes(ctx context.Context, url string) (map[string]string, error) {
	var out struct{ Attributes map[string]string }
	in := map[string]any{"QueueUrl": url, "AttributeNames": []string{"All"}}
	err := c.sqs(ctx, "GetQueueAttributes", in, &out)
	return out.Attributes, err
}

func newQueueList(server *clientFlags) *cobra.Command {
	state := false
	cmd := &cobra.Command{
		Use:   "ls [PREFIX]",
		Short: "List queues with the numbers of their messages",
		Long: `List queues with their numbers of messages. --state adds the age of the oldest message,
the last minute, dead letters, and why nothing is received. --state is Sluice only; it
needs sluice:ListQueueStates, and sluice:DescribeQueueState of the queues.`,
		Example: "  sluice queue ls\n  sluice queue ls orders- --json\n  sluice queue ls --state",
		Args:    arguments("[PREFIX]"),
	}
	cmd.Flags().BoolVar(&state, "state", state, "show the state of the queues")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		if state {
			return answerOr(listQueueStates(ctx, c.client, strings.Join(c.args, "")))
		}
		return answerOr(listQueues(ctx, c.client, strings.Join(c.args, "")))
	})
}

// queueList is the answer of queue ls.
type queueList struct{ Queues []shownQueue }

// shownQueue is a queue in a list, and the answer of queue show.
type shownQueue struct {
	QueueName  string
	QueueUrl   string
	Attributes map[string]string // none if the caller may not see them
	Tags       map[string]string `json:",omitempty"` // in queue show
}

func listQueues(ctx context.Context, c *client, prefix string) (*queueList, error) {
	urls, err := c.queueURLs(ctx, prefix)
	if err != nil {
		return nil, err
	}
	list := &queueList{Queues: []shownQueue{}}
	for _, url := range urls {
		attributes, err := c.queueAttributes(ctx, url)
		var refused *apiError
		if err != nil && !errors.As(err, &refused) {
			return nil, err
		}
		if refused != nil && refused.Code == "QueueDoesNotExist" {
			continue // deleted meanwhile
		}
		list.Queues = append(list.Queues, shownQueue{QueueName: queueName(url), QueueUrl: url, Attributes: attributes})
	}
	return list, nil
}

func (l *queueList) text(w io.Writer) error {
	var rows [][]string
	for _, q := range l.Queues {
		rows = append(rows, []string{
			q.QueueName, q.Attributes["ApproximateNumberOfMessages"],
			q.Attributes["ApproximateNumberOfMessagesNotVisible"],
			q.Attributes["ApproximateNumberOfMessagesDelayed"],
		})
	}
	return printTable(w, []string{"QUEUE", "AVAILABLE", "IN FLIGHT", "DELAYED"}, rows)
}

func newQueueShow(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "show QUEUE",
		Short:             "Show a queue's attributes and tags",
		Example:           "  sluice queue show jobs",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		attributes, err := c.queueAttributes(ctx, url)
		if err != nil {
			return nil, err
		}
		var tags struct{ Tags map[string]string }
		if err := c.sqs(ctx, "ListQueueTags", map[string]string{"QueueUrl": url}, &tags); err != nil {
			return nil, err
		}
		return &shownQueue{queueName(url), url, attributes, tags.Tags}, nil
	})
}

func (q *shownQueue) text(w io.Writer) error {
	fmt.Fprintln(w, q.QueueUrl)
	return printDescription(w, q.Attributes, q.Tags)
}

// printDescription prints the attributes of a queue or a topic.
func printDescription(w io.Writer, attributes, tags map[string]string) error {
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		rows = append(rows, []string{name, attributes[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		rows = append(rows, []string{"tag " + name, tags[name]})
	}
	return printTable(w, []string{"ATTRIBUTE", "VALUE"}, rows)
}

func newQueuePurge(server *clientFlags) *cobra.Command {
	return newQueueEnd(server, "purge", "PurgeQueue", "Delete all messages of a queue", "is purged",
		"Delete all messages of a queue. For ten minutes, undo-purge brings them back.")
}

func newQueueRemove(server *clientFlags) *cobra.Command {
	return newQueueEnd(server, "rm", "DeleteQueue", "Delete a queue with all its messages", "is deleted",
		"Delete a queue with all its messages. For ten minutes, undo-delete brings it back.")
}

// newQueueEnd is a command whose operation has the queue as its only parameter.
func newQueueEnd(server *clientFlags, name, action, short, said, long string) *cobra.Command {
	cmd := &cobra.Command{
		Use:               name + " QUEUE",
		Short:             short,
		Long:              long,
		Example:           "  sluice queue " + name + " jobs",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		err := c.sqs(ctx, action, map[string]string{"QueueUrl": url}, nil)
		if err != nil {
			return nil, err
		}
		return done{"queue " + queueName(url) + " " + said}, nil
	})
}
