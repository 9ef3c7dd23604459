package muterule

import (
	"regexp"
	"strconv"
	"time"
)

// The bounds of a duration.
const (
	minDuration = time.Minute
	maxDays     = 15
	maxDuration = maxDays * 24 * time.Hour
)

// iso8601 is a duration of days, hours, minutes and seconds. Months and years have no fixed length.
var iso8601 = regexp.MustCompile(`^P(?:([0-9]{1,7})D)?(?:T(?:([0-9]{1,7})H)?(?:([0-9]{1,7})M)?(?:([0-9]{1,7})S)?)?$`)

// parseDuration reads a duration such as P2DT12H.
func parseDuration(text string) (time.Duration, error) {
	parts := iso8601.FindStringSubmatch(text)
	if parts == nil || text[len(text)-1] == 'T' {
		return 0, ErrDuration
	}
	var total time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		n, _ := strconv.Atoi(parts[i+1]) // an absent part is 0
		total += time.Duration(n) * unit
	}
	if total < minDuration || total > maxDuration {
		return 0, ErrDuration
	}
	return total, nil
}
