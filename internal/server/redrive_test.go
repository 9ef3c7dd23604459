package server

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// While a node of the cluster runs a program that does not know of tasks that select messages there are none, and the client
// reads why; it may look what would be moved.
func TestRedriveWaitsForAllNodes(t *testing.T) {
	t.Parallel()
	var old atomic.Bool
	old.Store(true)
	p := newPair(t, func(owner, _ *Config) {
		join := owner.Join
		owner.Join = func(e NodeEnv) (Node, error) {
			n, err := join(e)
			return neighbour{n, &old}, err
		}
	})
	c := clientOf(t, p.owner, inJSON)
	c.Region = "us-east-1" // where callAdmin is
	c.Make("CreateQueue", object{"QueueName": "from"})
	c.Make("CreateQueue", object{"QueueName": "to"})
	input := `{"QueueUrl":"` + c.URL("from") + `","DestinationArn":"` + c.ARN("to") + `","Filter":"x"`
	if status, body := callAdmin(t, p.owner, "RedriveMessages", input+`,"DryRun":true}`); status != http.StatusOK {
		t.Errorf("a dry run: %d %s", status, body)
	}
	status, body := callAdmin(t, p.owner, "RedriveMessages", input+"}")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, "when all nodes of the cluster know how: the node c runs version 1.0, which is too old for it.") {
		t.Errorf("%d %s", status, body)
	}
	old.Store(false)
	if status, body := callAdmin(t, p.owner, "RedriveMessages", input+"}"); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
}
