package workload

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// counters are the metrics of a queue that Counted reads, and where each goes.
var counters = []struct {
	namespace, name string
	to              func(*history.Counted) *int64
}{
	{"AWS/SQS", "NumberOfMessagesSent", func(c *history.Counted) *int64 { return &c.Sent }},
	{"AWS/SQS", "NumberOfDeduplicatedSentMessages", func(c *history.Counted) *int64 { return &c.Deduplicated }},
	{"AWS/SQS", "NumberOfMessagesReceived", func(c *history.Counted) *int64 { return &c.Received }},
	{"AWS/SQS", "NumberOfEmptyReceives", func(c *history.Counted) *int64 { return &c.EmptyReceives }},
	{"AWS/SQS", "NumberOfMessagesDeleted", func(c *history.Counted) *int64 { return &c.Deleted }},
	{"Sluice/SQS", "NumberOfMessagesMoved", func(c *history.Counted) *int64 { return &c.Moved }},
}

// queriesAtOnce is how many metrics a call of GetMetricData can ask for.
const queriesAtOnce = 500

// Counted returns what the service has counted of queues in the minutes of a span that are over, as a client of
// CloudWatch reads it.
func (c *Client) Counted(ctx context.Context, queues []string, from, to time.Time) (map[string]history.Counted, error) {
	out := make(map[string]history.Counted)
	for some := range slices.Chunk(queues, queriesAtOnce/len(counters)) {
		var queries []Object
		for i, q := range some {
			for k, m := range counters {
				queries = append(queries, Object{"Id": fmt.Sprintf("m%d", i*len(counters)+k), "MetricStat": Object{
					"Metric": Object{
						"Namespace": m.namespace, "MetricName": m.name,
						"Dimensions": []Object{{"Name": "QueueName", "Value": q}},
					},
					"Period": 60, "Stat": "Sum",
				}})
			}
		}
		in := Object{"MetricDataQueries": queries, "StartTime": from.Unix(), "EndTime": to.Unix()}
		for more := true; more; {
			var page struct {
				MetricDataResults []struct {
					Id     string
					Values []float64
				}
				NextToken string
			}
			if err := c.call(ctx, "monitoring", "GraniteServiceVersion20100801.GetMetricData", in, &page); err != nil {
				return nil, err
			}
			for _, r := range page.MetricDataResults {
				var n int
				if _, err := fmt.Sscanf(r.Id, "m%d", &n); err != nil || n >= len(queries) {
					return nil, fmt.Errorf("an answer to query %q, which was not asked", r.Id)
				}
				q := some[n/len(counters)]
				counted := out[q]
				for _, v := range r.Values {
					*counters[n%len(counters)].to(&counted) += int64(v)
				}
				out[q] = counted
			}
			in["NextToken"], more = page.NextToken, page.NextToken != ""
		}
	}
	return out, nil
}
