package main

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/bench"
	"github.com/sluicemq/sluice/scripts/program"
)

// A small plan is measured from the build to the table.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and loads a server")
	}
	t.Chdir("../..")
	dir := t.TempDir()
	all := plan([]int{5000})
	connections, backlog := all[0], all[4]
	connections.points = []int{2}
	var progress bytes.Buffer
	m := &meter{dir: dir, duration: 50 * time.Millisecond, rounds: 2, progress: &progress}
	r, err := m.measure(t.Context(), []seriesOf{connections, backlog})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 4 || r.Machine.Syncs <= 0 || r.Machine.CPU == "" {
		t.Fatalf("measured %d runs on %+v", len(r.Runs), r.Machine)
	}
	for _, run := range r.Runs {
		if run.rate() <= 0 || run.Syncs <= 0 || len(run.Reports) == 0 {
			t.Errorf("%s, round %d: %+v", run.Series, run.Round, run)
		}
		v := run.Reports[0].Verdict
		if run.Series == fifoSeries && (v.Sent < 5000 || v.Received != v.Sent) {
			t.Errorf("the backlog does not add up: %+v", v)
		}
		if run.Series == sendSeries && run.Reports[0].Ceiling == nil {
			t.Error("no empty handler was measured with the sends")
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	var table strings.Builder
	if err := writeTable(&table, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table.String(), "connections: 2 |") || !strings.Contains(table.String(), "waiting: 5k |") {
		t.Error(table.String())
	}
}

// A backlog that a load would exhaust is loaded in shorter slices, and only slices that leave a part of it count.
func TestSlicesLeaveBacklog(t *testing.T) {
	const perSecond = 300_000 // many times what is expected
	var put []time.Duration
	server := func(c bench.Config) (program.Report, error) {
		put = append(put, c.Duration)
		n := min(uint64(c.Duration.Seconds()*perSecond), uint64(c.Backlog))
		return program.Report{Report: &bench.Report{Seconds: c.Duration.Seconds(), Consumed: n}}, nil
	}
	reports, err := slicesOf(bench.Config{Backlog: 10_000, Duration: time.Second}, server)
	if err != nil {
		t.Fatal(err)
	}
	run := Run{Reports: reports}
	if got := run.perSecond(func(b program.Report) uint64 { return b.Consumed }); math.Round(got) != perSecond {
		t.Errorf("%.0f messages/s, want %d", got, perSecond)
	}
	if len(reports) != maxSlices {
		t.Errorf("%d slices counted, want %d", len(reports), maxSlices)
	}

	put = nil
	reports, err = slicesOf(bench.Config{Backlog: 10_000_000, Duration: time.Second}, server)
	if err != nil || len(reports) != 1 || put[0] != time.Second {
		t.Errorf("a long backlog was loaded for %v: %v", put, err)
	}
	put = nil
	reports, err = slicesOf(bench.Config{Duration: time.Second}, server)
	if err != nil || len(reports) != 1 || put[0] != time.Second {
		t.Errorf("no backlog was loaded for %v: %v", put, err)
	}
	if _, err = slicesOf(bench.Config{Backlog: 100, Duration: time.Second}, server); err == nil {
		t.Error("a backlog that is gone at once was measured")
	}
}

func TestParseCounts(t *testing.T) {
	got, err := parseCounts("500, 10k,1M")
	if err != nil || len(got) != 3 || got[0] != 500 || got[1] != 10_000 || got[2] != 1_000_000 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "0", "-1", "1G", "k", "1k,", "99999999999", "9999999M"} {
		if got, err := parseCounts(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

func TestUnits(t *testing.T) {
	for got, want := range map[string]string{
		thousands(1234567.4): "1,234,567", thousands(999): "999", short(100_000): "100k", short(1_500_000): "1.5M",
		bytesText(100): "100 B", bytesText(64 << 10): "64 KiB", plain(significant(14345)): "14300",
		plain(significant(0.4567)): "0.46", plain(significant(1.2345)): "1.23", plain(significant(98.7)): "99",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
