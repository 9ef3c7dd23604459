package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newTopic() *cobra.Command {
	server := new(clientFlags)
	cmd := &cobra.Command{
		Use:   "topic",
		Short: "Create topics, subscribe to them and publish",
		Long: `Create topics, subscribe to them and publish, by the operations of SNS.

TOPIC is a name or an ARN. To subscribe a queue, use sluice subscribe.`,
	}
	server.add(cmd, "SNS")
	cmd.AddCommand(newTopicList(server), newTopicCreate(server), newTopicShow(server), newTopicSubscribe(server),
		newTopicUnsubscribe(server), newTopicPublish(server), newTopicRemove(server))
	return cmd
}

// topicARN returns the ARN of a topic, given its name or ARN.
func (c *client) topicARN(ctx context.Context, topic string) (string, error) {
	if strings.HasPrefix(topic, "arn:") {
		return topic, nil
	}
	var who struct {
		Account string `xml:"GetCallerIdentityResult>Account"`
	}
	if err := c.sts(ctx, "GetCallerIdentity", &who); err != nil {
		return "", err
	}
	return "arn:aws:sns:" + c.signer.Region + ":" + who.Account + ":" + topic, nil
}

// topicName returns the name in a topic's ARN.
func topicName(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }

// onTopic makes cmd a command on a topic, its first argument.
func (s *clientFlags) onTopic(
	cmd *cobra.Command, run func(ctx context.Context, c *call, arn string) (answer, error),
) *cobra.Command {
	cmd.ValidArgsFunction = completeTopics(s)
	return s.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		arn, err := c.topicARN(ctx, c.args[0])
		if err != nil {
			return nil, err
		}
		return run(ctx, c, arn)
	})
}

// completeTopics completes the names of topics for the first argument.
func completeTopics(server *clientFlags) cobra.CompletionFunc {
	return server.completeNames(func(ctx context.Context, c *client) ([]string, error) {
		arns, err := c.topicARNs(ctx)
		for i := range arns {
			arns[i] = topicName(arns[i])
		}
		return arns, err
	})
}

// topicARNs returns the ARNs of all topics.
func (c *client) topicARNs(ctx context.Context) (arns []string, err error) {
	err = c.snsPages(ctx, "ListTopics", nil, func(page *xmlText) {
		arns = append(arns, page.texts("ListTopicsResult>Topics>member>TopicArn")...)
	})
	return arns, err
}

// snsPages calls a list operation of SNS for all pages.
func (c *client) snsPages(ctx context.Context, action string, params []string, each func(page *xmlText)) error {
	for token := []string(nil); ; {
		var page xmlText
		if err := c.sns(ctx, action, &page, append(token, params...)...); err != nil {
			return err
		}
		each(&page)
		next := page.texts(action + "Result>NextToken")
		if len(next) == 0 {
			return nil
		}
		token = []string{"NextToken", next[0]}
	}
}

// snsAttributes returns the attributes in an operation's answer.
func (c *client) snsAttributes(ctx context.Context, action string, params ...string) (map[string]string, error) {
	var body xmlText
	if err := c.sns(ctx, action, &body, params...); err != nil {
		return nil, err
	}
	entry := action + "Result>Attributes>entry>"
	values := body.texts(entry + "value")
	attributes := make(map[string]string)
	for i, name := range body.texts(entry + "key") {
		attributes[name] = values[i]
	}
	return attributes, nil
}

func newTopicList(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List topics with the numbers of their subscriptions",
		Example: "  sluice topic ls\n  sluice topic ls --json",
		Args:    noArguments,
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		arns, err := c.topicARNs(ctx)
		if err != nil {
			return nil, err
		}
		list := &topicList{Topics: []shownTopic{}}
		for _, arn := range arns {
			attributes, err := c.snsAttributes(ctx, "GetTopicAttributes", "TopicArn", arn)
			if refused, ok := errors.AsType[*apiError](err); ok && refused.Code == "NotFound" {
				continue // deleted meanwhile
			}
			if err != nil {
				return nil, err
			}
			list.Topics = append(list.Topics, shownTopic{
				TopicName: topicName(arn), TopicArn: arn, Attributes: attributes,
			})
		}
		return list, nil
	})
}

