package metricmath

import (
	"strconv"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

// language has the tokens of expressions.
var language = syntax.Language{
	Space:  syntax.Blank,
	AWS:    "Invalid syntax",
	Number: numberLength,
	Marks:  `"'`,
	Signs:  []string{"==", "!=", "<=", ">=", "&&", "||", "+", "-", "*", "/", "^", "<", ">", "(", ")", "[", "]", ","},
	Word:   func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || r == '_' },
}

// valueOf returns the value of a number.
func valueOf(t syntax.Token) (float64, error) {
	v, err := strconv.ParseFloat(t.Text, 64)
	if err != nil || !finite(v) {
		e := fault(t.At+1, "%s is not a number", t)
		e.AWS = language.AWS
		return 0, e
	}
	return v, nil
}

// fault returns an error at a position, from 1; 0 if it belongs to no single character.
func fault(at int, format string, args ...any) *syntax.Error {
	return syntax.NewError(at, format, args...)
}

// numberLength returns how many bytes of s are the number that it begins with: digits, a fraction, an exponent.
func numberLength(s string) int {
	if s[0] != '.' && (s[0] < '0' || s[0] > '9') {
		return 0
	}
	n := 0
	digits := func() {
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
	}
	digits()
	if n < len(s) && s[n] == '.' {
		n++
		digits()
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		mark := n
		n++
		if n < len(s) && (s[n] == '+' || s[n] == '-') {
			n++
		}
		first := n
		if digits(); n == first { // the e is a name's
			n = mark
		}
	}
	return n
}
