package packages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/queue"
)

const alerts = "../../deploy/prometheus"

// Prometheus accepts the alert rules, and they fire when they should.
func TestAlertRules(t *testing.T) {
	promtool := tool(t, "promtool")
	run(t, nil, promtool, "check", "config", filepath.Join(alerts, "prometheus.yml"))
	run(t, nil, promtool, "check", "rules", filepath.Join(alerts, "rules.yml"))
	run(t, nil, promtool, "test", "rules", filepath.Join(alerts, "rules_test.yml"))
}

// The rules and the dashboard use metrics that the server has.
func TestDashboardsUseMetricsThatThereAre(t *testing.T) {
	m := prom.New("v1", map[string][]string{"sqs": {"SendMessage"}})
	m.Disk(func() (uint64, uint64, error) { return 1, 2, nil }, func() bool { return false })
	m.Totals(func() (n [queue.Counters]int64) { return n })
	m.Memory(func() int64 { return 0 })
	m.KeyService(func() time.Duration { return 0 })
	m.Backup(func() (time.Duration, bool) { return 0, true }, func() uint64 { return 0 })
	m.Trail(func() prom.TrailDrops { return prom.TrailDrops{} })
	m.Cluster(func() status.Status {
		return status.Status{Node: "a", Nodes: []status.Node{{Name: "a", Live: true}}, Shards: []status.Shard{
			{Name: "0001", Owner: "a", Complete: 1, Copies: 1, Replicas: []status.Replica{{Node: "a", Role: "owner"}}},
		}}
	})
	m.Requests.Begin()
	m.Requests.Done("sqs", "SendMessage", prom.OK, 0)
	const arn = "arn:aws:sqs:us-east-1:000000000000:"
	queues := prom.Queues([]queue.Standing{{ARN: arn + "q", Last: new(queue.Row)},
		{ARN: arn + "q.fifo", FIFO: true, Last: new(queue.Row)}}, "")
	topics := prom.Topics([]queue.TopicStanding{{ARN: "arn:aws:sns:us-east-1:000000000000:t"}}, "")
	known := make(map[string]bool)
	for _, g := range []prometheus.Gatherer{m.Gatherer(), queues, topics} {
		families, err := g.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			known[f.GetName()] = true
		}
	}
	name := regexp.MustCompile(`\bsluice_[a-z0-9_]+`)
	for _, file := range []string{filepath.Join(alerts, "rules.yml"), "../../deploy/grafana/dashboards/sluice.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		used := name.FindAllString(string(text), -1)
		if len(used) < 10 {
			t.Errorf("%s uses %d metrics", file, len(used))
		}
		for _, n := range used {
			if !known[strings.TrimSuffix(n, "_bucket")] {
				t.Errorf("%s uses %s, which does not exist", file, n)
			}
		}
	}
}
