package filter

import (
	"math"
	"strconv"
)

// decimal is a number with five digits after the point, in units of the last one.
type decimal int64

const (
	decimalUnits = 100_000
	maxDecimal   = 1_000_000_000 * decimalUnits
)

// parseDecimal reads a JSON number, and reports whether it is one of those that are compared as numbers: −10⁹ to 10⁹.
func parseDecimal(s string) (decimal, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) > maxDecimal/decimalUnits {
		return 0, false
	}
	return decimal(math.Round(f * decimalUnits)), true
}
