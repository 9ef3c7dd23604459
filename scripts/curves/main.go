package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/scripts/program"
)

func main() { program.Main("curves", run) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("curves", flag.ContinueOnError)
	f.SetOutput(stderr)
	dir := f.String("dir", os.TempDir(), "directory on the disk to measure")
	out := f.String("out", "docs", "directory of curves.json and curves.svg")
	duration := f.Duration("duration", 5*time.Second, "how long to measure each point")
	rounds := f.Int("rounds", 1, "how often to measure each point")
	backlogs := f.String("backlogs", "10k,100k,1M", "messages waiting, for the curves against the backlog")
	redraw := f.Bool("redraw", false, "draw what curves.json holds, and measure nothing")
	if err := f.Parse(args); err != nil {
		return err
	}
	waiting, err := parseCounts(*backlogs)
	switch {
	case err != nil:
		return fmt.Errorf("--backlogs: %w", err)
	case f.NArg() > 0:
		return fmt.Errorf("%q: want flags only", f.Arg(0))
	case *duration <= 0:
		return fmt.Errorf("--duration %s: want more", *duration)
	case *rounds < 1:
		return fmt.Errorf("--rounds %d: want at least 1", *rounds)
	}

	file := filepath.Join(*out, "curves.json")
	var results *Results
	if *redraw {
		results, err = readResults(file)
	} else {
		m := &meter{dir: *dir, duration: *duration, rounds: *rounds, progress: stderr}
		if results, err = m.measure(ctx, plan(waiting)); err == nil {
			err = results.write(file)
		}
	}
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(*out, "curves.svg"), draw(results), 0o644); err != nil {
		return err
	}
	return writeTable(stdout, results)
}

// parseCounts reads "10k,100k,1M".
func parseCounts(s string) ([]int, error) {
	var counts []int
	for word := range strings.SplitSeq(s, ",") {
		digits, unit := strings.TrimSpace(word), 1
		if d, ok := strings.CutSuffix(digits, "k"); ok {
			digits, unit = d, 1_000
		} else if d, ok := strings.CutSuffix(digits, "M"); ok {
			digits, unit = d, 1_000_000
		}
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > 1_000_000_000/unit {
			return nil, fmt.Errorf("%q: want a number such as 500, 10k or 1M", word)
		}
		counts = append(counts, n*unit)
	}
	return counts, nil
}
