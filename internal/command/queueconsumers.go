package command

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newQueueConsumers(server *clientFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "consumers QUEUE",
		Short: "List the consumers of a queue, with advice",
		Long: `List the consumers of a queue in the last ten minutes, the busiest first, with advice.
Sluice only; needs sluice:ListConsumers.`,
		Example:           "  sluice queue consumers jobs",
		Args:              arguments("QUEUE"),
		ValidArgsFunction: completeQueues(server),
	}
	return server.onQueue(cmd, func(ctx context.Context, c *call, url string) (answer, error) {
		out := new(queueConsumers)
		return answerOr(out, c.sluice(ctx, "ListConsumers", map[string]string{"QueueUrl": url}, out))
	})
}

// queueConsumers is the answer of queue consumers.
type queueConsumers struct {
	Consumers   []queueConsumer
	SilentNodes []string `json:",omitempty"`
}

type queueConsumer struct {
	Principal          string
	Address            string
	Agent              string
	FirstSeenTimestamp int64
	LastSeenTimestamp  int64
	CallsPerMinute     float64
	EmptyShare         float64
	ShortPollShare     float64
	Received           int64
	Deleted            int64
	MedianTimeToDelete *int64 `json:",omitempty"`
	P99TimeToDelete    *int64 `json:",omitempty"`
	Advice             []struct{ Code, Text string }
}

func (q *queueConsumers) text(w io.Writer) error {
	var rows [][]string
	for _, c := range q.Consumers {
		rows = append(rows, []string{
			c.Principal, c.Address, c.Agent, strconv.FormatFloat(c.CallsPerMinute, 'f', -1, 64),
			fmt.Sprintf("%.0f%%", 100*c.EmptyShare),
			strconv.FormatInt(c.Received, 10), strconv.FormatInt(c.Deleted, 10), duration(c.MedianTimeToDelete),
			duration(c.P99TimeToDelete),
		})
	}
	header := []string{"WHO", "FROM", "WITH", "CALLS/MIN", "EMPTY", "RECEIVED", "DELETED", "MEDIAN", "99%"}
	if err := printTable(w, header, rows); err != nil {
		return err
	}
	for _, c := range q.Consumers {
		for _, a := range c.Advice {
			fmt.Fprintf(w, "%s from %s: %s\n", printable(c.Principal), printable(c.Address), printable(a.Text))
		}
	}
	if len(q.SilentNodes) > 0 {
		fmt.Fprintln(w, "not asked, because they do not answer: nodes", printable(strings.Join(q.SilentNodes, ", ")))
	}
	return nil
}

// duration formats a time in milliseconds for people, or returns nothing.
func duration(milliseconds *int64) string {
	if milliseconds == nil {
		return ""
	}
	return (time.Duration(*milliseconds) * time.Millisecond).String()
}
