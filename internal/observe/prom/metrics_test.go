package prom

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/sluicemq/sluice/internal/cluster/status"
)

func TestRequestsAreCountedByOperation(t *testing.T) {
	m := New("v1", map[string][]string{"sqs": {"SendMessage", "ReceiveMessage"}})
	r := m.Requests
	for range 3 {
		r.Begin()
	}
	r.Done("sqs", "SendMessage", OutcomeOf(200), 3*time.Millisecond)
	r.Done("sqs", "made up by a client", OutcomeOf(404), time.Second)
	r.Drop()
	r.Begin()
	want := `
# HELP sluice_requests_in_flight Requests in progress, including long polls.
# TYPE sluice_requests_in_flight gauge
sluice_requests_in_flight 1
# HELP sluice_requests_total Finished requests, by operation and class of the status; gone: the client did not wait for the answer.
# TYPE sluice_requests_total counter
sluice_requests_total{code="2xx",operation="SendMessage",service="sqs"} 1
sluice_requests_total{code="4xx",operation="SendMessage",service="sqs"} 0
sluice_requests_total{code="5xx",operation="SendMessage",service="sqs"} 0
sluice_requests_total{code="gone",operation="SendMessage",service="sqs"} 0
sluice_requests_total{code="2xx",operation="unknown",service="unknown"} 0
sluice_requests_total{code="4xx",operation="unknown",service="unknown"} 1
sluice_requests_total{code="5xx",operation="unknown",service="unknown"} 0
sluice_requests_total{code="gone",operation="unknown",service="unknown"} 0
`
	if err := testutil.GatherAndCompare(m.Gatherer(), strings.NewReader(want), "sluice_requests_total",
		"sluice_requests_in_flight"); err != nil {
		t.Error(err)
	}
	if n, err := testutil.GatherAndCount(m.Gatherer(), "sluice_request_duration_seconds"); err != nil || n != 2 {
		t.Errorf("%d histograms, %v", n, err)
	}
}

func TestOutcomes(t *testing.T) {
	for status, want := range map[int]Outcome{
		200: OK, 302: OK, 400: ClientError, 413: ClientError, 500: ServerError, 503: ServerError,
	} {
		if got := OutcomeOf(status); got != want {
			t.Errorf("%d: %s, want %s", status, outcomes[got], outcomes[want])
		}
	}
}

func TestCountingAllocatesNothing(t *testing.T) {
	r := New("", map[string][]string{"sqs": {"SendMessage"}}).Requests
	n := testing.AllocsPerRun(100, func() {
		r.Begin()
		r.Done("sqs", "SendMessage", OK, time.Millisecond)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDisk(t *testing.T) {
	m := New("", nil)
	failing := false
	m.Disk(func() (uint64, uint64, error) {
		if failing {
			return 0, 0, errors.New("not known")
		}
		return 10, 100, nil
	}, func() bool { return true })
	names := []string{"sluice_disk_free_bytes", "sluice_disk_size_bytes", "sluice_disk_low"}
	want := `
# HELP sluice_disk_free_bytes Free space of the disk with the data.
# TYPE sluice_disk_free_bytes gauge
sluice_disk_free_bytes 10
# HELP sluice_disk_low 1 while nothing can be added because too little space is free.
# TYPE sluice_disk_low gauge
sluice_disk_low 1
# HELP sluice_disk_size_bytes Size of the disk with the data.
# TYPE sluice_disk_size_bytes gauge
sluice_disk_size_bytes 100
`
	if err := testutil.GatherAndCompare(m.Gatherer(), strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	failing = true
	if n, err := testutil.GatherAndCount(m.Gatherer(), names...); err != nil || n != 1 {
		t.Errorf("%d metrics of a disk of which nothing is known, %v", n, err)
	}
}

func TestNoMetricsOfAClusterWithoutOne(t *testing.T) {
	m := New("", nil)
	m.Cluster(func() status.Status { return status.Status{} })
	if n, err := testutil.GatherAndCount(m.Gatherer(), "sluice_cluster_problems",
		"sluice_cluster_shards_unowned"); err != nil || n > 0 {
		t.Errorf("%d metrics, %v", n, err)
	}
}

func TestCluster(t *testing.T) {
	m := New("", nil)
	s := status.Status{
		Node: "a", HandOvers: 2, Lost: 1,
		Nodes: []status.Node{{Name: "a", Live: true, SkewMillis: 1500}, {Name: "b"}},
		Shards: []status.Shard{
			{Name: "0001", Owner: "a", Epoch: 7, LogBytes: 900, Complete: 2, Copies: 3, Replicas: []status.Replica{
				{Node: "a", Role: "owner", Applied: 50, Durable: 40}, {Node: "b", Role: "absent"},
			}},
			{Name: "0002", Replicas: []status.Replica{{Node: "b", Role: "absent"}}},
		},
	}
	m.Cluster(func() status.Status { return s })
	all, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]float64)
	for _, f := range all {
		for _, one := range f.Metric {
			key := f.GetName()
			for _, l := range one.Label {
				key += " " + l.GetValue()
			}
			got[key] = one.GetGauge().GetValue() + one.GetCounter().GetValue()
		}
	}
	for key, want := range map[string]float64{
		"sluice_cluster_node_alive a": 1, "sluice_cluster_node_alive b": 0, "sluice_cluster_clock_skew_seconds": 1.5,
		"sluice_cluster_shards_owned": 1, "sluice_cluster_shards_unowned": 1,
		"sluice_cluster_hand_overs_total": 2, "sluice_cluster_ownerships_lost_total": 1,
		"sluice_shard_role owner 0001": 1, "sluice_shard_epoch 0001": 7, "sluice_shard_applied_position 0001": 50,
		"sluice_shard_durable_position 0001": 40, "sluice_shard_lag_records 0001": 0,
		"sluice_shard_log_bytes 0001":           900,
		"sluice_shard_log_copies_complete 0001": 2, "sluice_shard_log_copies 0001": 3,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s is %v (%t), want %v", key, v, ok, want)
		}
	}
	if _, ok := got["sluice_shard_epoch 0002"]; ok {
		t.Error("there are metrics of a replica that is on another node")
	}
	if got["sluice_cluster_problems"] == 0 {
		t.Error("it reports no problem")
	}
}

func BenchmarkRequest(b *testing.B) {
	r := New("", map[string][]string{"sqs": {"SendMessage"}}).Requests
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r.Begin()
			r.Done("sqs", "SendMessage", OK, time.Millisecond)
		}
	})
}

func TestDeliveries(t *testing.T) {
	m := New("v1", nil)
	m.Deliveries(func() []Delivery { return []Delivery{{"http", "dropped", 3}, {"email", "delivered", 1}} },
		func() int64 { return 2 })
	want := `
# HELP sluice_topic_deliveries_in_flight Attempts in progress.
# TYPE sluice_topic_deliveries_in_flight gauge
sluice_topic_deliveries_in_flight 2
# HELP sluice_topic_delivery_attempts_total Attempts to deliver a message of a topic to an endpoint, by outcome: delivered, retried, dead-lettered or dropped.
# TYPE sluice_topic_delivery_attempts_total counter
sluice_topic_delivery_attempts_total{outcome="delivered",protocol="email"} 1
sluice_topic_delivery_attempts_total{outcome="dropped",protocol="http"} 3
`
	if err := testutil.GatherAndCompare(m.Gatherer(), strings.NewReader(want), "sluice_topic_deliveries_in_flight",
		"sluice_topic_delivery_attempts_total"); err != nil {
		t.Error(err)
	}
}
