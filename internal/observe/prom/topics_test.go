package prom

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sluicemq/sluice/internal/queue"
)

const topicPrefix = "arn:aws:sns:us-east-1:000000000000:"

func topicStanding(name string, published, delivered uint64) queue.TopicStanding {
	s := queue.TopicStanding{ARN: topicPrefix + name}
	s.Happened[queue.TopicPublished], s.Happened[queue.TopicDelivered] = published, delivered
	return s
}

// A topic that two shards of this node have counted is one topic.
func TestTopicsHaveMetrics(t *testing.T) {
	all := []queue.TopicStanding{topicStanding("news", 3, 1), topicStanding("bills", 9, 9), topicStanding("news", 1, 5)}
	const want = `
# HELP sluice_topic_delivered_total Copies delivered to queues and endpoints. Since the shard that counts it was opened here.
# TYPE sluice_topic_delivered_total counter
sluice_topic_delivered_total{account="000000000000",region="us-east-1",topic="news"} 6
# HELP sluice_topic_failed_total Copies whose delivery failed. Since the shard that counts it was opened here.
# TYPE sluice_topic_failed_total counter
sluice_topic_failed_total{account="000000000000",region="us-east-1",topic="news"} 0
# HELP sluice_topic_published_total Published messages. Since the shard that counts it was opened here.
# TYPE sluice_topic_published_total counter
sluice_topic_published_total{account="000000000000",region="us-east-1",topic="news"} 4
`
	err := testutil.GatherAndCompare(Topics(all, "ne"), strings.NewReader(want), "sluice_topic_published_total",
		"sluice_topic_delivered_total", "sluice_topic_failed_total")
	if err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(Topics(all, "")); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// However many topics there are, the page is bounded.
func TestTopicsAreBounded(t *testing.T) {
	var all []queue.TopicStanding
	for n := range TopicsAtMost + 50 {
		all = append(all, topicStanding(fmt.Sprintf("t%d", n), uint64(n), 0))
	}
	n, err := testutil.GatherAndCount(Topics(all, ""), "sluice_topic_published_total")
	if err != nil || n != TopicsAtMost {
		t.Errorf("%d topics, %v", n, err)
	}
	if list := chosenTopics(all, ""); list[0].ARN != topicPrefix+fmt.Sprintf("t%d", TopicsAtMost+49) {
		t.Errorf("the first is %s", list[0].ARN)
	}
}
