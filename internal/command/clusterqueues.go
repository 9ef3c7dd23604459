package command

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicemq/sluice/internal/cluster/status"
)

func newClusterQueues() *cobra.Command {
	server := new(clientFlags)
	shard := ""
	cmd := &cobra.Command{
		Use:   "queues [QUEUE]",
		Short: "Show the shards of queues, and the nodes that serve them",
		Long: `Show the shards of queues and the nodes that serve them: of all queues, those with a
name in any account and region, or those on a shard.

Needs sluice:ListShardQueues in the first account.`,
		Example: `  sluice cluster queues orders
  sluice cluster queues --shard 0004`,
		Args:              arguments("[QUEUE]"),
		ValidArgsFunction: completeQueues(server),
	}
	cmd.Flags().StringVar(&shard, "shard", "", "only queues on this shard, as sluice cluster status names it")
	must(cmd.RegisterFlagCompletionFunc("shard", completeShards(server)))
	server.add(cmd, "SLUICE")
	return server.calling(cmd, func(ctx context.Context, c *call) (answer, error) {
		return answerOr(c.shardQueues(ctx, shard, strings.Join(c.args, "")))
	})
}

// completeShards completes the names of the cluster's shards for a flag.
func completeShards(server *clientFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return server.ask(cmd, func(ctx context.Context, c *client) ([]string, error) {
			s, err := c.clusterStatus(ctx)
			var names []string
			for _, sh := range s.Shards {
				names = append(names, sh.Name)
			}
			return names, err
		})
	}
}

func (c *client) shardQueues(ctx context.Context, shard, queue string) (*shardQueues, error) {
	list := &shardQueues{Queues: []status.Queue{}}
	in := map[string]any{"Shard": shard, "QueueName": queue}
	for {
		var page struct {
			Queues    []status.Queue
			NextToken string
		}
		if err := c.sluice(ctx, "ListShardQueues", in, &page); err != nil {
			return nil, err
		}
		list.Queues = append(list.Queues, page.Queues...)
		if page.NextToken == "" {
			return list, nil
		}
		in["NextToken"] = page.NextToken
	}
}

// shardQueues is the answer of cluster queues.
type shardQueues struct{ Queues []status.Queue }

func (l *shardQueues) text(w io.Writer) error {
	var rows [][]string
	for _, q := range l.Queues {
		for _, s := range q.Shards {
			rows = append(rows, []string{q.QueueArn, s.Name, cmp.Or(s.Owner, "NONE")})
		}
	}
	return printTable(w, []string{"QUEUE", "SHARD", "OWNER"}, rows)
}
