package monitor_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/sketch"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

var latency = series.ID{Scope: scope, Namespace: "Workers", Metric: "Latency"}

// put adds samples of a metric, one after the other.
func (r *rig) put(points ...series.Point) {
	r.Helper()
	for _, p := range points {
		if err := r.Put(r.Context(), []monitor.Sample{{ID: latency, Unit: "None", Point: p, Fine: true}}); err != nil {
			r.Fatal(err)
		}
	}
}

// percentile returns a percentile of each period of a window, or "?" where it is unknown.
func (r *rig) percentile(name string, from time.Time, window, period time.Duration) string {
	r.Helper()
	points, err := r.Reader(r.metrics).ReadSamples(r.Context(), latency, from, from.Add(window), period)
	if err != nil {
		r.Fatal(err)
	}
	s, _ := metricdata.ParseStatistic(name)
	var out []string
	for _, p := range points {
		if v, ok := s.Of(p); ok {
			out = append(out, fmt.Sprint(v))
		} else {
			out = append(out, "?")
		}
	}
	return strings.Join(out, " ")
}

func (r *rig) wantPercentile(name string, from time.Time, window, period time.Duration, want string) {
	r.Helper()
	if got := r.percentile(name, from, window, period); got != want {
		r.Errorf("%s from %v in periods of %s: %s, want %s", name, from, period, got, want)
	}
}

// sketches returns the keys and the size of the stored samples.
func (r *rig) sketches() (keys []string, bytes int) {
	r.Helper()
	if err := r.store.Scan([]byte("monitor/points/sketches/"), []byte("monitor/points/sketches/\xff"),
		func(k, v []byte) bool {
			keys = append(keys, string(k))
			bytes += len(v)
			return true
		}); err != nil {
		r.Fatal(err)
	}
	return keys, bytes
}

// Percentiles of samples that were put singly or with their numbers, of a minute, of more, and of seconds.
func TestSamples(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	at := start.Truncate(time.Hour)
	r.put(series.Sample(at, 1), series.Sample(at, 1))
	if keys, _ := r.sketches(); len(keys) != 0 {
		t.Errorf("samples of one value are stored: %v", keys)
	}
	r.put(series.Sample(at.Add(time.Second), 5), series.Sample(at.Add(time.Second), 9))
	counted := []sketch.Value{{Value: 2, Count: 3}, {Value: 4, Count: 1}}
	r.put(series.Point{Time: at.Add(time.Minute), Count: 4, Sum: 10, Min: 2, Max: 4, Samples: sketch.Of(counted...)})
	r.put(series.Sample(at.Add(2*time.Minute), 7))
	r.put(series.Sample(at.Add(61*time.Minute), 8), series.Sample(at.Add(61*time.Minute), 3))
	r.restart()
	r.wantPercentile("p50", at, 2*time.Hour, time.Minute, "1 2 7 3")
	r.wantPercentile("p75", at, 2*time.Hour, time.Minute, "5 2 7 8")
	r.wantPercentile("TC(:2)", at, 2*time.Hour, 5*time.Minute, "5 0")
	r.wantPercentile("p90", at, 2*time.Hour, 2*time.Hour, "8")
	r.wantPercentile("p50", at, time.Minute, time.Second, "1 5")
	r.wantPercentile("p90", at, time.Minute, 10*time.Second, "9")
	if _, problems, err := monitor.Check(r.store); err != nil || len(problems) > 0 {
		t.Errorf("%v, %q", err, problems)
	}
}

// Samples are unknown where a statistic set adds others, where some are below zero, and where an older program has
// added some.
func TestUnknownSamples(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	at := start.Truncate(time.Hour)
	set := series.Point{Count: 2, Sum: 10, Min: 4, Max: 6}
	same := series.Point{Count: 2, Sum: 10, Min: 5, Max: 5}
	for i, points := range [][]series.Point{
		{series.Sample(at, 1), series.Sample(at, 2), set, series.Sample(at, 3)},
		{set, series.Sample(at, 3)},
		{series.Sample(at, 1), same, series.Sample(at, 7)},
		{series.Sample(at, 1), series.Sample(at, -2)},
	} {
		for _, p := range points {
			p.Time = at.Add(time.Duration(i) * time.Minute)
			r.put(p)
		}
	}
	r.wantPercentile("p50", at, time.Hour, time.Minute, "? ? 5 ?")
	r.wantPercentile("p50", at, time.Hour, time.Hour, "?")
	before, _ := r.sketches()
	for _, k := range before {
		if strings.HasSuffix(k, fmt.Sprintf("%08x", at.Unix()/60)) {
			t.Errorf("unknown samples are stored: %s", k)
		}
	}

	at = at.Add(10 * time.Minute)
	r.put(series.Sample(at, 1), series.Sample(at, 2))
	r.wantPercentile("p50", at, time.Minute, time.Minute, "1")
	kept := r.record("monitor/points/sketches/minutes/")
	r.put(series.Sample(at, 3))
	r.setRecord(kept)
	r.wantPercentile("p50", at, time.Minute, time.Minute, "?")
	r.put(series.Sample(at, 4))
	r.wantPercentile("p50", at, time.Minute, time.Minute, "?")
}

// record returns the last record whose key has that beginning.
func (r *rig) record(prefix string) (last [2][]byte) {
	r.Helper()
	if err := r.store.Scan([]byte(prefix), []byte(prefix+"\xff"), func(k, v []byte) bool {
		last = [2][]byte{append([]byte(nil), k...), append([]byte(nil), v...)}
		return true
	}); err != nil {
		r.Fatal(err)
	}
	return last
}

