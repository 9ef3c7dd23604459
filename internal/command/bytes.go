package command

import (
	"errors"
	"strconv"

	"github.com/sluicemq/sluice/internal/tool/bytesize"
)

// byteCount is the value of a flag: a number of bytes, with or without a unit.
type byteCount struct{ n *int64 }

var byteUnits = bytesize.Units{bytesize.TiB, bytesize.GiB, bytesize.MiB, bytesize.KiB, bytesize.B}

func (b byteCount) Set(text string) error {
	n, ok := byteUnits.Parse(text)
	if !ok {
		return errors.New("want a number of bytes, such as 1073741824, 512MiB or 1GiB")
	}
	*b.n = n
	return nil
}

// String returns nothing for a negative number, which stands for a default that the help of the flag describes.
func (b byteCount) String() string {
	if b.n == nil || *b.n < 0 {
		return ""
	}
	return byteUnits.Format(*b.n)
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

// String returns nothing for 0, which stands for a default that the help of the flag describes.
func (p positive) String() string {
	if p.n == nil || *p.n == 0 {
		return ""
	}
	return strconv.Itoa(*p.n)
}

func (p positive) Type() string { return "number" }
