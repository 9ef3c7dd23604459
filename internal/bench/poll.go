package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	pollSeconds = 20 // the longest poll there is
	// pollsArrive is the time for the polls to reach the server before the measurement begins.
	pollsArrive = time.Second
	// pollPatience is the time within which a message must arrive.
	pollPatience = 30 * time.Second
	// atOnce is how many connections are opened, and queues made, at a time.
	atOnce = 32
	// pollBuffer is just large enough for the answer to a poll, because there are many.
	pollBuffer = 4 << 10
)

// PollReport is the result of a measurement with many idle long polls.
type PollReport struct {
	Pollers        int
	Queues         int
	ConnectSeconds float64 // until all polls waited
	Seconds        float64 // of the measurement
	Sent           uint64  // messages, one at a time
	Lost           uint64  // of these, never received
	Send           Call    // the calls that sent them
	Arrival        Call    // from the beginning of the send to the poller's having the message
	ServerMemory   int64   `json:",omitempty"` // resident bytes of the server while all polls wait
	Errors         uint64
	LastError      string `json:",omitempty"`
}

// polling is a measurement in progress.
type polling struct {
	*run
	urls    []string
	asked   atomic.Int64 // pollers that have made their first call
	arrived chan uint64  // numbers of messages
}

// RunPollers opens many long polls and sends one message after the other: how long does a message take to reach its
// poller while the server only keeps the others waiting?
func RunPollers(ctx context.Context, c Config, w io.Writer) (*PollReport, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	p := &polling{run: newRun(c), urls: make([]string, c.Queues), arrived: make(chan uint64, 1)}
	began := time.Now()
	defer p.removeQueues(ctx)
	if err := p.makeQueues(ctx); err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "%d queues made in %s\n", c.Queues, time.Since(began).Round(time.Millisecond))

	polls, cancel := context.WithCancel(ctx)
	var pollers sync.WaitGroup
	defer pollers.Wait()
	defer cancel()
	began = time.Now()
	opening := make(chan struct{}, atOnce)
	for i := range c.Pollers {
		pollers.Go(func() { p.poll(polls, p.urls[i%c.Queues], opening) })
	}
	if err := p.awaitPolls(ctx); err != nil {
		return nil, err
	}
	report := &PollReport{Pollers: c.Pollers, Queues: c.Queues, ConnectSeconds: time.Since(began).Seconds()}
	fmt.Fprintf(w, "%d polls wait after %s\n", c.Pollers, time.Since(began).Round(time.Millisecond))
	report.ServerMemory = residentMemory(c.ServerPID)
	if err := p.measure(ctx, report); err != nil {
		return nil, err
	}
	return report, ctx.Err()
}

