package bench

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// run is a load in progress.
type run struct {
	Config
	id       string // tells its messages from those of other loads
	url      string
	ledger   *ledger
	produced atomic.Uint64
	consumed atomic.Uint64
	arrival  atomic.Int64 // when a message was last received, Unix nanoseconds
	schedule *schedule    // nil: producers send as soon as they can

	mu      sync.Mutex
	calls   map[string]*latencies // by operation, and late
	errors  uint64
	lastErr error
}

// Run loads the endpoint and writes a tally to w every second, in the words of the guide's sample program. When the
// time is over, it continues to receive until everything that was sent has arrived, or nothing arrives anymore.
func Run(ctx context.Context, c Config, w io.Writer) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := newRun(c)
	admin, err := newClient(c.Target)
	if err != nil {
		return nil, err
	}
	defer admin.close()
	remove, err := r.makeQueue(ctx, admin)
	if err != nil {
		return nil, err
	}
	defer remove()
	if err := r.fill(ctx, w); err != nil {
		return nil, err
	}
	report := r.measure(ctx, w)
	if c.Consumers > 0 {
		r.drain(ctx)
		report.Verdict = r.ledger.verdict()
	}
	return report, ctx.Err()
}

func newRun(c Config) *run {
	id := make([]byte, 4)
	rand.Read(id)
	return &run{
		Config: c, id: hex.EncodeToString(id), calls: make(map[string]*latencies),
		ledger: newLedger(c.Producers + backlogSenders),
	}
}

// makeQueue finds or creates the queue, and returns a function that removes it.
func (r *run) makeQueue(ctx context.Context, c *client) (remove func(), err error) {
	operation, input := "GetQueueUrl", map[string]any{"QueueName": r.Queue}
	if r.Queue == "" {
		name, attributes := "sluice-bench-"+r.id, map[string]string{"VisibilityTimeout": "300"}
		if r.FIFO {
			name += ".fifo"
			attributes["FifoQueue"] = "true"
		}
		if r.Size > 262_144 {
			attributes["MaximumMessageSize"] = "1048576"
		}
		operation = "CreateQueue"
		input = map[string]any{
			"QueueName": name, "Attributes": attributes, "tags": map[string]string{"purpose": "sluice-bench"},
		}
	}
	in, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	answer, err := c.call(ctx, operation, in)
	if err != nil {
		return nil, err
	}
	var out struct{ QueueUrl string }
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	r.url = out.QueueUrl
	if r.Queue != "" {
		return func() {}, nil
	}
	return func() {
		in := fmt.Appendf(nil, `{"QueueUrl":%q}`, r.url)
		// Best effort: the queue's name and tag say what it was for.
		_, _ = c.call(context.WithoutCancel(ctx), "DeleteQueue", in)
	}, nil
}

// backlogSenders is how many connections fill the queue.
const backlogSenders = 16

// fill sends the backlog in batches of ten, without counting it as load.
func (r *run) fill(ctx context.Context, w io.Writer) error {
	if r.Backlog == 0 {
		return nil
	}
	began := time.Now()
	filler := newRun(r.Config)
	filler.id, filler.url, filler.ledger, filler.Batch = r.id, r.url, r.ledger, 10
	var all sync.WaitGroup
	for i := range backlogSenders {
		n := r.Backlog / backlogSenders
		if i < r.Backlog%backlogSenders {
			n++
		}
		all.Go(func() {
			filler.produce(ctx, r.Producers+i, func(_ *worker, sent uint64) (uint64, time.Time) {
				return uint64(n) - sent, time.Now()
			})
		})
	}
	all.Wait()
	if filler.lastErr != nil {
		return fmt.Errorf("send backlog: %w", filler.lastErr)
	}
	fmt.Fprintf(w, "backlog of %d messages sent in %s\n", r.Backlog, time.Since(began).Round(time.Millisecond))
	return ctx.Err()
}

// measure runs producers and consumers for the configured time.
func (r *run) measure(ctx context.Context, w io.Writer) *Report {
	used, began := ProcessorTime(r.ServerPID), time.Now()
	end := began.Add(r.Duration)
	over := func() bool { return time.Now().After(end) }
	var workers sync.WaitGroup
	more := func(*worker, uint64) (uint64, time.Time) {
		if over() {
			return 0, time.Time{}
		}
		return uint64(r.Batch), time.Now()
	}
	if r.Rate > 0 {
		r.schedule, more = newSchedule(&r.Config, began), (*worker).moreWhenDue
		workers.Go(func() { r.schedule.run(ctx) })
	}
	for i := range r.Producers {
		workers.Go(func() { r.produce(ctx, i, more) })
	}
	for range r.Consumers {
		workers.Go(func() { r.consume(ctx, over) })
	}
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for produced, consumed := uint64(0), uint64(0); ; {
		select {
		case <-done:
			report := r.report(time.Since(began))
			report.ServerCPU = ProcessorTime(r.ServerPID) - used
			return report
		case <-tick.C:
			p, c := r.produced.Load(), r.consumed.Load()
			fmt.Fprintf(w, "%3.0fs  produced messages = %d, consumed messages = %d\n",
				time.Since(began).Seconds(), p-produced, c-consumed)
			produced, consumed = p, c
		}
	}
}

// drainPause is how long consumers must find nothing before they stop.
const drainPause = 3 * time.Second

// drain receives the remaining messages. It is not measured.
func (r *run) drain(ctx context.Context) {
	rest := newRun(r.Config)
	rest.id, rest.url, rest.ledger, rest.Batch = r.id, r.url, r.ledger, 10
	rest.arrival.Store(time.Now().UnixNano())
	var all sync.WaitGroup
	for range max(1, min(r.Consumers, 32)) {
		all.Go(func() {
			rest.consume(ctx, func() bool {
				quiet := time.Since(time.Unix(0, rest.arrival.Load()))
				return quiet > drainPause || rest.ledger.complete()
			})
		})
	}
	all.Wait()
}

// latencies returns where those of an operation are counted. The caller has locked.
func (r *run) latencies(operation string) *latencies {
	l := r.calls[operation]
	if l == nil {
		l = new(latencies)
		r.calls[operation] = l
	}
	return l
}

// fail records that a call has failed.
func (r *run) fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	r.errors++
	r.lastErr = err
	r.mu.Unlock()
	if refused := (*apiError)(nil); !errors.As(err, &refused) {
		time.Sleep(100 * time.Millisecond) // the server may be starting again
	}
}
