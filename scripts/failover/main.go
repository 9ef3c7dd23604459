// Failover measures for how long clients are without an answer when a node of a cluster dies, stops or hangs, and what
// an idle node costs.
//
//	go run ./scripts/failover                                  # ten of each
//	go run ./scripts/failover --faults kill --rounds 30        # the shards of a node that is killed
//	go run ./scripts/failover --faults stall --stall 2s --busy 30
//	go run ./scripts/failover --faults restart --rounds 3
//	go run ./scripts/failover --faults '' --idle 40s
//
// It starts three nodes on this machine, and sends to queues of all kinds through all of them all the time: a request
// every 100 ms to each queue, whether earlier ones have been answered or not. For each fault it prints the median and
// the worst of the rounds:
//
//	kill       SIGKILL of a node, until each queue has been answered again; the slowest queue counts
//	control    SIGKILL of the node that makes queues, until a queue can be made
//	partition  packets between a node and the others vanish: as for kill. It takes root on Linux
//	stop       SIGTERM of a node: the longest time in which a queue had no answer
//	stall      SIGSTOP of a node for --stall: the same, and how many shards have changed their owner
//	restart    SIGTERM and start of one node after the other, each when all is well: the same
//
// No request is repeated. For each round it prints those that failed because no process listened, because their
// connection ended, or with an error as their answer, and the last error of the latter two.
//
// The spread column is the longest time in which the queue that is on all shards had no answer. With --busy, that many
// processes keep the processors busy meanwhile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/proof/netns"
	"github.com/sluicemq/sluice/scripts/program"
)

func main() { program.Main("failover", run) }

// options select what is measured.
type options struct {
	binary, dir, flags string
	faults             []string
	rounds, busy       int
	stall, idle        time.Duration
	keep               bool
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("failover", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.binary, "program", "", "the program (default: built from here)")
	f.StringVar(&o.dir, "dir", os.TempDir(), "directory on the disk to measure")
	f.StringVar(&o.flags, "flags", "", "flags of serve")
	f.BoolVar(&o.keep, "keep", false, "keep the nodes' data and logs")
	faults := f.String("faults", "kill,control,stop,stall", "what to do: "+strings.Join(kinds, ", "))
	f.IntVar(&o.rounds, "rounds", 10, "how often each is done")
	f.DurationVar(&o.stall, "stall", time.Second, "for how long a node is stopped")
	f.IntVar(&o.busy, "busy", 0, "how many processes keep the processors busy")
	f.DurationVar(&o.idle, "idle", 0, "for how long to measure idle nodes first; 0 does not")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 || o.rounds < 1 || o.busy < 0 {
		return o, errors.New("want flags only, and at least one round")
	}
	for _, name := range strings.FieldsFunc(*faults, func(r rune) bool { return r == ',' }) {
		if !slices.Contains(kinds, name) {
			return o, fmt.Errorf("--faults %s: want some of %s", name, strings.Join(kinds, ", "))
		}
		o.faults = append(o.faults, name)
	}
	if why := netns.Missing(); why != "" && slices.Contains(o.faults, partition) {
		return o, errors.New("--faults " + partition + ": " + why)
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "failover-")
	if err != nil {
		return err
	}
	defer func() {
		if o.keep {
			fmt.Fprintln(stderr, "data and logs of the nodes:", dir)
			return
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	if o.binary == "" {
		o.binary = filepath.Join(dir, "sluice")
		if err := program.Build(ctx, o.binary); err != nil {
			return err
		}
	}
	c, err := start(ctx, o.binary, dir, strings.Fields(o.flags), slices.Contains(o.faults, partition))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.end()) }()
	if err := c.well(ctx); err != nil {
		return err
	}
	if o.idle > 0 {
		if err := c.idle(ctx, o.idle, stdout); err != nil {
			return err
		}
	}
	if len(o.faults) == 0 {
		return nil
	}
	t, err := newTraffic(ctx, c)
	if err != nil {
		return err
	}
	defer t.stop()
	for range o.busy {
		stop, err := beBusy(ctx)
		if err != nil {
			return err
		}
		defer stop()
	}
	fmt.Fprintf(
		stdout, "%-9s %6s %8s %8s %8s %8s %10s\n", "fault", "rounds", "median", "worst", "spread", "worst", "takeovers",
	)
	for _, kind := range o.faults {
		if err := measure(ctx, c, t, kind, &o, stdout, stderr); err != nil {
			return err
		}
	}
	return nil
}

// measure causes one kind of fault the given number of times, and prints the results.
func measure(ctx context.Context, c *cluster, t *traffic, kind string, o *options, stdout, stderr io.Writer) error {
	var queues, spread []time.Duration
	takeovers := 0
	for round := range o.rounds {
		r, err := c.disturb(ctx, t, kind, round, o.stall)
		if err != nil {
			return fmt.Errorf("%s, round %d: %w", kind, round, err)
		}
		fmt.Fprintf(
			stderr, "%s %s of %s: %s, spread %s, %d takeovers\n",
			r.at.Format(time.TimeOnly), kind, r.node, ms(r.queues), ms(r.spread), r.takeovers,
		)
		f := r.failed
		fmt.Fprintf(stderr, "  failed: %d found no process, %d were cut off, %d were refused: %v\n", f.away, f.cut, f.refused, f.last)
		queues, spread, takeovers = append(queues, r.queues), append(spread, r.spread), takeovers+r.takeovers
	}
	slices.Sort(queues)
	slices.Sort(spread)
	middle, last := o.rounds/2, o.rounds-1
	fmt.Fprintf(
		stdout,
		"%-9s %6d %8s %8s %8s %8s %10d\n",
		kind,
		o.rounds,
		ms(queues[middle]),
		ms(queues[last]),
		ms(spread[middle]),
		ms(spread[last]),
		takeovers,
	)
	return nil
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
