package protocol

import (
	"math"
	"reflect"
	"strconv"
	"time"
)

var timeType = reflect.TypeFor[time.Time]()

// How times are written in XML: in whole seconds, as AWS's older services do, or with the milliseconds of a time that
// is precise and has some.
const (
	isoFormat     = "2006-01-02T15:04:05Z"
	preciseFormat = "2006-01-02T15:04:05.000Z"
)

// appendPrecise appends a time to XML, to the millisecond.
func appendPrecise(dst []byte, t time.Time) []byte {
	format := isoFormat
	if t.UnixMilli()%1000 != 0 {
		format = preciseFormat
	}
	return t.UTC().AppendFormat(dst, format)
}

// parseISO reads a time of a Query request.
func parseISO(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s) // takes fractions, too
	return t.UTC(), err == nil && hasYear(t.UTC())
}

// hasYear reports whether a time has a year from 0 to 9999. Others have no JSON form.
func hasYear(t time.Time) bool { return t.Year() >= 0 && t.Year() <= 9999 }

// parseEpoch reads a time of a JSON request, to the millisecond.
func parseEpoch(s string) (time.Time, bool) {
	seconds, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return time.Time{}, false
	}
	return epoch(seconds)
}

// epoch returns the time at that many seconds after 1970, to the millisecond, if hasYear.
func epoch(seconds float64) (time.Time, bool) {
	const last = 253402300800 // the year 10000
	if math.IsNaN(seconds) || math.Abs(seconds) >= last {
		return time.Time{}, false
	}
	t := time.UnixMilli(int64(math.Round(seconds * 1000))).UTC()
	return t, hasYear(t)
}

// appendEpoch appends a time to JSON, with a fraction if it has one.
func appendEpoch(dst []byte, t time.Time) []byte {
	if ms := t.UnixMilli(); ms%1000 != 0 {
		return strconv.AppendFloat(dst, float64(ms)/1000, 'f', -1, 64)
	}
	return strconv.AppendInt(dst, t.Unix(), 10)
}
