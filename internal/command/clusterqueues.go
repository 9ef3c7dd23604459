package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/cluster/status"
)

func newClusterQueues() *cobra.Command {
	server := new(clientFlags)
	var out output
	shard := ""
	cmd := &cobra.Command{
		Use:   "queues [QUEUE]",
		Short: "Say on which shards queues are, and which nodes serve them",
		Long: `Say on which shards queues are, and which nodes serve them: all queues, those of a
name in any account and region, or those on a shard.

This takes the root key of the cluster's first account, or that of a user of it who
may sluice:ListShardQueues.`,
		Example: `  sluice cluster queues orders
  sluice cluster queues --shard 0004`,
		Args: arguments("[QUEUE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.client()
			if err != nil {
				return err
			}
			list, err := c.shardQueues(cmd.Context(), shard, strings.Join(args, ""))
			if err != nil {
				return err
			}
			return out.print(cmd, shardQueues{append([]status.Queue{}, list...)})
		},
	}
	cmd.Flags().StringVar(&shard, "shard", "", "only queues on this shard, as sluice cluster status names it")
	server.add(cmd, "SLUICE")
	out.add(cmd)
	return cmd
}

func (c *client) shardQueues(ctx context.Context, shard, queue string) (list []status.Queue, err error) {
	in := map[string]any{"Shard": shard, "QueueName": queue}
	for {
		var page struct {
			Queues    []status.Queue
			NextToken string
		}
		if err := c.sluice(ctx, "ListShardQueues", in, &page); err != nil {
			return nil, err
		}
		list = append(list, page.Queues...)
		if page.NextToken == "" {
			return list, nil
		}
		in["NextToken"] = page.NextToken
	}
}

// shardQueues is the answer of cluster queues.
type shardQueues struct{ Queues []status.Queue }

func (l shardQueues) text(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "QUEUE\tSHARD\tOWNER")
	for _, q := range l.Queues {
		for _, s := range q.Shards {
			owner := s.Owner
			if owner == "" {
				owner = "NONE"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\n", q.QueueArn, s.Name, owner)
		}
	}
	return table.Flush()
}
