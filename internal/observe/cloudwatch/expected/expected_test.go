package expected_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/expected"
)

func TestBand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		earlier   []float64
		low, high float64
	}{
		{"constant", []float64{100, 100, 100}, 98, 102},
		{"zero", []float64{0, 0, 0, 0}, 0, 0},
		{"symmetric", []float64{12, 8, 10, 9, 11}, 10 - 2*1.4826, 10 + 2*1.4826},
		{"an outlier", []float64{12, 8, 10, 9, 11, 10, 5000}, 10 - 2*1.4826, 10 + 2*1.4826},
		{"mostly the same", []float64{0, 0, 0, 0, 10}, -2 * 1.2533 * 2, 2 * 1.2533 * 2},
	} {
		low, high, ok := expected.Band(c.earlier, 2)
		if !ok || math.Abs(low-c.low) > 1e-9 || math.Abs(high-c.high) > 1e-9 {
			t.Errorf("%s: from %v to %v, want %v to %v", c.name, low, high, c.low, c.high)
		}
	}
	if _, _, ok := expected.Band([]float64{1, 2}, 2); ok {
		t.Error("two values are enough")
	}
}

// For normally distributed values, the band spans two deviations on each side, and a tenth of outliers changes little.
func TestBandOfNoise(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // so that the test is repeatable
	values := make([]float64, 1000)
	for i := range values {
		if values[i] = 50 + 5*random.NormFloat64(); i%10 == 0 {
			values[i] *= 100
		}
	}
	low, high, _ := expected.Band(values, 2)
	if math.Abs(low-40) > 3 || math.Abs(high-60) > 3 {
		t.Errorf("from %v to %v, want about 40 to 60", low, high)
	}
}
