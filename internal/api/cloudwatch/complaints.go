package cloudwatch

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// complaints collects the mistakes in the parameters of a request, one per line. As on AWS, an error lists all mistakes
// with its code: missing parameters come before values, and those before combinations.
type complaints struct{ missing, values, combinations []string }

// mostComplaints is the maximum number of lines in an error.
const mostComplaints = 100

func complain(lines *[]string, format string, args ...any) {
	if len(*lines) < mostComplaints {
		*lines = append(*lines, fmt.Sprintf(format, args...))
	}
}

// require checks that a parameter is present and not empty.
func (c *complaints) require(name string, text *string) bool {
	if text == nil || *text == "" {
		complain(&c.missing, "The parameter %s is required.", name)
		return false
	}
	return true
}

// number checks that a number is one that CloudWatch accepts.
func (c *complaints) number(name string, n float64) bool {
	if math.IsNaN(n) || math.Abs(n) > mostValue {
		complain(&c.values, "The value %s for parameter %s is invalid.", alarm.JavaDouble(n), name)
		return false
	}
	return true
}

// oneOf checks that a parameter, if present, has one of some values.
func (c *complaints) oneOf(name string, text *string, all []string) {
	if text != nil && !slices.Contains(all, *text) {
		complain(&c.values, "The parameter %s must be a value in the set [%s].", name, strings.Join(all, ", "))
	}
}

// period checks the period of a metric, if it is present.
func (c *complaints) period(name string, period *int32) {
	if period != nil && !series.IsPeriod(seconds(period)) {
		c.value("The parameter %s must be 1, 5, 10, 20, 30 or a multiple of 60.", name)
	}
}

// window checks that a window of time is present and not empty.
func (c *complaints) window(from, to *time.Time) {
	if from == nil {
		complain(&c.missing, "The parameter StartTime is required.")
	}
	if to == nil {
		complain(&c.missing, "The parameter EndTime is required.")
	}
	switch {
	case from == nil || to == nil:
	case from.Equal(*to):
		c.value("The parameter StartTime must not equal parameter EndTime.")
	case from.After(*to):
		c.value("The parameter StartTime must be less than the parameter EndTime.")
	}
}

// dimensions checks dimensions, each of which needs a name and a value.
func (c *complaints) dimensions(at string, in []Dimension) (out []series.Dimension) {
	for i, d := range in {
		of := fmt.Sprintf("%s.member.%d.", at, i+1)
		c.require(of+"Name", d.Name)
		c.require(of+"Value", d.Value)
		out = append(out, series.Dimension{Name: text(d.Name), Value: text(d.Value)})
	}
	return out
}

func (c *complaints) value(format string, args ...any) { complain(&c.values, format, args...) }
func (c *complaints) combination(format string, args ...any) {
	complain(&c.combinations, format, args...)
}

// err returns the error, or nil if there are no complaints.
func (c *complaints) err() error {
	join := func(lines []string) string { return strings.Join(lines, "\n") }
	switch {
	case len(c.missing) > 0:
		return errMissingText(join(c.missing))
	case len(c.values) > 0:
		return errValue("%s", join(c.values))
	case len(c.combinations) > 0:
		return errCombination("%s", join(c.combinations))
	}
	return nil
}

// errAll is err for GetMetricData, which has one code for all complaints and ends each line.
func (c *complaints) errAll() error {
	lines := slices.Concat(c.missing, c.values, c.combinations)
	if len(lines) == 0 {
		return nil
	}
	return protocol.ValidationError("%s\n", strings.Join(lines, "\n"))
}
