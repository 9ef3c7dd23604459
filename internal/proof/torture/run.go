package torture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
)

// runner is one run.
type runner struct {
	config  Config
	kinds   []kind
	out     io.Writer // for people
	clock   workload.WallClock
	cluster *cluster
	report  Report
	// counters holds the expected counts of the servers in all rounds. It is compared at the end of the last one.
	counters history.Counters

	mu      sync.Mutex
	journal *workload.Journal // of the current round
}

// Run tortures a cluster and reports the result. It writes its progress to out. Broken promises are in the report, and
// are not an error.
func Run(ctx context.Context, config Config, out io.Writer) (_ *Report, err error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	if config.Dir, err = filepath.Abs(config.Dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, err
	}
	if config.Nodes > 1 && !knows(ctx, config.Bin, "--node") {
		return nil, fmt.Errorf("%s cannot run several nodes: its serve command has no --node", config.Bin)
	}
	if config.Producers == 0 {
		config.Producers = config.Nodes
	}
	r := &runner{config: config, out: out, clock: workload.WallClock{Began: time.Now()}}
	if r.kinds, err = config.kinds(); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(r.kinds, func(k kind) bool { return k.lane == clocks }) {
		r.config.Margin += mostJump
	}
	r.report = Report{Seed: config.Seed, Nodes: config.Nodes, Faults: make(map[string]int), Calls: make(map[string]int)}
	r.say("seed %d, %d nodes in %s, faults: %s", config.Seed, config.Nodes, config.Dir, r.names())
	if r.cluster, err = newCluster(&r.config, r.surprised); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.cluster.close(), r.tidy()) }()
	if err := r.cluster.start(); err != nil {
		return nil, err
	}
	if err := r.cluster.whole(ctx, config.Patience); err != nil {
		return nil, fmt.Errorf("the cluster does not start: %w", err)
	}
	var last *history.History
	for r.report.Seconds < config.Duration.Seconds() && ctx.Err() == nil {
		length := min(config.Round, config.Duration-time.Duration(r.report.Seconds*float64(time.Second)))
		if last, err = r.round(ctx, max(length, time.Second), last); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err // the round was not judged
	}
	if err := r.cluster.stop(); err != nil {
		r.report.Violations = append(r.report.Violations, history.Violation{Rule: "stop", Text: err.Error()})
	}
	r.report.sum()
	return &r.report, nil
}

// knows reports whether the serve command of a program has a flag. Those that can be nodes of a cluster have --node,
// and those that can undo purges and deletions have --no-undo.
func knows(ctx context.Context, bin, flag string) bool {
	help, err := exec.CommandContext(ctx, bin, "serve", "--help").CombinedOutput()
	return err == nil && strings.Contains(string(help), flag+" ")
}

// undoes reports whether the servers can undo purges and deletions.
func (c *Config) undoes(ctx context.Context) bool {
	return knows(ctx, c.Bin, noUndo) && !slices.ContainsFunc(c.Serve, func(arg string) bool {
		return strings.HasPrefix(arg, noUndo)
	})
}

const noUndo = "--no-undo"

func (r *runner) names() string {
	var names []string
	for _, k := range r.kinds {
		names = append(names, k.name)
	}
	if len(names) == 0 {
		return none
	}
	return strings.Join(names, ", ")
}

// say prints what happens, with the time.
func (r *runner) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.out, "%8.2fs  %s\n", r.clock.Now().Seconds(), fmt.Sprintf(format, args...))
}

// surprised counts the servers that end by themselves. One that exits with status 1 has logged why. Any other end, such
// as a panic, is a violation.
func (r *runner) surprised(n *node, how string) {
	r.say("node %s has ended by itself: %s", n.name, how)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Exits++
	if how != "exit status 1" && r.journal != nil {
		r.journal.Note("exit", "", "", "node %s ended by itself: %s; see %s", n.name, how, filepath.Join(n.dir, "log"))
	}
}

// source returns the randomness of a part of the run.
func (r *runner) source(part uint64) *rand.Rand {
	return rand.New(rand.NewPCG(r.config.Seed, part))
}

