package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/proof/workload"
)

// every is the time from one request to a queue to the next. It is the resolution of the figures.
const every = 100 * time.Millisecond

// patience is how long a request waits for its answer, and outstanding how many requests of a queue may wait.
const (
	patience    = 5 * time.Second
	outstanding = 100
)

// spreadQueue is on all shards.
const spreadQueue = "spread"

// traffic are clients that use all queues through all nodes.
type traffic struct {
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup
	probes map[string]*probe // by the queue, or by the other repeated operation

	mu     sync.Mutex
	failed failures // since countFailures
}

// failures are requests that were not repeated and had no success.
type failures struct {
	away    int   // no process listened: a client without a list of live nodes
	cut     int   // the connection ended before an answer
	refused int   // answered with an error
	last    error // of the latter two
}

func (f *failures) add(err error) {
	_, cut := errors.AsType[*url.Error](err) // by the HTTP client
	switch network, ok := errors.AsType[*net.OpError](err); {
	case ok && network.Op == "dial":
		f.away++
	case cut || errors.Is(err, io.ErrUnexpectedEOF):
		f.cut, f.last = f.cut+1, err
	default:
		f.refused, f.last = f.refused+1, err
	}
}

// probe is a request that is made repeatedly.
type probe struct {
	mu      sync.Mutex
	answers []answer // with success, in the order in which they came
}

// answer is when a request was begun, and when it was answered.
type answer struct{ began, came time.Time }

func newTraffic(ctx context.Context, c *cluster) (*traffic, error) {
	t := &traffic{probes: make(map[string]*probe)}
	t.ctx, t.cancel = context.WithCancel(ctx)
	queues := map[string]map[string]string{spreadQueue: {"sluice:shards": "6"}}
	for i := range 6 {
		queues[fmt.Sprint("standard", i)] = nil
	}
	for i := range 2 {
		queues[fmt.Sprintf("ordered%d.fifo", i)] = nil
	}
	for name, tags := range queues {
		err := create(ctx, c.clients[0], name, tags)
		for tries := 0; err != nil && tries < 50 && pause(ctx, every); tries++ { // a shard may be moving
			err = create(ctx, c.clients[0], name, tags)
		}
		if err != nil {
			return nil, err
		}
		t.begin(name, every, func(ctx context.Context, n int) error {
			return send(ctx, c.through(n), name, n)
		})
	}
	t.begin("create", 4*every, func(ctx context.Context, n int) error {
		return create(ctx, c.through(n), fmt.Sprint("new", n), nil)
	})
	return t, nil
}

func create(ctx context.Context, c *workload.Client, name string, tags map[string]string) error {
	attributes := map[string]string{"MessageRetentionPeriod": "60"}
	if ordered(name) {
		attributes["FifoQueue"] = "true"
	}
	return c.CallIn(ctx, "CreateQueue", workload.Object{"QueueName": name, "Attributes": attributes, "tags": tags}, nil)
}

func send(ctx context.Context, c *workload.Client, queue string, n int) error {
	in := workload.Object{"QueueUrl": c.URL(queue), "MessageBody": "m"}
	if ordered(queue) {
		in["MessageGroupId"], in["MessageDeduplicationId"] = "g", fmt.Sprintf("%d-%d", time.Now().UnixNano(), n)
	}
	return c.CallIn(ctx, "SendMessage", in, nil)
}

func ordered(queue string) bool { return len(queue) > 5 && queue[len(queue)-5:] == ".fifo" }

// begin makes a request every so often until the traffic stops. The number of a request says at which node it is made.
func (t *traffic) begin(name string, every time.Duration, request func(ctx context.Context, n int) error) {
	p := &probe{}
	t.probes[name] = p
	turns := make(chan struct{}, outstanding)
	t.all.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for n := 0; ; n++ {
			select {
			case <-tick.C:
			case <-t.ctx.Done():
				return
			}
			select {
			case turns <- struct{}{}:
			default:
				continue
			}
			t.all.Go(func() {
				defer func() { <-turns }()
				t.note(p.try(t.ctx, n, request))
			})
		}
	})
}

// note counts a request that has failed, unless the traffic is over.
func (t *traffic) note(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil && t.ctx.Err() == nil {
		t.failed.add(err)
	}
}

// countFailures starts to count the requests that fail.
func (t *traffic) countFailures() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = failures{}
}

// failures returns the requests that have failed since countFailures.
func (t *traffic) failures() failures {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

// try makes a request once.
func (p *probe) try(ctx context.Context, n int, request func(ctx context.Context, n int) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	began := time.Now()
	if err := request(ctx, n); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers = append(p.answers, answer{began, time.Now()})
	return nil
}

func (t *traffic) stop() {
	t.cancel()
	t.all.Wait()
}

// forget drops the received answers.
func (t *traffic) forget() {
	for _, p := range t.probes {
		p.mu.Lock()
		p.answers = nil
		p.mu.Unlock()
	}
}

// unserved returns a probe without an answer to a request that was begun after a moment, or "".
func (t *traffic) unserved(after time.Time) string {
	for name, p := range t.probes {
		if _, ok := p.first(after); !ok {
			return name
		}
	}
	return ""
}

// first returns how long after a moment a request was answered that was begun after it.
func (p *probe) first(after time.Time) (took time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.answers {
		if a.began.After(after) && (!ok || a.came.Sub(after) < took) {
			took, ok = a.came.Sub(after), true
		}
	}
	return took, ok
}

// gap returns the longest time between two answers.
func (p *probe) gap() (longest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.SortFunc(p.answers, func(a, b answer) int { return a.came.Compare(b.came) })
	for i := 1; i < len(p.answers); i++ {
		longest = max(longest, p.answers[i].came.Sub(p.answers[i-1].came))
	}
	return longest
}
