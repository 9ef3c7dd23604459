package metricmath

import (
	"fmt"
	"strconv"
	"strings"
)

// Error says why an expression cannot be read or evaluated.
type Error struct {
	Position int // of the character at fault, from 1; 0 if it is no one character's
	Message  string
	AWS      string // what AWS says, which is less; empty if that is not known
}

func (e *Error) Error() string {
	if e.Position == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s at character %d", e.Message, e.Position)
}

func fault(at int, format string, args ...any) *Error {
	return &Error{Position: at, Message: fmt.Sprintf(format, args...)}
}

// syntax is fault for an expression that is none.
func syntax(at int, format string, args ...any) *Error {
	e := fault(at, format, args...)
	e.AWS = "Invalid syntax"
	return e
}

type tokenKind uint8

const (
	endToken tokenKind = iota
	numberToken
	textToken
	nameToken
	signToken // an operator, a bracket or a comma
)

type token struct {
	kind   tokenKind
	text   string
	number float64
	at     int // position of its first character, from 1
}

func (t token) String() string {
	if t.kind == endToken {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// signs are the operators and brackets, those of two characters first.
var signs = []string{"==", "!=", "<=", ">=", "&&", "||", "+", "-", "*", "/", "^", "<", ">", "(", ")", "[", "]", ","}

// scan takes an expression apart. Positions count characters.
func scan(text string) ([]token, error) {
	var out []token
	at := 1
	for rest := text; ; {
		trimmed := strings.TrimLeft(rest, " \t\r\n")
		at += len(rest) - len(trimmed)
		if rest = trimmed; rest == "" {
			return append(out, token{at: at}), nil
		}
		t, n, err := next(rest, at)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		at += len([]rune(rest[:n]))
		rest = rest[n:]
	}
}

// next returns the token that rest begins with, and how many bytes of rest it is.
func next(rest string, at int) (token, int, error) {
	c := rest[0]
	switch {
	case c >= '0' && c <= '9' || c == '.':
		n := numberLength(rest)
		v, err := strconv.ParseFloat(rest[:n], 64)
		if err != nil || !finite(v) {
			return token{}, 0, syntax(at, "%q is not a number", rest[:n])
		}
		return token{numberToken, rest[:n], v, at}, n, nil
	case c == '"' || c == '\'':
		end := strings.IndexByte(rest[1:], c)
		if end < 0 {
			return token{}, 0, syntax(at, "a text begins that does not end")
		}
		return token{textToken, rest[1 : 1+end], 0, at}, end + 2, nil
	case isLetter(c):
		n := 1
		for n < len(rest) && (isLetter(rest[n]) || rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		return token{nameToken, rest[:n], 0, at}, n, nil
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			return token{signToken, s, 0, at}, len(s), nil
		}
	}
	return token{}, 0, syntax(at, "unexpected %q", []rune(rest)[0])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// numberLength returns how many bytes of s are a number: digits, a fraction, an exponent.
func numberLength(s string) int {
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
