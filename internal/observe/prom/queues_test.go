package prom

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sluicemq/sluice/internal/queue"
)

const arnPrefix = "arn:aws:sqs:us-east-1:000000000000:"

func standing(name string, visible uint64) queue.Standing {
	last := &queue.Row{Minutes: 1}
	for m, n := range map[queue.Metric]uint64{
		queue.MetricVisible: visible, queue.MetricOldestAge: 60, queue.MetricSent: 2,
	} {
		last.Values[m] = queue.Value{Sum: n, Min: n, Max: n}
	}
	last.Values[queue.MetricSentBytes] = queue.Value{Sum: 30, Min: 10, Max: 20}
	s := queue.Standing{ARN: arnPrefix + name, Counts: queue.Counts{Visible: visible, InFlight: 1}, Last: last}
	s.Happened[queue.MetricSent] = 7
	s.Wait = new(queue.Histogram)
	s.Wait.Observe(20 * time.Millisecond)
	s.Wait.Observe(48 * time.Hour)
	return s
}

// A queue that has two shards on this node is one queue.
func TestQueuesHaveMetrics(t *testing.T) {
	all := []queue.Standing{standing("orders", 3), standing("orders", 4), standing("bills", 100),
		{ARN: arnPrefix + "idle"}}
	want := `
# HELP sluice_queue_messages Messages in the queue, by state: visible, in_flight, delayed.
# TYPE sluice_queue_messages gauge
sluice_queue_messages{account="000000000000",queue="orders",region="us-east-1",state="delayed"} 0
sluice_queue_messages{account="000000000000",queue="orders",region="us-east-1",state="in_flight"} 2
sluice_queue_messages{account="000000000000",queue="orders",region="us-east-1",state="visible"} 7
# HELP sluice_queue_oldest_message_age_seconds Age of the oldest message at the end of the last minute.
# TYPE sluice_queue_oldest_message_age_seconds gauge
sluice_queue_oldest_message_age_seconds{account="000000000000",queue="orders",region="us-east-1"} 60
# HELP sluice_queue_sent_total Messages that were accepted, and those that a task has moved here. Since the queue's shard was opened here.
# TYPE sluice_queue_sent_total counter
sluice_queue_sent_total{account="000000000000",queue="orders",region="us-east-1"} 14
# HELP sluice_queue_wait_seconds Time from the send of messages to their first receive, including delays. Since the queue's shard was opened here.
# TYPE sluice_queue_wait_seconds histogram
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="0.01"} 0
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="0.05"} 2
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="0.25"} 2
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="1"} 2
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="5"} 2
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="30"} 2
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="120"} 2
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="600"} 2
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="3600"} 2
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="21600"} 2
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="86400"} 2
sluice_queue_wait_seconds_bucket{account="000000000000",queue="orders",region="us-east-1",le="+Inf"} 4
sluice_queue_wait_seconds_sum{account="000000000000",queue="orders",region="us-east-1"} 345600.04
sluice_queue_wait_seconds_count{account="000000000000",queue="orders",region="us-east-1"} 4
`
	err := testutil.GatherAndCompare(Queues(all, "ord"), strings.NewReader(want),
		"sluice_queue_wait_seconds", "sluice_queue_messages", "sluice_queue_oldest_message_age_seconds",
		"sluice_queue_sent_total")
	if err != nil {
		t.Error(err)
	}
}

// The queues with the most messages have their own metrics, the others have them together.
func TestQueuesAreBounded(t *testing.T) {
	var all []queue.Standing
	for i := range QueuesAtMost + 3 {
		all = append(all, standing(fmt.Sprint("q", i), uint64(i)))
	}
	n, err := testutil.GatherAndCount(Queues(all, ""), "sluice_queue_sent_total")
	if err != nil || n != QueuesAtMost {
		t.Errorf("%d queues have metrics, %v", n, err)
	}
	families, err := Queues(all, "").Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == "sluice_queue_messages" && m.Label[1].GetValue() == other &&
				m.Label[3].GetValue() == "visible" {
				if m.Gauge.GetValue() != 0+1+2 {
					t.Errorf("the others have %v messages", m.Gauge.GetValue())
				}
				return
			}
		}
	}
	t.Error("the others are missing")
}

// The names are those of CloudWatch's exporters.
func TestCloudWatchNames(t *testing.T) {
	labels := `{account_id="000000000000",dimension_QueueName="orders",name="` + arnPrefix +
		`orders",queue_name="orders",region="us-east-1"} `
	want := "# HELP aws_sqs_approximate_number_of_messages_visible_average ApproximateNumberOfMessagesVisible, average of the last minute, in count.\n" +
		"# TYPE aws_sqs_approximate_number_of_messages_visible_average gauge\n" +
		"aws_sqs_approximate_number_of_messages_visible_average" + labels + "3\n" +
		"# HELP aws_sqs_approximate_age_of_oldest_message_maximum ApproximateAgeOfOldestMessage, maximum of the last minute, in seconds.\n" +
		"# TYPE aws_sqs_approximate_age_of_oldest_message_maximum gauge\n" +
		"aws_sqs_approximate_age_of_oldest_message_maximum" + labels + "60\n" +
		"# HELP aws_sqs_sent_message_size_average SentMessageSize, average of the last minute, in bytes.\n" +
		"# TYPE aws_sqs_sent_message_size_average gauge\n" +
		"aws_sqs_sent_message_size_average" + labels + "15\n"
	err := testutil.GatherAndCompare(CloudWatch([]queue.Standing{standing("orders", 3), {ARN: arnPrefix + "idle"}}, ""),
		strings.NewReader(want),
		"aws_sqs_approximate_number_of_messages_visible_average", "aws_sqs_approximate_age_of_oldest_message_maximum",
		"aws_sqs_sent_message_size_average")
	if err != nil {
		t.Error(err)
	}
}

// Metrics of all queues together name no queue.
func TestTotals(t *testing.T) {
	m := New("", nil)
	var n [queue.Counters]int64
	n[queue.MetricDeadLettered] = 5
	m.Totals(func() [queue.Counters]int64 { return n })
	want := `
# HELP sluice_messages_dead_lettered_total Messages moved to the dead-letter queue.
# TYPE sluice_messages_dead_lettered_total counter
sluice_messages_dead_lettered_total 5
`
	if err := testutil.GatherAndCompare(m.Gatherer(), strings.NewReader(want),
		"sluice_messages_dead_lettered_total"); err != nil {
		t.Error(err)
	}
}
