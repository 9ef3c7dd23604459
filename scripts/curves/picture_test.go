package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/bench"
	"github.com/sluicemq/sluice/scripts/program"

	"github.com/sluicemq/sluice/scripts/svg"
)

// example returns results of the whole plan in a number of rounds, made up so
// that no two runs of a point are alike.
func example(rounds int) *Results {
	r := &Results{
		Machine: Machine{
			CPU: "A <fast> & \"small\" CPU", Cores: 2, System: "linux 6 amd64", Go: "1.26", FileSystem: "ext4",
			Syncs: 9000, Date: "2026-01-02",
		},
		Duration: 5 * time.Second, Rounds: rounds,
	}
	for round := range rounds {
		for _, s := range plan([]int{10_000, 1_000_000}) {
			for i, x := range s.points {
				n := float64(1000*(i+1)*(round+1)) * 1.5
				send, receive := "SendMessage", "ReceiveMessage"
				c := s.load(x)
				if c.Batch > 1 {
					send += "Batch"
				}
				b := program.Report{Report: &bench.Report{Seconds: 2, Produced: uint64(2 * n), Consumed: uint64(n)}}
				b.Calls = []bench.Call{{Operation: send, P50: time.Duration(n) * time.Microsecond,
					P99: time.Duration(5*n) * time.Microsecond}}
				if c.Consumers > 0 {
					b.Calls = append(b.Calls, bench.Call{Operation: receive, P50: time.Millisecond, P99: time.Second})
				}
				if s.ceiling {
					b.Ratio, b.Ceiling = .5, &bench.Report{Calls: []bench.Call{{PerSecond: 2 * n}}}
				}
				r.Runs = append(r.Runs, Run{
					Series: s.name, X: x, Round: round + 1, Syncs: 8000 + n, PeakMemory: uint64(n) << 16,
					Reports: []program.Report{b},
				})
			}
		}
	}
	return r
}

// extremes are results that a chart must survive.
func extremes() map[string]*Results {
	slow, fast := example(1), example(1)
	for i := range slow.Runs {
		b := slow.Runs[i].Reports[0].Report
		b.Produced, b.Consumed = 0, 0
		for j := range b.Calls {
			b.Calls[j].P50, b.Calls[j].P99 = 0, 0
		}
		slow.Runs[i].Reports[0].Ceiling = nil
	}
	for i := range fast.Runs {
		b := fast.Runs[i].Reports[0].Report
		b.Produced, b.Consumed = 123_456_789_012, 98_765_432_109
		for j := range b.Calls {
			b.Calls[j].P50, b.Calls[j].P99 = 3, time.Hour
		}
	}
	half := example(1)
	half.Runs = half.Runs[:3]
	return map[string]*Results{
		"usual": example(1), "rounds": example(3), "nothing": {}, "no rate": slow, "high rate": fast, "few": half,
		"one":        {Runs: example(1).Runs[:1]},
		"no reports": {Runs: []Run{{Series: sendSeries, X: 1}, {Series: sizeSeries, X: 100}}},
	}
}

func TestPictureIsWellFormed(t *testing.T) {
	for name, r := range extremes() {
		d := xml.NewDecoder(bytes.NewReader(draw(r)))
		elements, panels := 0, 0
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if start, ok := token.(xml.StartElement); ok {
				if elements++; elements == 1 &&
					start.Name != (xml.Name{Space: "http://www.w3.org/2000/svg", Local: "svg"}) {
					t.Errorf("%s: begins with %v", name, start.Name)
				}
				if start.Name.Local == "g" {
					panels++
				}
			}
		}
		if panels != 6 {
			t.Errorf("%s: %d panels", name, panels)
		}
	}
}

func TestPictureFollowsFromResults(t *testing.T) {
	first := draw(example(3))
	for range 10 {
		if !bytes.Equal(first, draw(example(3))) {
			t.Fatal("the same results were drawn differently")
		}
	}
	file := t.TempDir() + "/curves.json"
	if err := example(3).write(file); err != nil {
		t.Fatal(err)
	}
	kept, err := readResults(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, draw(kept)) {
		t.Error("results read from a file are drawn differently")
	}
}