func (r *rig) setRecord(kept [2][]byte) {
	r.Helper()
	tx := r.store.Begin()
	defer tx.Release()
	tx.Set(kept[0], kept[1])
	if err := r.store.Commit(tx); err != nil {
		r.Fatal(err)
	}
}

// Samples are removed when they are too old: those of seconds before those of minutes.
func TestSweepSamples(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for hour := range 3 {
		at := start.Add(time.Duration(hour) * 5 * 24 * time.Hour)
		r.put(series.Sample(at, 1), series.Sample(at, 2))
	}
	steps := []struct {
		after time.Duration
		want  int
	}{{10 * 24 * time.Hour, 4}, {10*24*time.Hour + 5*time.Hour, 3}, {16 * 24 * time.Hour, 2}, {26 * 24 * time.Hour, 0}}
	for _, step := range steps {
		if err := r.Sweep(r.Context(), start.Add(step.after)); err != nil {
			t.Fatal(err)
		}
		if keys, _ := r.sketches(); len(keys) != step.want {
			t.Errorf("after %s there are %d: %v", step.after, len(keys), keys)
		}
	}
}

// manySamples have the maximum size of samples.
func manySamples() *sketch.Sketch {
	many := make([]sketch.Value, 1000)
	for i := range many {
		v := 1e-3 * float64(uint64(1)<<(i%50)) * (1 + float64(i)/1000)
		many[i] = sketch.Value{Value: v, Count: 1e15 + float64(i)}
	}
	return sketch.Of(many...)
}

// fill stores n points of an hour, starting with the given minute.
func (r *rig) fill(p series.Point, from, n int, account string, at time.Time) {
	r.Helper()
	var batch []monitor.Sample
	for i := range n {
		s := monitor.Sample{ID: latency, Unit: "None", Point: p}
		s.ID.Account, s.ID.Metric, s.Point.Time = account, fmt.Sprint("m", (from+i)/60),
			at.Add(time.Duration((from+i)%60)*time.Minute)
		batch = append(batch, s)
	}
	if err := r.Put(r.Context(), batch); err != nil {
		r.Fatal(err)
	}
}

// The total size of an account's samples is limited, too, at any age. A sweep makes room for new ones.
func TestRoomForBackfilledSamples(t *testing.T) {
	t.Parallel()
	const most = 3 << 20
	r := newRig(t)
	r.LimitSamples(most)
	samples := manySamples()
	p := series.Point{Count: samples.Count(), Sum: 1, Min: 1e-3, Max: 1e15, Samples: samples}
	now := start.Truncate(time.Hour)
	for day := range 14 {
		r.fill(p, 0, 120, scope.Account, now.Add(time.Duration(day-14)*24*time.Hour))
	}
	keys, bytes := r.sketches()
	if bytes > most || bytes < most-sketch.MaxRecord {
		t.Errorf("%d bytes are stored", bytes)
	}
	r.fill(p, 0, 1, "000000000001", now)
	if after, _ := r.sketches(); len(after) != len(keys)+1 {
		t.Errorf("%d more of another account", len(after)-len(keys))
	}
	if err := r.store.Reclaim(); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "samples on the disk", func() bool {
		n, err := r.store.DiskUse([]byte("monitor/points/sketches/"), []byte("monitor/points/sketches/\xff"))
		return err != nil || n > 0
	})
	if err := r.Sweep(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	before, _ := r.sketches()
	r.fill(p, 0, 60, scope.Account, now)
	if after, _ := r.sketches(); len(after) != len(before)+60 || before[0] <= keys[0] {
		t.Errorf("after a sweep there are %d, and then %d", len(before), len(after))
	}
}

// The size of an account's samples of an hour is limited. Beyond it, samples are counted, but unknown. The next hour
// has its own limit, and so has another account.
func TestRoomForSamples(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	at := start.Truncate(time.Hour)
	samples := manySamples()
	p := series.Point{Count: samples.Count(), Sum: 1, Min: 1e-3, Max: 1e15, Samples: samples}
	fill := func(from, n int, account string, at time.Time) { r.fill(p, from, n, account, at) }
	const all = 1200
	fill(0, all, scope.Account, at)
	keys, bytes := r.sketches()
	if len(keys) == all || bytes > 4<<20 || bytes < 4<<20-sketch.MaxRecord {
		t.Errorf("%d of %d, with %d bytes", len(keys), all, bytes)
	}
	r.restart()
	fill(all, 60, scope.Account, at)
	if after, _ := r.sketches(); len(after) != len(keys) {
		t.Errorf("%d more after a restart", len(after)-len(keys))
	}
	fill(0, 1, scope.Account, at.Add(time.Hour))
	fill(0, 1, "000000000001", at)
	if after, _ := r.sketches(); len(after) != len(keys)+2 {
		t.Errorf("%d more of another hour and another account", len(after)-len(keys))
	}
	id := latency
	id.Metric = fmt.Sprint("m", all/60-1)
	points, err := r.Reader(r.metrics).ReadSamples(t.Context(), id, at, at.Add(time.Hour), time.Minute)
	if err != nil || len(points) != 60 || points[59].Samples != nil || points[59].Count != p.Count {
		t.Errorf("the last metric has %d points, %v", len(points), err)
	}
}
