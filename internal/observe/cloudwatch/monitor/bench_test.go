package monitor_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store"
)

// BenchmarkPut stores a sample in a minute that has a thousand: either all of one value, for which only their point is
// stored, or different ones.
func BenchmarkPut(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, value := range map[string]func() float64{
		"one value": func() float64 { return 7 },
		"ten":       func() float64 { return float64(rng.IntN(10)) },
		"many":      func() float64 { return math.Exp(rng.NormFloat64()) },
	} {
		b.Run(name, func(b *testing.B) {
			s, err := store.OpenMemory(store.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			m, err := monitor.Open(monitor.Options{Control: control.New(control.Options{Store: s})})
			if err != nil {
				b.Fatal(err)
			}
			put := func(n int) {
				samples := make([]monitor.Sample, n)
				for i := range samples {
					samples[i] = monitor.Sample{ID: latency, Unit: "None", Point: series.Sample(start, value())}
				}
				if err := m.Put(b.Context(), samples); err != nil {
					b.Fatal(err)
				}
			}
			put(1000)
			for b.Loop() {
				put(1)
			}
			b.ReportMetric(float64(bytesOf(b, s)), "bytes/minute")
		})
	}
}

// bytesOf returns the size of a store's points with their keys.
func bytesOf(b *testing.B, s *store.Store) (n int) {
	b.Helper()
	if err := s.Scan([]byte("monitor/points/"), []byte("monitor/points/\xff"), func(k, v []byte) bool {
		n += len(k) + len(v)
		return true
	}); err != nil {
		b.Fatal(err)
	}
	return n
}
