package server

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/formats"
)

// neighbour is a node that has another one beside it, of which a test says whether it is too old.
type neighbour struct {
	Node
	old *atomic.Bool
}

func (n neighbour) Reads(format int) error {
	if n.old.Load() && format >= formats.Topics {
		return errors.New("the node c runs version 1.0, which is too old for it")
	}
	return nil
}

// beside gives a node an old neighbour, as long as old is true.
func beside(node *Config, old *atomic.Bool) {
	join := node.Join
	node.Join = func(e NodeEnv) (Node, error) {
		n, err := join(e)
		return neighbour{n, old}, err
	}
}

// While a node of the cluster runs a program that does not know topics there are none, and the client reads why. Once
// there is one, nothing waits for such a node any more.
func TestFirstTopicWaitsForAllNodes(t *testing.T) {
	t.Parallel()
	var old atomic.Bool
	old.Store(true)
	log := new(journal)
	p := newPair(t, func(owner, _ *Config) {
		beside(owner, &old)
		owner.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	root := p.other.Root()
	create := func(name string) (int, string) {
		form := url.Values{"Action": {"CreateTopic"}, "Version": {"2010-03-31"}, "Name": {name}}
		return call(t, p.other, "sns", form.Encode(), &root)
	}
	status, body := create("a")
	if status != http.StatusServiceUnavailable || !strings.Contains(body,
		"Topics can be created when all nodes of the cluster support topics: the node c runs version 1.0, which is too old for it.") {
		t.Errorf("%d %s", status, body)
	}
	if log.count("level=ERROR") > 0 ||
		log.count("level=WARN msg=\"request refused, as the nodes of the cluster run different versions\"") != 1 {
		t.Error("that a call came too early is not one warning in the log")
	}
	old.Store(false)
	if status, body := create("a"); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	old.Store(true)
	if status, body := create("b"); status != http.StatusOK || apitest.Element(body, "TopicArn") == "" {
		t.Errorf("%d %s", status, body)
	}
}