// topicList is the answer of topic ls.
type topicList struct{ Topics []shownTopic }

// shownTopic is a topic in a list, and the answer of topic show.
type shownTopic struct {
	TopicName     string
	TopicArn      string
	Attributes    map[string]string
	Tags          map[string]string   `json:",omitempty"` // in topic show
	Subscriptions []shownSubscription `json:",omitempty"` // likewise
}

type shownSubscription struct {
	SubscriptionArn string
	Owner           string
	Protocol        string
	Endpoint        string
}

func (l *topicList) text(w io.Writer) error {
	var rows [][]string
	for _, t := range l.Topics {
		rows = append(rows, []string{
			t.TopicName, t.Attributes["SubscriptionsConfirmed"], t.Attributes["SubscriptionsPending"],
		})
	}
	return printTable(w, []string{"TOPIC", "SUBSCRIPTIONS", "PENDING"}, rows)
}

func newTopicShow(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show TOPIC",
		Short:   "Show a topic's attributes, tags and subscriptions",
		Example: "  sluice topic show news",
		Args:    arguments("TOPIC"),
	}
	return server.onTopic(cmd, func(ctx context.Context, c *call, arn string) (answer, error) {
		return answerOr(showTopic(ctx, c.client, arn))
	})
}

func showTopic(ctx context.Context, c *client, arn string) (*shownTopic, error) {
	attributes, err := c.snsAttributes(ctx, "GetTopicAttributes", "TopicArn", arn)
	if err != nil {
		return nil, err
	}
	t := &shownTopic{TopicName: topicName(arn), TopicArn: arn, Attributes: attributes, Tags: make(map[string]string)}
	var tags struct {
		Tags []struct{ Key, Value string } `xml:"ListTagsForResourceResult>Tags>member"`
	}
	if err := c.sns(ctx, "ListTagsForResource", &tags, "ResourceArn", arn); err != nil {
		return nil, err
	}
	for _, tag := range tags.Tags {
		t.Tags[tag.Key] = tag.Value
	}
	err = c.snsPages(ctx, "ListSubscriptionsByTopic", []string{"TopicArn", arn}, func(page *xmlText) {
		column := func(name string) []string {
			return page.texts("ListSubscriptionsByTopicResult>Subscriptions>member>" + name)
		}
		owners, protocols, endpoints := column("Owner"), column("Protocol"), column("Endpoint")
		for i, subscription := range column("SubscriptionArn") {
			t.Subscriptions = append(t.Subscriptions, shownSubscription{
				subscription, owners[i], protocols[i], endpoints[i],
			})
		}
	})
	return t, err
}

func (t *shownTopic) text(w io.Writer) error {
	fmt.Fprintln(w, t.TopicArn)
	if err := printDescription(w, t.Attributes, t.Tags); err != nil || len(t.Subscriptions) == 0 {
		return err
	}
	var rows [][]string
	for _, s := range t.Subscriptions {
		rows = append(rows, []string{s.Protocol, s.Endpoint, s.SubscriptionArn})
	}
	fmt.Fprintln(w)
	return printTable(w, []string{"PROTOCOL", "ENDPOINT", "SUBSCRIPTION"}, rows)
}

func newTopicRemove(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rm TOPIC",
		Short:   "Delete a topic with all its subscriptions",
		Example: "  sluice topic rm news",
		Args:    arguments("TOPIC"),
	}
	return server.onTopic(cmd, func(ctx context.Context, c *call, arn string) (answer, error) {
		if err := c.sns(ctx, "DeleteTopic", nil, "TopicArn", arn); err != nil {
			return nil, err
		}
		return done{"topic " + topicName(arn) + " is deleted"}, nil
	})
}
