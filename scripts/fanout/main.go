package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/scripts/program"
)

func main() { program.Main("fanout", run) }

// options are the values of the flags.
type options struct {
	dir                   string
	duration              time.Duration
	clients, size         int
	envelope              bool
	queues                []int
	topics, subscriptions int
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	f := flag.NewFlagSet("fanout", flag.ContinueOnError)
	f.SetOutput(stderr)
	var o options
	f.StringVar(&o.dir, "dir", os.TempDir(), "directory on the disk to measure")
	f.DurationVar(&o.duration, "duration", 5*time.Second, "how long to measure each")
	f.IntVar(&o.clients, "clients", 8, "connections")
	f.IntVar(&o.size, "size", 1024, "bytes of a message")
	f.BoolVar(&o.envelope, "envelope", false, "with envelopes instead of raw delivery")
	queues := f.String("queues", "1,10,100", "queues of a topic")
	f.IntVar(&o.topics, "topics", 0, "other topics that exist meanwhile")
	f.IntVar(&o.subscriptions, "subscriptions", 10, "subscriptions of each of these")
	if err := f.Parse(args); err != nil {
		return err
	}
	for word := range strings.SplitSeq(*queues, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return fmt.Errorf("--queues: %q: want a number", word)
		}
		o.queues = append(o.queues, n)
	}
	s, err := start(ctx, o.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if o.topics > 0 {
		if err := crowd(s, &o, stdout); err != nil {
			return err
		}
	}
	fmt.Fprintln(stdout, "| queues | by | messages/s | p50 | p99 | server's CPU a message | and the client's |")
	fmt.Fprintln(stdout, "|---|---|---|---|---|---|---|")
	for _, n := range o.queues {
		if err := compare(ctx, s, &o, n, stdout); err != nil {
			return err
		}
	}
	return nil
}

// compare measures both ways for this many queues.
func compare(ctx context.Context, s *server, o *options, n int, out io.Writer) error {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("q%d-%d", n, i))
	}
	topic := fmt.Sprint("t", n)
	if err := s.establish(topic, names, !o.envelope); err != nil {
		return err
	}
	body := strings.Repeat("x", o.size)
	var next atomic.Uint64
	ways := []struct {
		name string
		each int // messages in queues for each call
		call func() error
	}{
		{"Publish", n, func() error { return s.publish(topic, body) }},
		{"SendMessage", 1, func() error { return s.send(names[next.Add(1)%uint64(n)], body) }},
	}
	for _, way := range ways {
		m, err := measure(ctx, s, o, way.call)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		messages := float64(len(m.took) * way.each)
		fmt.Fprintf(out, "| %d | %s | %.0f | %.1f ms | %.1f ms | %.1f µs | %.1f µs |\n", n, way.name, messages/m.elapsed.Seconds(),
			m.quantile(50), m.quantile(99), float64(m.cpu.Microseconds())/messages,
			float64(m.own.Microseconds())/messages)
	}
	return nil
}

// measurement is the result of the calls of a span.
type measurement struct {
	took    []time.Duration // of each call, sorted
	elapsed time.Duration
	cpu     time.Duration // of the server
	own     time.Duration // of the clients
}

func (m *measurement) quantile(percent int) float64 {
	if len(m.took) == 0 {
		return 0
	}
	return float64(m.took[(len(m.took)-1)*percent/100].Microseconds()) / 1000
}

// measure lets the clients make calls.
func measure(ctx context.Context, s *server, o *options, call func() error) (*measurement, error) {
	m := &measurement{}
	var mu sync.Mutex
	var failed error
	var all sync.WaitGroup
	used, own, began := s.Use().CPU, program.UseOf(os.Getpid()).CPU, time.Now()
	for range o.clients {
		all.Go(func() {
			var own []time.Duration
			for ctx.Err() == nil && time.Since(began) < o.duration {
				from := time.Now()
				if err := call(); err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				own = append(own, time.Since(from))
			}
			mu.Lock()
			m.took = append(m.took, own...)
			mu.Unlock()
		})
	}
	all.Wait()
	m.elapsed, m.cpu, m.own = time.Since(began), s.Use().CPU-used, program.UseOf(os.Getpid()).CPU-own
	slices.Sort(m.took)
	return m, errors.Join(failed, ctx.Err())
}

// crowd creates many topics with subscriptions, and prints the cost.
func crowd(s *server, o *options, out io.Writer) error {
	const crowdQueues = 100
	var names []string
	for i := range crowdQueues {
		names = append(names, fmt.Sprint("crowd", i))
		if err := s.queue(names[i]); err != nil {
			return err
		}
	}
	before, began := s.Use().Memory, time.Now()
	work := make(chan int)
	errs := make(chan error, o.clients)
	for range o.clients {
		go func() {
			var failed error
			for i := range work {
				var own []string
				for k := range o.subscriptions {
					own = append(own, names[(i+k)%crowdQueues])
				}
				if failed == nil {
					failed = s.topic(fmt.Sprint("crowd", i), own, true)
				}
			}
			errs <- failed
		}()
	}
	for i := range o.topics {
		work <- i
	}
	close(work)
	for range o.clients {
		if err := <-errs; err != nil {
			return err
		}
	}
	fmt.Fprintf(
		out,
		"%d topics with %d subscriptions: made in %.0f s, %.0f MiB of memory more than before\n\n",
		o.topics,
		o.topics*o.subscriptions,
		time.Since(began).Seconds(),
		(float64(s.Use().Memory)-float64(before))/(1<<20),
	)
	return nil
}
