package alarm

import (
	"fmt"
	"strings"
)

// The comparisons with a band of expected values.
const (
	Outside Comparison = "LessThanLowerOrGreaterThanUpperThreshold"
	Below   Comparison = "LessThanLowerThreshold"
	Above   Comparison = "GreaterThanUpperThreshold"
)

// Band holds the edges of the values that are expected in a period.
type Band struct{ Low, High float64 }

// WithBand reports whether the comparison is with a band instead of a threshold.
func (c Comparison) WithBand() bool { return c == Outside || c == Below || c == Above }

// leaves reports whether a value is outside a band, on a side that the comparison looks at.
func (c Comparison) leaves(value float64, b Band) bool {
	return c != Above && value < b.Low || c != Below && value > b.High
}

// edges says in a reason what datapoints were compared with: the edges of their bands.
func (c Comparison) edges(on []Datapoint) string {
	low, high := make([]string, len(on)), make([]string, len(on))
	for i, p := range on {
		low[i], high[i] = JavaDouble(p.Band.Low), JavaDouble(p.Band.High)
	}
	var sides []string
	if c != Above {
		sides = append(sides, fmt.Sprintf("less than the lower thresholds [%s]", strings.Join(low, ", ")))
	}
	if c != Below {
		sides = append(sides, fmt.Sprintf("greater than the upper thresholds [%s]", strings.Join(high, ", ")))
	}
	return strings.Join(sides, " or ")
}
