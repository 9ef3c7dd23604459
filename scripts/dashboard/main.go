package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/proof/freeport"
	"github.com/sluicemq/sluice/scripts/program"
	"github.com/sluicemq/sluice/scripts/prometheus"
)

const (
	dashboard = "deploy/grafana/dashboards/sluice.json"
	results   = "docs/dashboard.json"
	picture   = "docs/dashboard.svg"

	scrapeInterval = 5 * time.Second
	step           = 5 * time.Second
	rateInterval   = 4 * scrapeInterval // as Grafana's $__rate_interval
)

func main() { program.Main("dashboard", run) }

func run(ctx context.Context, args []string, _, stderr io.Writer) error {
	f := flag.NewFlagSet("dashboard", flag.ContinueOnError)
	f.SetOutput(stderr)
	redraw := f.Bool("redraw", false, "draw the results of the last time again")
	duration := f.Duration("duration", 12*time.Minute, "how long to use the server")
	if err := f.Parse(args); err != nil {
		return err
	}
	if !*redraw {
		shown, err := measure(ctx, *duration)
		if err != nil {
			return err
		}
		if err := write(results, shown); err != nil {
			return err
		}
	}
	var shown Shown
	b, err := os.ReadFile(results)
	if err == nil {
		err = json.Unmarshal(b, &shown)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(picture, draw(&shown), 0o644) //nolint:gosec // it is a part of the documentation
}

// Shown is the content of the dashboard.
type Shown struct {
	Date   string
	From   float64 // in seconds since 1970
	To     float64
	Panels []Panel
}

// Panel is a panel with the answers to its queries.
type Panel struct {
	Title, Type, Unit string
	X, Y, W, H        int
	Lines             []Line
}

// Line is a series that a panel shows: a value for each point, at the time this many seconds after Shown.From.
type Line struct {
	Name   string
	Times  []float64
	Values []float64
}

func write(file string, shown *Shown) error {
	b, err := json.Marshal(shown)
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(string(b), `},{"Title"`, "},\n"+`{"Title"`) + "\n"
	return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // it is a part of the documentation
}

// measure uses a server for a while and asks what the dashboard shows of it.
func measure(ctx context.Context, duration time.Duration) (shown *Shown, err error) {
	dir, err := os.MkdirTemp("", "sluice-dashboard-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary := filepath.Join(dir, "sluice")
	if err := program.Build(ctx, binary); err != nil {
		return nil, err
	}
	addresses, err := freeport.Take(1)
	if err != nil {
		return nil, err
	}
	s, err := program.Start(
		ctx,
		binary,
		dir,
		"--metrics-listen",
		addresses[0],
		"--root-access-key-id",
		keyID,
		"--root-secret-access-key",
		secret,
	)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	p, err := prometheus.Start(ctx, dir, addresses[0], scrapeInterval)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	from := time.Now()
	if err := use(ctx, s.Endpoint, duration); err != nil {
		return nil, err
	}
	return ask(ctx, p, from, time.Now())
}

// ask asks what the dashboard shows. The panels about clusters show nothing for a single server and are omitted.
func ask(ctx context.Context, p *prometheus.Server, from, to time.Time) (*Shown, error) {
	panels, err := prometheus.Panels(dashboard)
	if err != nil {
		return nil, err
	}
	shown := &Shown{Date: from.UTC().Format(time.DateOnly), From: float64(from.Unix()), To: float64(to.Unix())}
	for _, panel := range panels {
		out := Panel{
			Title: panel.Title, Type: panel.Type, Unit: panel.FieldConfig.Defaults.Unit,
			X: panel.GridPos.X, Y: panel.GridPos.Y, W: panel.GridPos.W, H: panel.GridPos.H,
		}
		for _, target := range panel.Targets {
			series, err := p.Range(ctx, target.Query(rateInterval), from, to, step)
			if err != nil {
				return nil, err
			}
			for _, one := range series {
				line := Line{Name: target.Legend(one)}
				for _, point := range one.Points {
					if !math.IsNaN(point.Value) && !math.IsInf(point.Value, 0) {
						line.Times = append(line.Times, point.Time-shown.From)
						line.Values = append(line.Values, rounded(point.Value))
					}
				}
				if len(line.Values) > 0 {
					out.Lines = append(out.Lines, line)
				}
			}
		}
		if len(out.Lines) > 0 {
			shown.Panels = append(shown.Panels, out)
		}
	}
	return shown, nil
}

// rounded returns v to four digits.
func rounded(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return r
}
