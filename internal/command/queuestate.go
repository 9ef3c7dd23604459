package command

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"
)

func newQueueState(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state QUEUE",
		Short: "Show the state of a queue, and why nothing is received",
		Long: `Show the state of a queue, and why nothing is received. Sluice only; needs
sluice:DescribeQueueState.`,
		Example:           "  sluice queue state jobs",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		out := new(queueState)
		return answerOr(out, c.sluice(ctx, "DescribeQueueState", map[string]string{"QueueUrl": url}, out))
	})
}

// queueState is the answer of queue state.
type queueState struct {
	QueueArn   string
	Receivable bool
	Reasons    []struct{ Code, Text string }
	Visible    int64
	InFlight   int64
	Delayed    int64
	Arriving   int64

	OldestMessageTimestamp int64 `json:",omitempty"`
	NextVisibleTimestamp   int64 `json:",omitempty"`
	NextDelayedTimestamp   int64 `json:",omitempty"`
	LastSendTimestamp      int64 `json:",omitempty"`
	LastReceiveTimestamp   int64 `json:",omitempty"`
	WaitingReceives        int64
	ReadyGroups            int64
	BlockedGroups          int64
	PausedGroups           []string      `json:",omitempty"`
	LargestBlockedGroup    *messageGroup `json:",omitempty"`
	DeadLetterQueueArn     string        `json:",omitempty"`
	DeadLetters            *int64        `json:",omitempty"`
	DiskBytes              int64
	Undo                   *undonePurge `json:",omitempty"`
	Shards                 []shardState
}

type shardState struct {
	Shard           string
	Node            string `json:",omitempty"`
	Visible         int64
	InFlight        int64
	Delayed         int64
	WaitingReceives int64
	DiskBytes       int64
}

func (s *queueState) text(w io.Writer) error {
	if s.Receivable {
		fmt.Fprintln(w, "messages can be received")
	} else {
		fmt.Fprintln(w, "nothing can be received now")
	}
	for _, r := range s.Reasons {
		fmt.Fprintln(w, printable(r.Text))
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	moment := func(n int64) string {
		if n == 0 {
			return ""
		}
		return millis(n)
	}
	rows := [][]string{
		{"available", number(s.Visible)}, {"in flight", number(s.InFlight)}, {"delayed", number(s.Delayed)},
		{"oldest sent", moment(s.OldestMessageTimestamp)},
		{"last send", moment(s.LastSendTimestamp)}, {"last receive", moment(s.LastReceiveTimestamp)},
		{"waiting receives", number(s.WaitingReceives)},
	}
	if s.ReadyGroups+s.BlockedGroups > 0 {
		rows = append(rows, []string{"groups ready", number(s.ReadyGroups)}, []string{
			"groups blocked", number(s.BlockedGroups),
		})
	}
	if n := len(s.PausedGroups); n > 0 {
		rows = append(rows, []string{"groups paused", strconv.Itoa(n)})
	}
	if g := s.LargestBlockedGroup; g != nil {
		rows = append(
			rows,
			[]string{
				"largest blocked group",
				fmt.Sprintf("%s, %s messages, until %s", g.MessageGroupId, g.depth(), moment(g.InvisibleUntil)),
			},
		)
	}
	if s.DeadLetters != nil {
		rows = append(rows, []string{"dead letters", number(*s.DeadLetters)})
	}
	if u := s.Undo; u != nil {
		purged := fmt.Sprintf("%d at %s, can be undone until %s",
			u.Messages, moment(u.PurgedTimestamp), moment(u.UntilTimestamp))
		rows = append(rows, []string{"purged", purged})
	}
	if len(s.Shards) > 1 || len(s.Shards) == 1 && s.Shards[0].Node != "" {
		for _, sh := range s.Shards {
			rows = append(rows, []string{"shard " + sh.Shard, fmt.Sprintf(
				"on node %s: %d available, %d in flight, %d delayed",
				orDash(sh.Node), sh.Visible, sh.InFlight, sh.Delayed,
			)})
		}
	}
	return printTable(w, []string{"WHAT", "NOW"}, rows)
}

func newQueueGroups(server *clientFlags) *cobra.Command {
	most := 50
	cmd := &cobra.Command{
		Use:   "groups QUEUE",
		Short: "List the message groups of a FIFO queue",
		Long: `List the message groups of a FIFO queue, those with the oldest messages first: their
numbers of messages, and whether the first one is in flight, which blocks the group.
Sluice only; needs sluice:ListMessageGroups.`,
		Example:           "  sluice queue groups orders.fifo --max 10",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	cmd.Flags().IntVar(&most, "max", most, "maximum number of groups to list")
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		if most < 1 {
			return nil, usage(fmt.Errorf("--max %d: want 1 or more", most))
		}
		return answerOr(listGroups(ctx, c.client, url, most))
	})
}

// messageGroups is the answer of queue groups.
type messageGroups struct {
	Groups []messageGroup
	Cursor string `json:",omitempty"`
}

type messageGroup struct {
	MessageGroupId string
	Paused         bool `json:",omitempty"`
	State          string
	Depth          int64
	DepthIsMore    bool `json:",omitempty"`
	InFlight       int64
	MessageId      string
	SentTimestamp  int64
	ReceiveCount   int64
	InvisibleUntil int64 `json:",omitempty"`
}

// depth formats the number of messages in a group for people.
func (g *messageGroup) depth() string {
	if g.DepthIsMore {
		return fmt.Sprintf("more than %d", g.Depth)
	}
	return strconv.FormatInt(g.Depth, 10)
}

func listGroups(ctx context.Context, c *client, url string, most int) (*messageGroups, error) {
	all := &messageGroups{Groups: []messageGroup{}}
	for {
		in := map[string]any{"QueueUrl": url, "Max": min(100, most-len(all.Groups)), "Cursor": all.Cursor}
		var page messageGroups
		if err := c.sluice(ctx, "ListMessageGroups", in, &page); err != nil {
			return nil, err
		}
		all.Groups, all.Cursor = append(all.Groups, page.Groups...), page.Cursor
		if all.Cursor == "" || len(all.Groups) >= most {
			return all, nil
		}
	}
}

func (l *messageGroups) text(w io.Writer) error {
	var rows [][]string
	for _, g := range l.Groups {
		state := stateWords[g.State]
		if g.InvisibleUntil != 0 {
			state += " until " + millis(g.InvisibleUntil)
		}
		if g.Paused {
			state += ", and the group is paused"
		}
		rows = append(
			rows,
			[]string{
				g.MessageGroupId,
				g.depth(),
				strconv.FormatInt(g.InFlight, 10),
				millis(g.SentTimestamp),
				strconv.FormatInt(g.ReceiveCount, 10),
				state,
			},
		)
	}
	return printTable(w, []string{"GROUP", "MESSAGES", "IN FLIGHT", "OLDEST SENT", "RECEIVED", "THE OLDEST IS"}, rows)
}
