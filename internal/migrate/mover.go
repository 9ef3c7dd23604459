package migrate

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Mover moves the messages of queues that both sides have.
type Mover struct {
	From, To func() (API, error) // return a new connection
	Workers  int                 // batches that are moved at a time
	Follow   bool                // continue until the context ends
	Hidden   int                 // seconds for which a message is hidden at the source while it is moved; see Hidden
	Poll     int                 // seconds that a receive at the source waits for messages
	Pause    time.Duration       // between looks at a queue without messages
	Wait     time.Duration       // how long messages that are delayed or in flight at the source are waited for
	Finish   time.Duration       // how long a batch may take to be finished after the run was stopped; see Finish
	Warn     func(string)        // is not called twice at a time, nor together with Progress
	Progress func(moved int)     // is called every ProgressInterval

	speaking sync.Mutex
}

func (m *Mover) warn(text string) {
	m.speaking.Lock()
	defer m.speaking.Unlock()
	m.Warn(text)
}

func (m *Mover) progress(moved int) {
	m.speaking.Lock()
	defer m.speaking.Unlock()
	m.Progress(moved)
}

// Hidden is for how many seconds messages should be hidden. A run that follows within four minutes of one that was
// killed then moves them again before the target forgets their deduplication ids.
const Hidden = 60

// Finish is how long a batch may take after a stop: a user who presses Ctrl-C waits for it.
const Finish = 15 * time.Second

// ProgressInterval is how often a run reports its progress.
const ProgressInterval = 5 * time.Second

// Counts is how many messages a queue has.
type Counts struct{ Available, InFlight, Delayed int }

func (c Counts) total() int { return c.Available + c.InFlight + c.Delayed }

// Result is the result of moving a queue.
type Result struct {
	Queue   string
	Moved   int
	Refused int // messages that the target does not take
	Left    int // messages at the source: refused, behind a refused one, delayed or in flight; -1 if it did not say
}

// Queue is a queue with its URLs on both sides.
type Queue struct{ Name, From, To string }

// Run moves messages until the source has none, or, with Follow, until ctx ends.
func (m *Mover) Run(ctx context.Context, queues []Queue) ([]Result, error) {
	r := &ring{follow: m.Follow, pause: m.Pause, wait: m.Wait}
	for _, q := range queues {
		r.lines = append(r.lines, &line{
			name: q.Name, from: q.From, to: q.To, fifo: strings.HasSuffix(q.Name, ".fifo"),
			refused: make(map[string]bool), blocked: make(map[string]bool),
		})
	}
	err := m.work(ctx, r)
	m.countLeft(ctx, r)
	var results []Result
	for _, l := range r.lines {
		results = append(results, Result{l.name, l.moved, len(l.refused), l.left})
	}
	return results, err
}

// countLeft asks the source how many messages it has in queues whose move was stopped.
func (m *Mover) countLeft(ctx context.Context, r *ring) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.Finish)
	defer cancel()
	from, err := m.From()
	for _, l := range r.lines {
		if l.ended {
			continue
		}
		l.left = -1
		if err != nil {
			continue
		}
		var counts Counts
		if counts, err = countsOf(ctx, from, l.from); err == nil {
			l.left = counts.total()
		}
	}
}

// work runs the workers. The first error stops all of them.
func (m *Mover) work(ctx context.Context, r *ring) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, m.Workers)
	var workers sync.WaitGroup
	for i := range m.Workers {
		from, fromErr := m.From()
		to, toErr := m.To()
		if err := errors.Join(fromErr, toErr); err != nil {
			errs[i] = err
			cancel()
			break
		}
		workers.Go(func() {
			if errs[i] = (&worker{m, r, from, to}).run(ctx); errs[i] != nil {
				cancel()
			}
		})
	}
	done := make(chan struct{})
	go func() { workers.Wait(); close(done) }()
	tick := time.NewTicker(ProgressInterval)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return errors.Join(errs...)
		case <-tick.C:
			m.progress(r.moved())
		}
	}
}

// countsOf asks how many messages a queue has.
func countsOf(ctx context.Context, api API, url string) (Counts, error) {
	attributes, err := attributesOf(ctx, api, url)
	number := func(name string) int {
		n, _ := strconv.Atoi(attributes["ApproximateNumberOfMessages"+name]) // a server that has no such number has no such messages
		return n
	}
	return Counts{number(""), number("NotVisible"), number("Delayed")}, err
}

func attributesOf(ctx context.Context, api API, url string) (map[string]string, error) {
	var out struct{ Attributes map[string]string }
	err := api.SQS(ctx, "GetQueueAttributes", map[string]any{"QueueUrl": url, "AttributeNames": []string{"All"}}, &out)
	return out.Attributes, err
}
