package server

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
)

// While a node of the cluster runs a program that does not know tasks with a selection, none can start, and the error
// gives the reason; a dry run is still possible.
func TestRedriveWaitsForAllNodes(t *testing.T) {
	t.Parallel()
	var old atomic.Bool
	old.Store(true)
	p := newPair(t, func(owner, _ *Config) { beside(owner, &old) })
	c := clientOf(t, p.owner, inJSON)
	c.Region = "us-east-1" // where callAdmin is
	c.Make("CreateQueue", object{"QueueName": "from"})
	c.Make("CreateQueue", object{"QueueName": "to"})
	input := `{"QueueUrl":"` + c.URL("from") + `","DestinationArn":"` + c.ARN("to") + `","Filter":"x"`
	if status, body := callAdmin(t, p.owner, "RedriveMessages", input+`,"DryRun":true}`); status != http.StatusOK {
		t.Errorf("a dry run: %d %s", status, body)
	}
	status, body := callAdmin(t, p.owner, "RedriveMessages", input+"}")
	if status != http.StatusServiceUnavailable ||
		!strings.Contains(body,
			"when all nodes of the cluster know how: the node c runs version 1.0, which is too old for it.") {
		t.Errorf("%d %s", status, body)
	}
	old.Store(false)
	if status, body := callAdmin(t, p.owner, "RedriveMessages", input+"}"); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}

// The first task with a selection raises the format of the data directory.
func TestRedriveRaisesTheFormat(t *testing.T) {
	t.Parallel()
	config := inMemory()
	config.InMemory, config.Data = false, t.TempDir()
	config.Keep.Minutes = 0 // which needs a later format
	s, _ := start(t, config)
	c := clientOf(t, s, inJSON)
	c.Region = "us-east-1" // where callAdmin is
	c.Make("CreateQueue", object{"QueueName": "from"})
	c.Make("CreateQueue", object{"QueueName": "to"})
	input := `{"QueueUrl":"` + c.URL("from") + `","DestinationArn":"` + c.ARN("to") + `"}`
	if status, body := callAdmin(t, s, "RedriveMessages", input); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if f, err := datadir.ReadFormat(config.Data); err != nil || f.Number != formats.Selections {
		t.Errorf("the format is %d, %v", f.Number, err)
	}
}
