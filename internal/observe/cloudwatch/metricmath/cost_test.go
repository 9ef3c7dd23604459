package metricmath_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricmath"
)

// meter counts samples, and refuses more than the maximum.
type meter struct{ work, bytes, most int }

var errMost = errors.New("too much")

func (m *meter) Work(samples int) error {
	if m.work += samples; m.work > m.most {
		return errMost
	}
	return nil
}

func (m *meter) Hold(bytes int) error {
	m.bytes += bytes
	return nil
}

// wide is an Env with two metrics of 100 samples, one of 1,000, and a list of 50 series of 10 samples each.
func wide(m *meter) *metricmath.Env {
	series := func(n int, period int64) metricmath.Series {
		s := metricmath.Series{Period: period}
		for i := range int64(n) {
			s.Samples = append(s.Samples, metricmath.Sample{Time: i * period, Value: float64(i%7 + 1)})
		}
		return s
	}
	a, b, c := series(100, 600), series(100, 600), series(1000, 60)
	var list []metricmath.Series
	for range 50 {
		list = append(list, series(10, 60))
	}
	return &metricmath.Env{
		End: 60_000, Period: 60, Meter: m,
		Values: map[string]metricmath.Value{
			"a": metricmath.Of(a), "b": metricmath.Of(b), "c": metricmath.Of(c), "l": metricmath.ListOf(list),
		},
		Metrics: []metricmath.Metric{{ID: "a", Series: a}, {ID: "b", Series: b}, {ID: "c", Series: c}},
	}
}

// A window of any length is refused before memory is allocated for it.
func TestLongWindowsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"TIME_SERIES(1)", "FILL(a, 0)", "FILL(a, REPEAT)", "FILL(a, LINEAR)", "FILL(a, b)", "HOUR(a)", "EPOCH(l)",
		"a + TIME_SERIES(1)",
		"FILL(l, 1)",
	} {
		e, err := metricmath.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		env := wide(&meter{most: 1_000_000})
		env.Start, env.End = -1<<40, 1<<40
		if _, err := e.Evaluate(env); !errors.Is(err, errMost) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The sum of many steps is bounded.
func TestSumOfStepsIsBounded(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"c" + strings.Repeat("+c", 500), strings.Repeat("ABS(", 40) + "c" + strings.Repeat(")", 40),
		"l" + strings.Repeat("+c", 500),
		"SUM([c" + strings.Repeat(",c", 500) + "])",
		strings.Repeat("SORT(", 40) + "l" + strings.Repeat(",SUM,ASC)", 40),
		"SUM([" + strings.TrimSuffix(strings.Repeat("SUM(METRICS()),", 100), ",") + "])",
	} {
		e, err := metricmath.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = e.Evaluate(wide(&meter{most: 20_000})); !errors.Is(err, errMost) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

// FuzzCost looks for the most expensive expression. No expression costs more than its length allows, and no value uses
// more memory than was counted for it.
func FuzzCost(f *testing.F) {
	for _, text := range []string{
		"TIME_SERIES(1)", "SUM(METRICS()) / AVG(l)", "FILL(l, REPEAT) + FILL(c, LINEAR)", "SORT(l, SUM, DESC, 3)",
		"IF(a > 1, b, c)",
		"RATE(RUNNING_SUM(l)) ^ 2", "[a, b, c] * c", "SLICE(l, 1, 5)", "EPOCH(l) - MINUTE(l)", "DIFF(FILL(c, a))",
		"l + c", "REMOVE_EMPTY(l)",
	} {
		f.Add(text)
	}
	const most = 1 << 40
	// A step reads at most a list of 50 series and one series, each with a sample in every period.
	const step = 16 * 2 * 50 * 1000
	f.Fuzz(func(t *testing.T, text string) {
		e, err := metricmath.Parse(text)
		if err != nil || len(e.Searches()) > 0 {
			return
		}
		m := &meter{most: most}
		env := wide(m)
		v, err := e.Evaluate(env)
		if bound := step * (len(text) + 1) * max(1, strings.Count(text, ",")); m.work > bound {
			t.Errorf("%s: %d samples, want at most %d", text, m.work, bound)
		}
		if err != nil {
			return
		}
		own := 0 // what is not in env
		for _, s := range v.Series {
			if len(s.Samples) > 0 && !borrowed(env, &s.Samples[0]) {
				own += 16 * len(s.Samples)
			}
		}
		if own > m.bytes {
			t.Errorf("%s: the value has %d bytes, and %d were counted", text, own, m.bytes)
		}
	})
}

// borrowed reports whether a sample belongs to env.
func borrowed(env *metricmath.Env, p *metricmath.Sample) bool {
	for _, v := range env.Values {
		for _, s := range v.Series {
			for i := range s.Samples {
				if &s.Samples[i] == p {
					return true
				}
			}
		}
	}
	return false
}

// Allocations are counted: an expression never allocates much more than it has counted.
func TestAllocationsAreCounted(t *testing.T) {
	for _, text := range []string{
		"TIME_SERIES(1)", "SUM(METRICS())", "FILL(l, REPEAT)", "FILL(c, LINEAR)", "SORT(l, SUM, DESC)",
		"IF(c > 1, a, b)", "RATE(l)", "AVG(c)",
		"RUNNING_SUM(l)", "[a, b, c] * c", "EPOCH(l)", "FILL(c, a)", "l + c", "REMOVE_EMPTY(l)", "DATAPOINT_COUNT(l)",
		"STDDEV(l)",
	} {
		e, err := metricmath.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		m := &meter{most: 1 << 40}
		env := wide(m)
		if _, err := e.Evaluate(env); err != nil {
			t.Fatal(err)
		}
		env.Meter = nil
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := e.Evaluate(env); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := int(after.TotalAlloc - before.TotalAlloc); got > 2*m.bytes+64<<10 {
			t.Errorf("%s allocates %d bytes, and counts %d", text, got, m.bytes)
		}
	}
}
