package search

import (
	"bytes"
	"cmp"
)

// decimal is a number as it was written: 0.digits times ten to the power of exponent. Numbers in messages can be longer
// than machine numbers, so they are compared by their digits.
type decimal struct {
	negative bool
	digits   []byte // neither the first nor the last is a zero; none: the number is 0
	exponent int
}

const (
	maxDigits   = 1000
	maxExponent = 1_000_000
)

// parseDecimal reads a number as JSON has it, also with a plus or zeros before it.
func parseDecimal(b []byte) (d decimal, ok bool) {
	if len(b) == 0 || len(b) > maxDigits {
		return d, false
	}
	d.negative = b[0] == '-'
	if b[0] == '-' || b[0] == '+' {
		b = b[1:]
	}
	whole, rest := cutDigits(b)
	var part []byte
	if len(rest) > 0 && rest[0] == '.' {
		if part, rest = cutDigits(rest[1:]); len(part) == 0 {
			return d, false
		}
	}
	if len(whole) == 0 {
		return d, false
	}
	if len(rest) > 0 {
		if d.exponent, ok = parseExponent(rest); !ok {
			return d, false
		}
	}
	d.digits = whole
	if len(part) > 0 {
		d.digits = append(bytes.Clone(whole), part...)
	}
	d.exponent += len(whole)
	for len(d.digits) > 0 && d.digits[0] == '0' {
		d.digits = d.digits[1:]
		d.exponent--
	}
	d.digits = bytes.TrimRight(d.digits, "0")
	if len(d.digits) == 0 {
		d = decimal{}
	}
	return d, true
}

func cutDigits(b []byte) (digits, rest []byte) {
	n := 0
	for n < len(b) && '0' <= b[n] && b[n] <= '9' {
		n++
	}
	return b[:n], b[n:]
}

// parseExponent reads all of e+12.
func parseExponent(b []byte) (int, bool) {
	if b[0] != 'e' && b[0] != 'E' {
		return 0, false
	}
	b = b[1:]
	sign := 1
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		if b[0] == '-' {
			sign = -1
		}
		b = b[1:]
	}
	digits, rest := cutDigits(b)
	n := 0
	for _, c := range digits {
		if n = 10*n + int(c-'0'); n > maxExponent {
			return 0, false
		}
	}
	return sign * n, len(digits) > 0 && len(rest) == 0
}

// compare returns -1, 0 or 1 if d is less than, equal to or more than e.
func (d decimal) compare(e decimal) int {
	if s, t := d.sign(), e.sign(); s != t {
		return cmp.Compare(s, t)
	}
	order := cmp.Compare(d.exponent, e.exponent)
	if order == 0 {
		order = bytes.Compare(d.digits, e.digits)
	}
	return order * d.sign()
}

func (d decimal) sign() int {
	switch {
	case len(d.digits) == 0:
		return 0
	case d.negative:
		return -1
	}
	return 1
}
