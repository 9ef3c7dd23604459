package crash

import (
	"path/filepath"
	"strings"
	"testing"

	catalogue "github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/signing"
)

// checkCounters reports differences between the counters of the queues and topics and the acknowledged calls.
func checkCounters(t *testing.T, h *history.History, r queue.Reader, configs []queue.Config) {
	t.Helper()
	happened, err := queue.Happened(r, configs)
	if err != nil {
		t.Fatal(err)
	}
	counted, topics := make(map[string]history.Counted), make(map[string]history.CountedTopic)
	var all int64
	for arn, n := range happened {
		if topic, is := strings.CutPrefix(arn, workload.TopicARN("")); is {
			topics[topic] = history.CountedTopic{
				Published: n[queue.TopicPublished], Copies: n[queue.TopicDelivered] + n[queue.TopicFailed],
			}
			continue
		}
		counted[strings.TrimPrefix(arn, workload.ARN(""))] = history.Counted{
			Sent: n[queue.MetricSent], Deduplicated: n[queue.MetricDeduplicated], Received: n[queue.MetricReceived],
			EmptyReceives: n[queue.MetricEmptyReceives], Deleted: n[queue.MetricDeleted], Moved: n[queue.MetricMoved],
		}
		all += n[queue.MetricSent]
	}
	if all == 0 || len(topics) == 0 {
		t.Error("nothing was counted")
	}
	h.Notes = append(append(h.Notes, h.CompareCounters(counted)...), h.CompareTopics(topics)...)
}

// checkCountersOf does the same for the data directory of a stopped server.
func checkCountersOf(t *testing.T, h *history.History, data string) {
	t.Helper()
	open := func(dir string) *store.Store {
		s, err := store.OpenReadOnly(filepath.Join(data, dir), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	listed, problems, err := catalogue.Check(open(server.ControlDir), topic.Prefix, signing.Prefix, encryption.Prefix)
	if err != nil || len(problems) > 0 {
		t.Fatalf("queues: %v, %q", err, problems)
	}
	var configs []queue.Config
	for _, q := range listed.Queues {
		configs = append(configs, q.ConfigOn(1))
	}
	checkCounters(t, h, open(server.ShardDir), configs)
}
