// Paired compares two servers under the same load: two programs, or one with different flags.
//
//	go run ./scripts/paired --other '--metrics-keep-minutes 0'      # with and without counting
//	go run ./scripts/paired --other-program /tmp/sluice-of-last-week --load '--fifo --batch 10' --rounds 10
//	go run ./scripts/paired --other-program /tmp/sluice-of-last-week --load '--producers 64 --consumers 0'  # sends alone
//
// It builds the program, or uses given ones, starts both servers with empty data directories, and gives them the load
// of "sluice bench" in turn, in another order in each round: drift of the machine affects both. For each it prints the
// median of messages a second and of the processor time that the server takes for a message, and then the median of the
// rounds' ratios with the least and the greatest. On a machine that has other work, the processor time is the figure to
// look at.
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

	"github.com/sluicemq/sluice/scripts/program"
)

func main() { program.Main("paired", run) }

// side is one of the two servers.
type side struct {
	program, flags string
	server         *program.Server
}

// figures are the results of a load on a server.
type figures struct {
	rate    float64 // messages a second
	message float64 // microseconds of the server a message
	call    float64 // the same a call
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	f := flag.NewFlagSet("paired", flag.ContinueOnError)
	f.SetOutput(stderr)
	var sides [2]side
	dir := f.String("dir", os.TempDir(), "directory on the disk to measure")
	duration := f.Duration("duration", 5*time.Second, "how long each load takes")
	rounds := f.Int("rounds", 7, "how often each server has the load")
	load := f.String("load", "--producers 16 --consumers 16", "flags of sluice bench")
	f.StringVar(&sides[0].flags, "one", "", "flags of serve of the one server")
	f.StringVar(&sides[1].flags, "other", "", "flags of serve of the other server")
	f.StringVar(&sides[0].program, "one-program", "", "the program of the one (default: built from here)")
	f.StringVar(&sides[1].program, "other-program", "", "the program of the other (default: that of the one)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 || *rounds < 1 || *duration <= 0 {
		return errors.New("want flags only, at least one round, and some time for each load")
	}
	if sides[0].program == "" {
		bin, failed := os.MkdirTemp("", "paired-")
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
		sides[0].program = filepath.Join(bin, "sluice")
		if err := program.Build(ctx, sides[0].program); err != nil {
			return err
		}
	}
	if sides[1].program == "" {
		sides[1].program = sides[0].program
	}
	for i := range sides {
		s := &sides[i]
		if s.server, err = program.Start(ctx, s.program, *dir, strings.Fields(s.flags)...); err != nil {
			return err
		}
		s.server.Client = sides[0].program
		defer func() { err = errors.Join(err, s.server.Stop()) }()
	}
	flags := append(strings.Fields(*load), "--duration", duration.String())
	var all [2][]figures
	for round := range *rounds {
		for i := range sides {
			i = (i + round) % len(sides)
			x, err := measure(ctx, sides[i].server, flags)
			if err != nil {
				return err
			}
			fmt.Fprintf(
				stderr,
				"round %d  %-5s  %6.0f messages/s  %6.1f µs of the server a message, %6.1f a call\n",
				round+1,
				[...]string{"one", "other"}[i],
				x.rate,
				x.message,
				x.call,
			)
			all[i] = append(all[i], x)
		}
	}
	write(stdout, *load, all)
	return nil
}

// measure puts the load on a server.
func measure(ctx context.Context, s *program.Server, flags []string) (figures, error) {
	r, err := s.Bench(ctx, flags)
	if err != nil {
		return figures{}, err
	}
	if r.Messages() == 0 {
		return figures{}, errors.New("the load has neither sent nor received messages")
	}
	cpu := float64(r.ServerCPU.Nanoseconds()) / 1e3
	return figures{
		rate:    max(r.ProducedPerSecond, r.ConsumedPerSecond),
		message: cpu / float64(r.Messages()),
		call:    cpu / float64(r.CallsMade()),
	}, nil
}

// write writes the table.
func write(w io.Writer, load string, all [2][]figures) {
	fmt.Fprintln(w, "| load | figure | one | other | one/other, round by round |")
	fmt.Fprintln(w, "|---|---|---|---|---|")
	for _, v := range []struct {
		name, format string
		of           func(figures) float64
	}{
		{"messages/s", "%.0f", func(f figures) float64 { return f.rate }},
		{"server's CPU a message", "%.1f µs", func(f figures) float64 { return f.message }},
		{"server's CPU a call", "%.1f µs", func(f figures) float64 { return f.call }},
	} {
		var one, other, ratios []float64
		for i := range all[0] {
			a, b := v.of(all[0][i]), v.of(all[1][i])
			one, other, ratios = append(one, a), append(other, b), append(ratios, a/b)
		}
		fmt.Fprintf(w, "| `%s` | %s | "+v.format+" | "+v.format+" | %.3f (%.3f to %.3f) |\n",
			load, v.name, median(one), median(other), median(ratios), slices.Min(ratios), slices.Max(ratios))
	}
}

func median(of []float64) float64 {
	of = slices.Sorted(slices.Values(of))
	n := len(of)
	return (of[(n-1)/2] + of[n/2]) / 2
}
