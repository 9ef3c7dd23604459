package main

import (
	"fmt"
	"math"
	"strconv"
)

// thousands writes a number with a separator: 14,300.
func thousands(v float64) string {
	s := strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// significant rounds to two digits, or three if they begin with 1, which is about as much as can be reproduced.
func significant(v float64) float64 {
	if v <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	if v/unit < 20 {
		unit /= 10
	}
	if unit < 1 { // 1/0.1 is exact where 1*0.1 is not
		return math.Round(v*math.Round(1/unit)) / math.Round(1/unit)
	}
	return math.Round(v/unit) * unit
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// short writes a number with a suffix: 10k, 1M.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return plain(v/1e6) + "M"
	case v >= 1e3:
		return plain(v/1e3) + "k"
	}
	return plain(v)
}

// bytesText writes a size: 100 B, 64 KiB.
func bytesText(v float64) string {
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if v < 1024 {
			return plain(math.Round(v*10)/10) + " " + unit
		}
		v /= 1024
	}
	return plain(math.Round(v*10)/10) + " GiB"
}

func millisecondsText(v float64) string { return plain(v) + " ms" }

func mebibytes(v float64) string { return thousands(v/(1<<20)) + " MiB" }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
