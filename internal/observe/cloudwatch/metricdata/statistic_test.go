package metricdata_test

import (
	"math"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/sketch"
)

// Ten samples, 1 to 10, and two with fractions.
func TestExtendedStatistics(t *testing.T) {
	t.Parallel()
	var values []sketch.Value
	for i := 1; i <= 10; i++ {
		values = append(values, sketch.Value{Value: float64(i), Count: 1})
	}
	p := series.Point{Count: 10, Sum: 55, Min: 1, Max: 10, Samples: sketch.Of(values...)}
	for name, want := range map[string]float64{
		"p0": 1, "p0.0": 1, "p10": 1, "p10.1": 2, "p50": 5, "p50.00": 5, "p90": 9, "p99.99": 10, "p100": 10,
		"p100.0": 10,
		"tm90":   5, "TM(:90%)": 5, "TM(10%:90%)": 5.5, "TM(80%:)": 9.5, "TM(2:5)": 4, "TM(:3)": 2, "TM(8:)": 9.5,
		"IQM": 5.5, "TM(25%:75%)": 5.5,
		"wm90": 5.4, "WM(10%:90%)": 5.4, "WM(3:6)": 4.8,
		"tc90": 9, "TC(80%:)": 2, "TC(2:5)": 3, "TC(0.005:0.030)": 0,
		"ts90": 45, "TS(80%:)": 19, "TS(2:5)": 12,
		"PR(:3)": 30, "PR(3:7)": 40, "PR(9:)": 10, "PR(-5:0.5)": 0,
	} {
		s, ok := metricdata.ParseStatistic(name)
		if !ok || !s.IsExtended() || s.String() != name {
			t.Errorf("%s is %v, %t", name, s, ok)
			continue
		}
		if got, ok := s.Of(p); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s is %v, %t, want %v", name, got, ok, want)
		}
		unknown := p
		unknown.Samples = nil
		if _, known := s.Of(unknown); known != (want == 1 && name[:2] == "p0" || name == "p100" || name == "p100.0") {
			t.Errorf("%s of unknown samples is known: %t", name, known)
		}
	}
	nothing, _ := metricdata.ParseStatistic("TM(20:30)")
	if got, ok := nothing.Of(p); ok {
		t.Errorf("the mean of nothing is %v", got)
	}
}

func TestNoStatistics(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", "p", "p-1", "p101", "p100.1", "p99.12345678901", "P99", "tm", "TM", "tm101", "TM()", "TM(:)", "TM(10:90%)",
		"TM(90%:10%)", "TM(5:5)", "TM(10%)",
		"PR(10%:90%)", "pr300", "IQM()", "iqm", "sum", "TM(1:2", "TX(1:2)", "PR(1e9:)", "TM(101%:)",
	} {
		if s, ok := metricdata.ParseStatistic(name); ok {
			t.Errorf("%q is %v", name, s)
		}
	}
}

// The number of samples that a percentile needs is AWS's.
func TestEnough(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{
		"p99": 1000, "p50": 20, "p1": 1000, "p0": 0, "p100": 0, "tm90": 0, "Average": 0,
	} {
		s, _ := metricdata.ParseStatistic(name)
		if got := s.Enough(); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s needs %v", name, got)
		}
	}
}