// Every curve, its spread and its dots lie within the frame of their panel,
// and every text within the picture.
func TestCurvesLieWithinTheirFrames(t *testing.T) {
	for name, r := range extremes() {
		for i, c := range panels(r) {
			s := new(svg.Picture)
			s.Open(0, 0)
			c.draw(s)
			s.Close()
			dots := 0
			for _, e := range elementsOf(t, s.Bytes()) {
				class := e["class"]
				switch {
				case e["d"] != "" && class != "grid" && class != "axis":
					for _, p := range pathPoints(t, e["d"]) {
						within(t, fmt.Sprintf("%s, panel %d, curve %s", name, i, class), p)
					}
				case e["cx"] != "":
					dots++
					within(t, fmt.Sprintf("%s, panel %d, dot", name, i), point{float(t, e["cx"]), float(t, e["cy"])})
				case e["x"] != "":
					if p := (point{float(t, e["x"]), float(t, e["y"])}); p.x < 0 || p.x > panelWidth || p.y < 0 ||
						p.y > panelHeight {
						t.Errorf("%s, panel %d: text at %v", name, i, p)
					}
				}
			}
			want := 0
			for _, l := range c.lines {
				if l.class != "faint" {
					want += len(l.dots)
				}
			}
			if dots != want {
				t.Errorf("%s, panel %d: %d dots, want %d", name, i, dots, want)
			}
		}
	}
}

func TestPictureWithoutResults(t *testing.T) {
	text := string(draw(&Results{}))
	if n := strings.Count(text, "not measured"); n != 6 {
		t.Errorf("%d panels say that they were not measured, want 6", n)
	}
	for _, bad := range []string{"NaN", "Inf", "%!"} {
		for name, r := range extremes() {
			if strings.Contains(string(draw(r)), bad) {
				t.Errorf("%s: the picture has %s", name, bad)
			}
		}
	}
}

// The titles describe the results.
func TestTitles(t *testing.T) {
	want := []string{
		"Up to 15,000 messages/s in tens, 15,000 one by one",
		"16 connections: half within 9 ms, 99% within 45 ms",
		"10 messages a call: 4 times the throughput of 1",
		"Messages of 64 KiB: 390 MB/s in and out again",
		"With 1M waiting, 200% of the throughput with 10k",
		"380 MiB of memory with 1M waiting, 188 with 10k",
	}
	for i, c := range panels(example(3)) {
		if c.title != want[i] {
			t.Errorf("panel %d: %q, want %q", i, c.title, want[i])
		}
	}
}

func TestSpreadIsDrawnForSeveralRounds(t *testing.T) {
	if text := string(draw(example(1))); strings.Contains(text, `class="spread`) {
		t.Error("one round has a spread")
	}
	if text := string(draw(example(3))); strings.Count(text, `class="spread`) != 11 { // that of each curve
		t.Errorf("%d spreads, want 11", strings.Count(text, `class="spread`))
	}
}

func TestLogTicks(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		want      string
	}{
		{.3, 9, "[0.2 0.5 1 2 5 10]"},
		{1, 1, "[1 2]"},
		{.003, 3000, "[0.001 0.01 0.1 1 10 100 1000 10000]"},
	} {
		if got := fmt.Sprint(logTicks(test.low, test.high)); got != test.want {
			t.Errorf("logTicks(%v, %v) = %s, want %s", test.low, test.high, got, test.want)
		}
	}
}

type point struct{ x, y float64 }

func within(t *testing.T, what string, p point) {
	t.Helper()
	if p.x < frameLeft || p.x > frameRight || p.y < frameTop || p.y > frameBottom {
		t.Errorf("%s leaves the frame at %v", what, p)
	}
}

// elementsOf returns the attributes of each element.
func elementsOf(t *testing.T, text []byte) (all []map[string]string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			attributes := make(map[string]string)
			for _, a := range start.Attr {
				attributes[a.Name.Local] = a.Value
			}
			all = append(all, attributes)
		}
	}
}

var pathStep = regexp.MustCompile(`([MLV])([-\d.]+)(?: ([-\d.]+))?`)

// pathPoints returns the points of a path of M, L and V.
func pathPoints(t *testing.T, d string) (points []point) {
	t.Helper()
	if rest := pathStep.ReplaceAllString(d, ""); rest != "" {
		t.Fatalf("%q in the path %q", rest, d)
	}
	for _, m := range pathStep.FindAllStringSubmatch(d, -1) {
		if m[1] == "V" {
			points = append(points, point{points[len(points)-1].x, float(t, m[2])})
		} else {
			points = append(points, point{float(t, m[2]), float(t, m[3])})
		}
	}
	return points
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
