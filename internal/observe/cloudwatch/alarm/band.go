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

// edges describes, for a reason, what datapoints were compared with: the edges of their bands. not is "not " for those
// within.
func (c Comparison) edges(not string, on []Datapoint) string {
	low, high := thresholds(on)
	return c.sides(not+"less than the lower thresholds "+low, not+"greater than the upper thresholds "+high)
}

// farBeyond is the text of a reason for datapoints that are too many to list: the newest of them are in on.
func (c Comparison) farBeyond(not string, on []Datapoint, treated string) string {
	low, high := thresholds(on)
	return fmt.Sprintf(
		" were %s%s. Recent datapoints %s crossed the %s",
		c.sides(not+"less than the lower thresholds", not+"greater than the upper thresholds"), treated, list(on),
		c.sides("lower thresholds "+low, "upper thresholds "+high),
	)
}

// sides joins the descriptions of the edges that the comparison looks at.
func (c Comparison) sides(lower, upper string) string {
	switch c {
	case Above:
		return upper
	case Below:
		return lower
	}
	return lower + " or " + upper
}

// thresholds shows the lower and the upper edges of the bands of datapoints.
func thresholds(on []Datapoint) (lower, upper string) {
	low, high := make([]string, len(on)), make([]string, len(on))
	for i, p := range on {
		low[i], high[i] = JavaDouble(p.Band.Low), JavaDouble(p.Band.High)
	}
	return "[" + strings.Join(low, ", ") + "]", "[" + strings.Join(high, ", ") + "]"
}
