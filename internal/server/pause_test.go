package server

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
)

// While a node of the cluster runs a program that would deliver messages of paused groups, no group can be paused, and
// the error gives the reason.
func TestPauseWaitsForAllNodes(t *testing.T) {
	t.Parallel()
	var old atomic.Bool
	old.Store(true)
	p := newPair(t, func(owner, _ *Config) { beside(owner, &old) })
	c := clientOf(t, p.owner, inJSON)
	c.Region = "us-east-1" // where callAdmin is
	c.Make("CreateQueue", object{"QueueName": "q.fifo", "Attributes": object{"FifoQueue": "true"}})
	input := `{"QueueUrl":"` + c.URL("q.fifo") + `","MessageGroupIds":["a"]}`
	status, body := callAdmin(t, p.other, "PauseMessageGroups", input)
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "when all nodes of the cluster know how") {
		t.Errorf("%d %s", status, body)
	}
	old.Store(false)
	if status, body := callAdmin(t, p.other, "PauseMessageGroups", input); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

// The first pause of a group raises the format of the data directory, and a restarted server still has it.
func TestPauseRaisesTheFormat(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.InMemory, config.Data = false, t.TempDir()
	s, stop := start(t, config)
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1" // where callAdmin is
	c.Make("CreateQueue", object{"QueueName": "q.fifo", "Attributes": object{"FifoQueue": "true"}})
	input := `{"QueueUrl":"` + c.URL("q.fifo") + `"`
	if status, body := callAdmin(t, s, "PauseMessageGroups",
		input+`,"MessageGroupIds":["a"]}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if f, err := datadir.ReadFormat(config.Data); err != nil || f.Number != formats.PausedGroups {
		t.Errorf("the format is %d, %v", f.Number, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	s, _ = start(t, config)
	if _, body := callAdmin(t, s, "DescribeQueueState", input+"}"); !strings.Contains(body, `"PausedGroups":["a"]`) {
		t.Errorf("%s", body)
	}
}
