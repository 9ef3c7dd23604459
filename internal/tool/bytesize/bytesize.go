// Package bytesize reads and writes numbers of bytes with binary units, such as 512MiB.
package bytesize

import (
	"math"
	"strconv"
	"strings"
)

// Unit is a unit of bytes.
type Unit struct {
	Name  string
	Bytes int64
}

// The units.
var (
	TiB = Unit{"TiB", 1 << 40}
	GiB = Unit{"GiB", 1 << 30}
	MiB = Unit{"MiB", 1 << 20}
	KiB = Unit{"KiB", 1 << 10}
	B   = Unit{"B", 1}
)

// Units are those that a number may have, the largest first. A number without a unit counts bytes.
type Units []Unit

// Parse reads a whole number that is not negative, with or without a unit. It reports false for any other text, and for
// numbers that do not fit into 63 bits.
func (units Units) Parse(text string) (n int64, ok bool) {
	digits, unit := text, int64(1)
	for _, u := range units {
		if rest, cut := strings.CutSuffix(text, u.Name); cut {
			digits, unit = strings.TrimSpace(rest), u.Bytes
			break
		}
	}
	number, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || int64(number) > math.MaxInt64/unit {
		return 0, false
	}
	return int64(number) * unit, true
}

// Format writes n with the largest unit that divides it. Parse reads it again.
func (units Units) Format(n int64) string {
	for _, u := range units {
		if n > 0 && n%u.Bytes == 0 {
			return strconv.FormatInt(n/u.Bytes, 10) + u.Name
		}
	}
	return strconv.FormatInt(n, 10)
}
