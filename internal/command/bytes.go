package command

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// byteCount is the value of a flag: a number of bytes, with or without a unit.
type byteCount struct{ n *int64 }

var byteUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func (b byteCount) Set(text string) error {
	digits, unit := text, int64(1)
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(text, u.name); ok {
			digits, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || int64(n) > math.MaxInt64/unit {
		return errors.New("want a number of bytes, such as 1073741824, 512MiB or 1GiB")
	}
	*b.n = int64(n) * unit
	return nil
}

// String returns nothing for a negative number, which stands for a default that
// the flag's help describes.
func (b byteCount) String() string {
	if b.n == nil || *b.n < 0 {
		return ""
	}
	for _, u := range byteUnits {
		if *b.n > 0 && *b.n%u.bytes == 0 {
			return strconv.FormatInt(*b.n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(*b.n, 10)
}

func (b byteCount) Type() string { return "bytes" }

// positive is the value of a flag: a number that is at least 1.
type positive struct{ n *int }

func (p positive) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("want a whole number, at least 1")
	}
	*p.n = n
	return nil
}

// String returns nothing for 0, which stands for a default that the flag's help
// describes.
func (p positive) String() string {
	if p.n == nil || *p.n == 0 {
		return ""
	}
	return strconv.Itoa(*p.n)
}

func (p positive) Type() string { return "number" }