// each runs f for all queues, some at a time, until one fails.
func (p *polling) each(f func(c *client, queue int) error) error {
	var all sync.WaitGroup
	var next atomic.Int64
	failed := make([]error, atOnce)
	for i := range atOnce {
		all.Go(func() {
			c, err := newClient(p.Target)
			if err != nil {
				failed[i] = err
				return
			}
			defer c.close()
			for queue := int(next.Add(1)) - 1; queue < len(p.urls) && failed[i] == nil; queue = int(next.Add(1)) - 1 {
				failed[i] = f(c, queue)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

func (p *polling) makeQueues(ctx context.Context) error {
	return p.each(func(c *client, queue int) error {
		in := fmt.Appendf(
			nil,
			`{"QueueName":"sluice-bench-%s-%d","Attributes":{"MaximumMessageSize":"1048576"},"tags":{"purpose":"sluice-bench"}}`,
			p.id,
			queue,
		)
		answer, err := c.call(ctx, "CreateQueue", in)
		if err != nil {
			return err
		}
		var out struct{ QueueUrl string }
		if err := json.Unmarshal(answer, &out); err != nil {
			return fmt.Errorf("CreateQueue: %w", err)
		}
		p.urls[queue] = out.QueueUrl
		return nil
	})
}

// removeQueues is best effort: the queues' names and tags say what they were for.
func (p *polling) removeQueues(ctx context.Context) {
	_ = p.each(func(c *client, queue int) error {
		if p.urls[queue] != "" {
			_, _ = c.call(context.WithoutCancel(ctx), "DeleteQueue", fmt.Appendf(nil, `{"QueueUrl":%q}`, p.urls[queue]))
		}
		return nil
	})
}

// poll is one poller. It polls again after each answer.
func (p *polling) poll(ctx context.Context, url string, opening chan struct{}) {
	c, err := newClient(p.Target)
	if err != nil {
		p.fail(ctx, err)
		return
	}
	defer c.close()
	c.readBuffer = pollBuffer
	ask := fmt.Appendf(nil, `{"QueueUrl":%q,"WaitTimeSeconds":%d}`, url, pollSeconds)
	for first := true; ctx.Err() == nil; {
		if c.conn == nil {
			opening <- struct{}{}
			err := c.open(ctx)
			<-opening
			if err != nil {
				p.fail(ctx, err)
				continue
			}
		}
		if first {
			p.asked.Add(1)
			first = false
		}
		answer, err := c.call(ctx, "ReceiveMessage", ask)
		if err != nil {
			p.fail(ctx, err)
			continue
		}
		messages, err := parseMessages(answer)
		if err != nil {
			p.fail(ctx, err)
			continue
		}
		for _, m := range messages {
			if number, ok := p.numberIn(m.body); ok {
				select {
				case p.arrived <- number:
				default: // no worker waits for it any more
				}
			}
			if _, err := c.call(
				ctx, "DeleteMessage", fmt.Appendf(nil, `{"QueueUrl":%q,"ReceiptHandle":%q}`, url, m.handle),
			); err != nil {
				p.fail(ctx, err)
			}
		}
	}
}

// numberIn returns the number of a message of this run.
func (p *polling) numberIn(body string) (uint64, bool) {
	run, rest, _ := strings.Cut(body, " ")
	_, rest, _ = strings.Cut(rest, " ") // the producer
	text, _, _ := strings.Cut(rest, " ")
	number, err := strconv.ParseUint(text, 10, 64)
	return number, err == nil && run == p.id
}

// awaitPolls waits until all polls wait.
func (p *polling) awaitPolls(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for p.asked.Load() < int64(p.Pollers) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		p.mu.Lock()
		failed, err := p.errors, p.lastErr
		p.mu.Unlock()
		if failed > uint64(p.Pollers) {
			return fmt.Errorf("the pollers cannot connect: %w", err)
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollsArrive):
		return nil
	}
}

// measure sends a message to one queue after the other, each when the one before
// has arrived.
func (p *polling) measure(ctx context.Context, report *PollReport) error {
	c, err := newClient(p.Target)
	if err != nil {
		return err
	}
	defer c.close()
	var sends, arrivals latencies
	began := time.Now()
	for number := uint64(0); ctx.Err() == nil && time.Since(began) < p.Duration; number++ {
		in := fmt.Appendf(nil, `{"QueueUrl":%q,"MessageBody":"`, p.urls[number%uint64(len(p.urls))])
		in = append(appendBody(in, p.id, 0, number, 0, p.Size), `"}`...)
		sent := time.Now()
		if _, err := c.call(ctx, "SendMessage", in); err != nil {
			p.fail(ctx, err)
			continue
		}
		sends.add(time.Since(sent))
		report.Sent++
		if at, ok := p.await(ctx, number); ok {
			arrivals.add(at.Sub(sent))
		} else if ctx.Err() == nil {
			report.Lost++
		}
	}
	took := time.Since(began)
	report.Seconds = took.Seconds()
	report.Send, report.Arrival = sends.call("SendMessage", took), arrivals.call("arrival", took)
	p.mu.Lock()
	defer p.mu.Unlock()
	report.Errors = p.errors
	if p.lastErr != nil {
		report.LastError = p.lastErr.Error()
	}
	return nil
}

// await waits for a message to arrive.
func (p *polling) await(ctx context.Context, number uint64) (time.Time, bool) {
	late := time.NewTimer(pollPatience)
	defer late.Stop()
	for {
		select {
		case n := <-p.arrived:
			if n == number {
				return time.Now(), true
			}
		case <-late.C:
			return time.Time{}, false
		case <-ctx.Done():
			return time.Time{}, false
		}
	}
}

// Faults describes the faults of the queues; "" means none.
func (r *PollReport) Faults() string {
	if r.Lost > 0 {
		return fmt.Sprintf("%d of %d messages did not reach a poller within %s", r.Lost, r.Sent, pollPatience)
	}
	return ""
}

// Print writes the report as a table.
func (r *PollReport) Print(w io.Writer) {
	fmt.Fprintf(w, "\n%.1f s: %d messages sent one at a time to %d polls on %d queues, %d lost\n\n",
		r.Seconds, r.Sent, r.Pollers, r.Queues, r.Lost)
	printCalls(w, []Call{r.Send, r.Arrival})
	if r.ServerMemory > 0 {
		fmt.Fprintf(w, "\nthe server took %d MiB of memory while all polls waited\n", r.ServerMemory>>20)
	}
	printErrors(w, r.Errors, r.LastError)
}
