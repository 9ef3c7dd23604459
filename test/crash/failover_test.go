package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// nodes is a cluster of three servers, each a process.
type nodes struct {
	*testing.T
	binary  string // of the next node that starts
	peers   string
	dir     string
	flags   []string // of all nodes
	running [3]*process
	client  [3]atomic.Pointer[workload.Client] // of a running node
}

func newNodes(t *testing.T, binary string, flags ...string) *nodes {
	t.Helper()
	addresses, err := freeport.Take(3)
	if err != nil {
		t.Fatal(err)
	}
	c := &nodes{T: t, binary: binary, dir: t.TempDir(), flags: flags}
	var peers []string
	for i, address := range addresses {
		peers = append(peers, c.name(i)+"="+address)
	}
	c.peers = strings.Join(peers, ",")
	for i := range c.running {
		c.running[i] = c.start(i)
	}
	for i := range c.running {
		c.wait(i)
	}
	return c
}

func (c *nodes) name(i int) string { return string(rune('a' + i)) }

// data is the data directory of a node.
func (c *nodes) data(i int) string { return filepath.Join(c.dir, c.name(i)) }

func (c *nodes) start(i int) *process {
	c.Helper()
	return launch(c.T, c.binary, c.data(i), append(c.membership(i), c.flags...)...)
}

// membership are the flags that make a server a node.
func (c *nodes) membership(i int) []string {
	return []string{"--node", c.name(i), "--cluster", c.peers, "--cluster-secret-file", filepath.Join(c.dir, "secret")}
}

// wait waits until a node that was started serves.
func (c *nodes) wait(i int) {
	c.Helper()
	c.client[i].Store(c.running[i].ready(c.T))
}

// kill kills a node.
func (c *nodes) kill(i int) {
	c.client[i].Store(nil)
	_ = c.running[i].cmd.Process.Kill()
	<-c.running[i].ended
}

func (c *nodes) stop() {
	for i := range c.running {
		c.kill(i)
	}
}

// any returns a client of a running node, starting with the n-th.
func (c *nodes) any(n int) *workload.Client {
	for i := range c.client {
		if client := c.client[(n+i)%len(c.client)].Load(); client != nil {
			return client
		}
	}
	panic("all nodes are killed")
}

// TestFailoverOfTopics kills one node after the other of a cluster that publishes to an HTTP endpoint and to a FIFO
// queue, so that the owner of each shard dies while it delivers. Every message with an acknowledged publish arrives,
// and the FIFO queue has each once, in order. The link that confirms the subscription works at any node.
func TestFailoverOfTopics(t *testing.T) {
	program.Long(t)
	t.Parallel()
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("SLUICE_TEST_CRASH_SEED=%d", seed)
	e := &endpoint{rng: rand.New(rand.NewPCG(seed, 2)), taken: make(map[string]int), confirm: make(chan string, 1)}
	hook := httptest.NewServer(e)
	t.Cleanup(hook.Close)
	c := newNodes(t, program.Build(t), "--egress-allow", "127.0.0.1")
	t.Cleanup(c.stop)

	const queue, fifo = "orders.fifo", "orders.fifo"
	eventually.Succeeds(t, func() error { return c.any(0).Create(history.Queue{Name: queue}) })
	eventually.Succeeds(t,
		func() error { return c.any(1).CreateTopic(history.Topic{Name: fifo, Queues: []string{queue}}) })
	eventually.Succeeds(t, func() error { return c.any(2).CreateTopic(history.Topic{Name: "news"}) })
	err := c.any(0).Notify("Subscribe", url.Values{
		"TopicArn": {workload.TopicARN("news")}, "Protocol": {"http"}, "Endpoint": {hook.URL},
		"Attributes.entry.1.key": {"RawMessageDelivery"}, "Attributes.entry.1.value": {"true"},
		"Attributes.entry.2.key":   {"DeliveryPolicy"},
		"Attributes.entry.2.value": {`{"healthyRetryPolicy":{"minDelayTarget":1,"maxDelayTarget":1,"numRetries":100}}`},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	link, err := url.Parse(<-e.confirm)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.running { // it may be followed more than once, at any node
		answer, err := http.Get(c.any(i).Endpoint + "/?" + link.RawQuery)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("the link at node %d: %v, %v", i, answer, err)
		}
		_ = answer.Body.Close()
	}

	var published []string // acknowledged publishes to news
	ordered := 0           // likewise to the FIFO topic
	var over atomic.Bool
	var publishers sync.WaitGroup
	publishers.Go(func() {
		for n := 0; !over.Load(); n++ {
			message := fmt.Sprintf("message %d", n)
			if err := c.any(n).Notify("Publish",
				url.Values{"TopicArn": {workload.TopicARN("news")}, "Message": {message}}, nil); err == nil {
				published = append(published, message)
			}
		}
	})
	publishers.Go(func() {
		for n := 0; !over.Load(); n++ {
			form := url.Values{
				"TopicArn": {workload.TopicARN(fifo)}, "Message": {strconv.Itoa(ordered)}, "MessageGroupId": {"g"},
				"MessageDeduplicationId": {strconv.Itoa(ordered)},
			}
			if c.any(n).Notify("Publish", form, nil) == nil {
				ordered++
			}
		}
	})
	for i := range c.running {
		before := e.count()
		eventually.True(t, "some messages arrive", func() bool { return e.count() > before+20 })
		c.kill(i)
		before = e.count()
		eventually.Succeeds(t, func() error { // through the others
			if n := e.count(); n < before+20 {
				return fmt.Errorf("%d messages have arrived since a node was killed", n-before)
			}
			return nil
		})
		c.running[i] = c.start(i)
		c.wait(i)
	}
	over.Store(true)
	publishers.Wait()
	eventually.Succeeds(t, func() error {
		if one, n := e.missing(published); n > 0 {
			return fmt.Errorf("%d of %d messages have not arrived, such as %q", n, len(published), one)
		}
		return nil
	})
	c.inOrder(queue, ordered)
	t.Logf("%d messages to the endpoint, %d to the queue", len(published), ordered)
}

// count returns the number of messages that the endpoint has accepted.
func (e *endpoint) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.taken)
}

// inOrder receives the published messages from a FIFO queue, each once and in order. The last one, whose publish was
// not acknowledged, may be there.
func (c *nodes) inOrder(queue string, published int) {
	c.Helper()
	next := 0
	eventually.Succeeds(c.T, func() error {
		for {
			got, err := c.any(next).Receive(queue, workload.Receive{Most: 10, Timeout: time.Hour})
			if err != nil {
				return err
			}
			if len(got) == 0 && next < published {
				return errors.New("it is empty")
			}
			if len(got) == 0 {
				return nil
			}
			for _, m := range got {
				if m.Body != strconv.Itoa(next) {
					c.Fatalf("message %s comes instead of %d", m.Body, next)
				}
				next++
				if _, err := c.any(next).Remove(queue, []string{m.Handle}); err != nil {
					return err
				}
			}
		}
	})
	if next > published+1 {
		c.Errorf("%d messages, and %d were published", next, published)
	}
}
