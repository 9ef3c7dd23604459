package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// subscribeFlags are the flags of topic subscribe and subscribe.
type subscribeFlags struct {
	protocol    string
	raw         bool
	filter      string
	filterBody  bool
	deadLetters string // the queue for them
	attributes  []string
}

// add declares the flags that both commands share.
func (s *subscribeFlags) add(server *clientFlags, cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&s.raw, "raw", false, "deliver the message without the JSON around it")
	f.StringVar(&s.filter, "filter", "", `filter policy: which messages the subscription gets, such as {"stage":["live"]}`)
	f.BoolVar(&s.filterBody, "filter-body", false, "the filter policy matches the JSON message, not its attributes")
	f.StringVar(&s.deadLetters, "dead-letters", "", "queue for messages that could not be delivered")
	f.StringArrayVar(&s.attributes, "attribute", nil, "any attribute of a subscription, as Name=value; repeatable")
	onlyWith(f, []string{"filter"}, "filter-body")
	must(cmd.RegisterFlagCompletionFunc("dead-letters", completeQueueFlag(server)))
}

func newTopicSubscribe(server *clientFlags) *cobra.Command {
	var s subscribeFlags
	cmd := &cobra.Command{
		Use:   "subscribe TOPIC ENDPOINT",
		Short: "Subscribe a queue, a URL or an e-mail address to a topic",
		Long: `Subscribe a queue, by its name or ARN, a URL or an e-mail address to a topic, and print
the ARN of the subscription, or that it must be confirmed first.

A queue gets messages only if its policy lets the topic send to it: sluice subscribe
also changes the policy.`,
		Example: `  sluice topic subscribe news https://hooks.example.com/news --filter '{"stage":["live"]}'
  sluice topic subscribe news ops@example.com
  sluice topic subscribe news arn:aws:sqs:us-east-1:111122223333:news --raw`,
		Args: arguments("TOPIC", "ENDPOINT"),
	}
	s.add(server, cmd)
	cmd.Flags().StringVar(&s.protocol, "protocol", "",
		"sqs, http, https, email, email-json or sms (default: by the form of ENDPOINT)")
	return server.onTopic(cmd, func(ctx context.Context, c *call, arn string) (answer, error) {
		protocol, endpoint, err := s.endpoint(ctx, c.client, c.args[1])
		if err != nil {
			return nil, err
		}
		return answerOr(s.subscribe(ctx, c.client, arn, protocol, endpoint))
	})
}

// endpoint returns the protocol of an endpoint, and the endpoint in the form of SNS.
func (s *subscribeFlags) endpoint(
	ctx context.Context, c *client, endpoint string,
) (protocol, address string, err error) {
	scheme, _, isURL := strings.Cut(endpoint, "://")
	switch {
	case s.protocol != "" && s.protocol != "sqs":
		return s.protocol, endpoint, nil
	case s.protocol == "" && isURL:
		return scheme, endpoint, nil
	case s.protocol == "" && strings.Contains(endpoint, "@"):
		return "email", endpoint, nil
	}
	address, err = c.queueARN(ctx, endpoint)
	return "sqs", address, err
}

// subscribe subscribes an endpoint.
func (s *subscribeFlags) subscribe(
	ctx context.Context, c *client, topic, protocol, endpoint string,
) (*madeSubscription, error) {
	attributes, err := pairs("--attribute", s.attributes)
	if err != nil {
		return nil, usage(err)
	}
	if s.raw {
		attributes["RawMessageDelivery"] = "true"
	}
	if s.filter != "" {
		attributes["FilterPolicy"] = s.filter
	}
	if s.filterBody {
		attributes["FilterPolicyScope"] = "MessageBody"
	}
	if s.deadLetters != "" {
		dlq, err := c.queueARN(ctx, s.deadLetters)
		if err != nil {
			return nil, fmt.Errorf("--dead-letters %s: %w", s.deadLetters, err)
		}
		attributes["RedrivePolicy"] = `{"deadLetterTargetArn":"` + dlq + `"}`
	}
	made := new(madeSubscription)
	params := append([]string{"TopicArn", topic, "Protocol", protocol, "Endpoint", endpoint}, entries(attributes)...)
	return made, c.sns(ctx, "Subscribe", made, params...)
}

// madeSubscription is the answer of topic subscribe.
type madeSubscription struct {
	SubscriptionArn string `xml:"SubscribeResult>SubscriptionArn"`
}

func (m *madeSubscription) text(w io.Writer) error {
	_, err := fmt.Fprintln(w, m.SubscriptionArn)
	return err
}

func newTopicUnsubscribe(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "unsubscribe SUBSCRIPTION",
		Short:   "End a subscription, by its ARN",
		Example: "  sluice topic unsubscribe arn:aws:sns:us-east-1:000000000000:news:0b1f3d0c-7d6c-4a52-a6ea-6a7d0c2c1a0e",
		Args:    arguments("SUBSCRIPTION"),
	}
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		if err := c.sns(ctx, "Unsubscribe", nil, "SubscriptionArn", c.args[0]); err != nil {
			return nil, err
		}
		return done{"the subscription has ended"}, nil
	})
}