// round uses and disturbs the cluster for a while, and judges it. last is the history of the round before.
func (r *runner) round(
	ctx context.Context, length time.Duration, last *history.History,
) (_ *history.History, err error) {
	r.report.Rounds++
	number := r.report.Rounds
	began := r.clock.Now()
	path := filepath.Join(r.config.Dir, fmt.Sprintf("round-%d.jsonl", number))
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()

	rng := r.source(uint64(number))
	users := workload.New(rng, workload.Options{
		Label: fmt.Sprintf("r%d-", number), Queues: workload.Queues(r.config.Queues),
		Topics:    workload.Topics(r.config.Queues),
		Producers: r.config.Producers, Consumers: r.config.Consumers, Patient: true, Longest: r.config.Longest,
		Clerks: clerks, Undoes: r.config.undoes(ctx),
	})
	h := &history.History{
		Queues: users.Standing(), Topics: users.Topics(), Slack: r.config.Margin, Grace: r.config.Grace,
	}
	writer := history.NewWriter(file, h)
	j := workload.NewJournal(r.clock, h, writer)
	if r.config.Nodes > 1 {
		j.Trouble("start", "shards find their owners")() // over at once, but its grace follows
	}
	carried := carriedOver(last)
	for _, c := range carried {
		j.Add(c)
	}
	r.mu.Lock()
	r.journal = j
	r.mu.Unlock()
	e := &workload.Ending{
		Recorder: &workload.Recorder{
			Journal: j, Worker: "torture", Pick: r.any(rand.New(rand.NewPCG(rng.Uint64(), 0))),
		},
		Wait: time.Second, Patience: r.config.Patience,
	}
	if number == 1 {
		if err := e.Persist(func() error { return users.Establish(e.Recorder) }); err != nil {
			return nil, err
		}
		if err := r.learn(ctx, users.Topics()); err != nil {
			return nil, err
		}
	}

	play, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	// Clients continue until the last episode is over, which may take longer than the round.
	use, stop := context.WithCancel(ctx)
	defer stop()
	working := r.employ(use, users.Workers, j, rng)
	seen, err := r.disturb(play, rand.New(rand.NewPCG(rng.Uint64(), 0)), length)
	if err == nil {
		<-play.Done()
	}
	stop()
	working.Wait()
	if err != nil {
		return nil, err
	}
	if ctx.Err() == nil {
		e.Queues = users.Queues()
		e.Quiesce()
		e.Drain()
		r.inspect(users, e)
	}
	r.counters.Add(h, h.Calls[len(carried):])
	if ctx.Err() == nil && r.report.Seconds+length.Seconds() >= r.config.Duration.Seconds() {
		if err := r.compareCounters(ctx, j); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	r.journal = nil
	r.mu.Unlock()
	if err := writer.Flush(); err != nil {
		return nil, err
	}
	if ctx.Err() == nil {
		r.judge(h, path)
	}
	r.measure(h, began, seen)
	r.report.Seconds += (min(length, r.clock.Now()-began)).Seconds()
	return h, nil
}

// employ lets workers use the cluster until ctx ends. The result waits for them.
func (r *runner) employ(
	ctx context.Context, workers []workload.Worker, j *workload.Journal, rng *rand.Rand,
) *sync.WaitGroup {
	all := new(sync.WaitGroup)
	for i, w := range workers {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		rec := &workload.Recorder{Journal: j, Worker: w.Name(), Pick: r.any(own)}
		unanswered := func() {}
		if workload.OnlySends(w) {
			n := &near{clients: r.cluster.clients, home: i}
			rec.Pick, unanswered = n.pick, func() { n.away = true }
		}
		all.Go(func() { r.work(ctx, w, rec, own, unanswered) })
	}
	return all
}

// disturb plays episodes until ctx ends, and returns those that it has played.
func (r *runner) disturb(ctx context.Context, rng *rand.Rand, length time.Duration) (seen []passed, err error) {
	for e := range episodes(rng, r.kinds, r.config.Nodes, length) {
		p, err := r.play(ctx, e)
		if err != nil || p == nil {
			return seen, err
		}
		seen = append(seen, *p)
	}
	return seen, nil
}

// clerks is the number of workers that create, change and delete resources.
const clerks = 4

// inspect looks for all resources of the round at every node.
func (r *runner) inspect(users *workload.Load, e *workload.Ending) {
	for i, c := range r.cluster.clients {
		at, recorder := *e, *e.Recorder
		recorder.Pick = func() (string, workload.Service) { return nameOf(i), c }
		at.Recorder = &recorder
		users.Inspect(&at)
	}
}

// learn waits until all nodes know the subscriptions. Nodes other than the one that creates a subscription learn of it
// a moment later, and publish without it until then.
func (r *runner) learn(ctx context.Context, topics []history.Topic) error {
	ctx, cancel := context.WithTimeout(ctx, r.config.Patience)
	defer cancel()
	for _, c := range r.cluster.clients {
		for _, t := range topics {
			for n, err := c.Subscribed(t.Name); err != nil || n < len(t.Queues); n, err = c.Subscribed(t.Name) {
				select {
				case <-ctx.Done():
					return fmt.Errorf(
						"topic %s has %d subscriptions of %d: %w", t.Name, n, len(t.Queues),
						errors.Join(err, ctx.Err()),
					)
				case <-time.After(10 * time.Millisecond):
				}
			}
		}
	}
	return nil
}

// any picks one of the nodes for each call.
func (r *runner) any(rng *rand.Rand) func() (string, workload.Service) {
	return func() (string, workload.Service) {
		i := rng.IntN(len(r.cluster.clients))
		return nameOf(i), r.cluster.clients[i]
	}
}

// near is how producers choose: each has a node, and calls the next one only after a call without an answer, so that a
// retry takes another way. When a node is gone, only its own producers wait for it. The others show whether a queue is
// gone, too.
type near struct {
	clients []*workload.Client
	home    int
	away    bool // for the next call
}

func (n *near) pick() (string, workload.Service) {
	i := n.home % len(n.clients)
	if n.away {
		i = (i + 1) % len(n.clients)
	}
	n.away = false
	return nameOf(i), n.clients[i]
}

// work lets a worker take one step after the other. It calls unanswered after a step with a call without an answer.
func (r *runner) work(
	ctx context.Context, w workload.Worker, rec *workload.Recorder, rng *rand.Rand, unanswered func(),
) {
	for ctx.Err() == nil {
		rec.Gone = false
		w.Step(rec)
		pause := r.config.Pause/2 + time.Duration(rng.Int64N(int64(r.config.Pause)+1))
		if rec.Gone {
			unanswered()
			pause += 50 * time.Millisecond // as programs wait before they repeat a call
		}
		rec.Sleep(pause)
	}
}

// passed is an episode that is over.
type passed struct {
	kinds  string // of its faults
	began  time.Duration
	healed time.Duration // when the last fault was healed
	ended  time.Duration // when all nodes were ready again
}

// play plays one episode, to its end even if ctx ends meanwhile. It returns nil if ctx ends before the episode begins.
func (r *runner) play(ctx context.Context, e episode) (*passed, error) {
	select {
	case <-ctx.Done():
		return nil, nil
	case <-time.After(e.calm):
	}
	if len(e.steps) == 0 {
		return &passed{}, nil
	}
	r.mu.Lock()
	j := r.journal
	r.mu.Unlock()
	p := &passed{began: r.clock.Now()}
	var names []string
	errs := make(chan error)
	var mu sync.Mutex
	var troubles []func()
	for _, s := range e.steps {
		names = append(names, s.kind)
		r.report.Faults[s.kind]++
		go func() {
			time.Sleep(s.after)
			r.say("%s: %s, for %v", s.kind, s.fault, s.lasts.Round(time.Millisecond))
			end := j.Trouble(s.kind, s.fault.String())
			mu.Lock()
			troubles = append(troubles, end)
			mu.Unlock()
			err := s.fault.inject(r.cluster)
			if err == nil {
				time.Sleep(s.lasts)
			}
			err = errors.Join(err, s.fault.heal(r.cluster))
			if err != nil {
				err = fmt.Errorf("%s: %s: %w", s.kind, s.fault, err)
			}
			errs <- err
		}()
	}
	var err error
	for range e.steps {
		err = errors.Join(err, <-errs)
	}
	if err != nil {
		return nil, err
	}
	p.healed = r.clock.Now()
	if err := r.cluster.healthy(context.Background(), r.config.Patience); err != nil {
		j.Note("recovery", "", "", "%s after all was healed: %v", r.config.Patience, err)
	}
	for _, end := range troubles {
		end()
	}
	p.ended = r.clock.Now()
	slices.Sort(names)
	p.kinds = strings.Join(names, "+")
	r.say("all nodes are ready, %v after the last fault was healed", (p.ended - p.healed).Round(time.Millisecond))
	// The next fault waits for this: a cluster that has lost a disk may lose another one only when the first is
	// replaced.
	if err := r.cluster.whole(context.Background(), r.config.Patience); err != nil {
		j.Note("recovery", "", "", "%s after all was healed the cluster is not whole: %v", r.config.Patience, err)
	}
	for _, s := range e.steps {
		if a, ok := s.fault.(*absence); ok && a.returned(r.cluster) {
			r.report.Returns++
		}
	}
	if more := r.clock.Now() - p.ended; more > time.Second {
		r.say("the cluster is whole, %v later", more.Round(time.Millisecond))
	}
	return p, nil
}

// carriedOver returns the calls of a round that the next one must know: those that created its queues and topics, and
// sends without an answer whose messages may still come.
func carriedOver(last *history.History) []*history.Call {
	if last == nil {
		return nil
	}
	removed := make(map[string]bool)
	for _, c := range last.Calls {
		for _, e := range c.Entries {
			if c.Operation == history.Remove && e.Outcome == history.Acknowledged {
				removed[e.Name] = true
			}
		}
	}
	standing := make(map[string]bool)
	for _, q := range last.Queues {
		standing[q.Name] = true
	}
	for _, t := range last.Topics {
		standing[t.Name] = true
	}
	var out []*history.Call
	for _, c := range last.Calls {
		switch c.Operation {
		case history.Create:
			if standing[c.Queue] && c.Outcome == history.Acknowledged {
				out = append(out, c)
			}
		case history.Send, history.Publish:
			// Some copies of a published message may be gone while others still arrive.
			mayCome := func(e *history.Entry) bool {
				return e.Outcome == history.Unknown && (c.Operation == history.Publish || !removed[e.Name])
			}
			if slices.ContainsFunc(c.Entries, mayCome) {
				late := *c
				late.Entries = nil
				for _, e := range c.Entries {
					if mayCome(e) {
						same := *e
						same.Call = &late
						late.Entries = append(late.Entries, &same)
					}
				}
				late.Outcome = history.Acknowledged // its own round has recorded that it had no answer
				out = append(out, &late)
			}
		}
	}
	return out
}

// judge adds the violations of a round to the report, and prints them.
func (r *runner) judge(h *history.History, path string) {
	violations := h.Verdict()
	r.report.Violations = append(r.report.Violations, violations...)
	r.say("round %d: %d calls, %d violations", r.report.Rounds, len(h.Calls), len(violations))
	if len(violations) == 0 {
		return
	}
	r.report.Histories = append(r.report.Histories, path)
	Tell(r.out, h, violations)
	fmt.Fprintf(r.out, "\nseed %d, history %s\n", r.config.Seed, path)
}

// mostTold is how many violations are printed.
const mostTold = 10

// Tell prints violations with the stories of their messages.
func Tell(w io.Writer, h *history.History, violations []history.Violation) {
	for i, v := range violations {
		if i == mostTold {
			fmt.Fprintf(w, "\nand %d more\n", len(violations)-mostTold)
			return
		}
		fmt.Fprintf(w, "\n%s\n", v)
		if v.Name != "" {
			fmt.Fprintf(w, "%s", h.Tell(v.Name))
		}
	}
}

// tidy removes the histories of rounds without a violation, and the nodes' data if no round had one.
func (r *runner) tidy() error {
	if r.config.Keep {
		return nil
	}
	good := len(r.report.Violations) == 0
	var err error
	for i := range r.report.Rounds {
		path := filepath.Join(r.config.Dir, fmt.Sprintf("round-%d.jsonl", i+1))
		if !slices.Contains(r.report.Histories, path) {
			err = errors.Join(err, os.Remove(path))
		}
	}
	if !good {
		return err // logs and data may say more
	}
	for _, n := range r.cluster.nodes {
		err = errors.Join(err, os.RemoveAll(n.dir))
	}
	return err
}
