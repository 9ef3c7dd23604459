package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
)

func newQueuePause(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pause QUEUE",
		Short: "Stop delivery to the consumers of a queue",
		Long: `Stop delivery to the consumers of a queue until it is resumed. Receives wait as for a
message, and return empty. Sends and deletes work. The command sets the tag
sluice:delivery (Sluice only).`,
		Example:           "  sluice queue pause jobs",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		return answerOr(
			done{"queue " + queueName(url) + " is paused"},
			c.setTags(ctx, url, map[string]string{"sluice:delivery": "paused"}, nil),
		)
	})
}

func newQueueResume(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "resume QUEUE",
		Short:             "Resume delivery to the consumers of a queue",
		Example:           "  sluice queue resume jobs",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		return answerOr(done{"queue " + queueName(url) + " is not paused"}, c.setTags(ctx, url, nil, []string{"sluice:delivery"}))
	})
}

func newQueueLimit(server *clientFlags) *cobra.Command {
	var rate, inFlight string
	var none bool
	cmd := &cobra.Command{
		Use:   "limit QUEUE",
		Short: "Limit delivery to the consumers of a queue",
		Long: `Limit how many messages the consumers of a queue receive in a second, minute or hour,
and how many are in flight at once. A receive beyond the limit waits as for a message,
and returns fewer or none. The command sets the tags sluice:max-receive-rate and
sluice:max-in-flight (Sluice only).`,
		Example: `  sluice queue limit jobs --receive-rate 50/s --max-in-flight 20
  sluice queue limit jobs --none`,
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	f := cmd.Flags()
	f.StringVar(&rate, "receive-rate", "", "messages in a second, minute or hour: 50/s, 10/m or 100/h")
	f.StringVar(&inFlight, "max-in-flight", "", "messages in flight at once, 1 to 120000")
	f.BoolVar(&none, "none", false, "remove both limits")
	notWith(f, "none", "receive-rate", "max-in-flight")
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		if none {
			return answerOr(
				done{"queue " + queueName(url) + " has no limits"},
				c.setTags(ctx, url, nil, []string{"sluice:max-receive-rate", "sluice:max-in-flight"}),
			)
		}
		tags := make(map[string]string)
		if rate != "" {
			tags["sluice:max-receive-rate"] = rate
		}
		if inFlight != "" {
			tags["sluice:max-in-flight"] = inFlight
		}
		if len(tags) == 0 {
			return nil, usage(errors.New("what to limit is missing: want --receive-rate, --max-in-flight or --none"))
		}
		return answerOr(done{"queue " + queueName(url) + " is limited"}, c.setTags(ctx, url, tags, nil))
	})
}

// setTags changes tags of a queue.
func (c *client) setTags(ctx context.Context, url string, set map[string]string, remove []string) error {
	if len(remove) > 0 {
		return c.sqs(ctx, "UntagQueue", map[string]any{"QueueUrl": url, "TagKeys": remove}, nil)
	}
	return c.sqs(ctx, "TagQueue", map[string]any{"QueueUrl": url, "Tags": set}, nil)
}
