package protocol

import (
	"math"
	"strconv"
	"strings"
)

// notFinite returns a number that has no decimal text, by the name that it has in all protocols.
func notFinite(name string) (float64, bool) {
	switch name {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	return 0, false
}

// parseFloat reads a finite number as text, in decimal.
func parseFloat(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false // such as NaN, Inf, 0x1p-2 and 1_000, which strconv takes
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// appendFloat appends the shortest text that is read as n again. Very large and very small numbers get an exponent,
// others a fraction, as AWS writes them: clients whose language tells integers from doubles by their text read 30.0 as
// a double. JSON has no text for numbers that are not finite: no service answers with one.
func appendFloat(dst []byte, n float64) []byte {
	if abs := math.Abs(n); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(dst, n, 'e', -1, 64)
	}
	dst = strconv.AppendFloat(dst, n, 'f', -1, 64)
	if n == math.Trunc(n) {
		dst = append(dst, ".0"...)
	}
	return dst
}
