// Package days reads and writes durations that may have days, such as 7d or 1d12h. A day has 24 hours.
package days

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Day is the unit that Go's durations lack.
const Day = 24 * time.Hour

// mostDays is the maximum number of whole days of a duration.
const mostDays = uint64(math.MaxInt64 / Day)

// ErrNoDuration reports that a text is not a duration.
var ErrNoDuration = errors.New("want a duration, such as 30m, 12h, 7d or 1d12h")

// Parse reads a duration. It accepts the forms of time.ParseDuration, or whole days, which may be followed by such a
// duration. Neither the days nor the duration behind them has a sign. The error is ErrNoDuration.
func Parse(text string) (time.Duration, error) {
	number, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		return parse(text)
	}
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || n > mostDays {
		return 0, ErrNoDuration
	}
	total := time.Duration(n) * Day
	if rest == "" {
		return total, nil
	}
	more, err := parse(rest)
	if err != nil || rest[0] == '-' || rest[0] == '+' || more > math.MaxInt64-total {
		return 0, ErrNoDuration
	}
	return total + more, nil
}

func parse(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, ErrNoDuration
	}
	return d, nil
}

// Format writes a duration so that Parse reads the same: whole days as 7d, and all else as Duration.String does.
func Format(d time.Duration) string {
	if d <= 0 || d%Day != 0 {
		return d.String()
	}
	return strconv.FormatInt(int64(d/Day), 10) + "d"
}
