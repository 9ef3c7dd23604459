package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func newQueuePause(server *clientFlags) *cobra.Command {
	var groups []string
	cmd := &cobra.Command{
		Use:   "pause QUEUE",
		Short: "Stop delivery to the consumers of a queue",
		Long: `Stop delivery to the consumers of a queue until it is resumed. Receives wait as for a
message, and return empty. Sends and deletes work. The command sets the tag
sluice:delivery. With --group it pauses message groups only (Sluice only).`,
		Example:           "  sluice queue pause jobs\n  sluice queue pause orders.fifo --group customer-17",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	groupsFlag(cmd, &groups, "message group of a FIFO queue to pause instead; can be repeated")
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		if len(groups) > 0 {
			return answerOr(c.changePauses(ctx, "PauseMessageGroups", url, groups))
		}
		return answerOr(
			done{"queue " + queueName(url) + " is paused"},
			c.setTags(ctx, url, map[string]string{"sluice:delivery": "paused"}, nil),
		)
	})
}

func newQueueResume(server *clientFlags) *cobra.Command {
	var groups []string
	cmd := &cobra.Command{
		Use:               "resume QUEUE",
		Short:             "Resume delivery to the consumers of a queue",
		Example:           "  sluice queue resume jobs\n  sluice queue resume orders.fifo --group customer-17",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	groupsFlag(cmd, &groups, "message group of a FIFO queue to resume instead; can be repeated")
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		if len(groups) > 0 {
			return answerOr(c.changePauses(ctx, "ResumeMessageGroups", url, groups))
		}
		return answerOr(
			done{"queue " + queueName(url) + " is not paused"}, c.setTags(ctx, url, nil, []string{"sluice:delivery"}),
		)
	})
}

func groupsFlag(cmd *cobra.Command, groups *[]string, usage string) {
	cmd.Flags().StringArrayVar(groups, "group", nil, usage)
}

// pausedGroups is the answer of queue pause --group and queue resume --group.
type pausedGroups struct{ PausedMessageGroupIds []string }

func (p *pausedGroups) text(w io.Writer) error {
	if len(p.PausedMessageGroupIds) == 0 {
		fmt.Fprintln(w, "no message group is paused")
		return nil
	}
	fmt.Fprintln(w, "paused message groups:", printable(strings.Join(p.PausedMessageGroupIds, " ")))
	return nil
}

// changePauses pauses or resumes message groups of a queue.
func (c *client) changePauses(ctx context.Context, operation, url string, groups []string) (*pausedGroups, error) {
	out := new(pausedGroups)
	return out, c.sluice(ctx, operation, map[string]any{"QueueUrl": url, "MessageGroupIds": groups}, out)
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
			return nil, usage(errors.New("the limit is missing: want --receive-rate, --max-in-flight or --none"))
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
