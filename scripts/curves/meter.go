package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/sluicemq/sluice/internal/bench"
	"github.com/sluicemq/sluice/scripts/program"
)

// meter measures a plan.
type meter struct {
	dir      string // directory of the data directories
	duration time.Duration
	rounds   int
	progress io.Writer
	binary   string
}

// measure goes through the plan, once in each round. It stops at the first load that was not served correctly: a curve
// of a faulty server means nothing.
func (m *meter) measure(ctx context.Context, plan []seriesOf) (_ *Results, err error) {
	bin, err := os.MkdirTemp("", "curves-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	m.binary = filepath.Join(bin, "sluice")
	if err := program.Build(ctx, m.binary); err != nil {
		return nil, err
	}
	machine, err := describeMachine(ctx, m.binary, m.dir)
	if err != nil {
		return nil, err
	}
	fmt.Fprintln(m.progress, machine)
	if machine.FileSystem == "tmpfs" {
		fmt.Fprintf(m.progress, "WARNING: %s is in memory, where a sync costs nothing; choose a disk with --dir\n", m.dir)
	}
	results := &Results{Machine: machine, Duration: m.duration, Rounds: m.rounds}
	for round := range m.rounds {
		for _, s := range plan {
			for _, x := range s.points {
				run, err := m.point(ctx, s, x)
				if ctx.Err() != nil {
					return nil, errors.New("interrupted")
				}
				if err != nil {
					return nil, fmt.Errorf("%s, %d: %w", s.name, x, err)
				}
				run.Round = round + 1
				results.Runs = append(results.Runs, run)
				fmt.Fprintf(m.progress, "round %d  %-12s %8d  %9.0f messages/s  (%.0f syncs/s)\n",
					run.Round, run.Series, run.X, run.rate(), run.Syncs)
			}
		}
	}
	return results, nil
}

// A backlog must outlast its load, or the consumers wait for the producer and
// the figure is the producer's. Short backlogs are therefore loaded several
// times, for as long as leaves a part of them.
const (
	usedUpPerSecond = 50_000 // the most that the first load is expected to remove
	leastRemainder  = 4      // the part of a backlog, 1/n, that must be left
	maxSlices       = 10
	minSlice        = 5 * time.Millisecond
)

// point measures one point on a server of its own.
func (m *meter) point(ctx context.Context, s seriesOf, x int) (Run, error) {
	syncs, err := syncRate(m.dir, syncTime)
	if err != nil {
		return Run{}, err
	}
	// Batches of ten must hold messages of 64 KiB, as on AWS.
	server, err := program.Start(ctx, m.binary, m.dir, "--max-message-size", "1048576")
	if err != nil {
		return Run{}, err
	}
	load := s.load(x)
	load.Duration = m.duration
	reports, err := slicesOf(load, func(c bench.Config) (program.Report, error) {
		return server.Bench(ctx, flagsOf(c, s.ceiling))
	})
	if err != nil {
		return Run{}, errors.Join(err, server.Stop())
	}
	run := Run{Series: s.name, X: x, Syncs: syncs, PeakMemory: server.Use().PeakMemory, Reports: reports}
	return run, server.Stop()
}

// slicesOf puts a load on the server: at once, or, if it would use up the
// backlog, in slices that do not.
func slicesOf(c bench.Config, put func(bench.Config) (program.Report, error)) (reports []program.Report, err error) {
	whole, measured := c.Duration, time.Duration(0)
	if c.Backlog > 0 {
		outlast := time.Duration(float64(c.Backlog) / usedUpPerSecond * float64(time.Second))
		c.Duration = max(minSlice, min(whole, outlast))
	}
	for measured < whole && len(reports) < maxSlices {
		r, err := put(c)
		if err != nil {
			return nil, err
		}
		left := int64(c.Backlog) + int64(r.Produced) - int64(r.Consumed)
		if c.Backlog > 0 && left < int64(c.Backlog/leastRemainder) {
			if c.Duration /= 2; c.Duration < minSlice {
				return nil, fmt.Errorf("a backlog of %d is used up too soon to measure anything", c.Backlog)
			}
			// With only the slices that were long enough by chance, the mean would be biased towards slow ones.
			reports, measured = nil, 0
			continue
		}
		reports = append(reports, r)
		measured += time.Duration(r.Seconds * float64(time.Second))
	}
	return reports, nil
}
