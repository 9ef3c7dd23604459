package jackson

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluicemq/sluice/internal/tool/excerpt"
)

// Fault describes the error in a text that is not JSON, and its place. It finds errors of structure; it does not
// distinguish others, such as a bad escape.
func Fault(source string) string {
	f := &faultFinder{source: source}
	f.value()
	if f.reason == "" {
		f.fail("Unexpected content")
	}
	return f.reason + "\n at " + Place(source, min(f.at, len(source)))
}

// maxDepth is how deep objects and arrays may nest.
const maxDepth = 1000

// faultFinder reads a JSON text up to the first fault.
type faultFinder struct {
	source string
	at     int
	depth  int
	reason string // empty: none yet
}

// expectedValue is Jackson's list of the possible values.
const expectedValue = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')"

func (f *faultFinder) fail(format string, args ...any) bool {
	f.reason = fmt.Sprintf(format, args...)
	return false
}

// next skips white space and returns the character there, without reading it; ok is false at the end.
func (f *faultFinder) next() (c rune, ok bool) {
	f.at += len(f.source[f.at:]) - len(strings.TrimLeft(f.source[f.at:], " \t\r\n"))
	if f.at == len(f.source) {
		return 0, false
	}
	c, _ = utf8.DecodeRuneInString(f.source[f.at:])
	return c, true
}

// unexpected refuses the character c, which it reads.
func (f *faultFinder) unexpected(c rune, expected string) bool {
	f.at += utf8.RuneLen(c)
	switch {
	case c < ' ':
		return f.fail("Illegal character ((CTRL-CHAR, code %d)): %s", c, expected)
	case c > 0xff:
		return f.fail("Unexpected character ('%c' (code %d / 0x%x)): %s", c, c, c, expected)
	}
	return f.fail("Unexpected character ('%c' (code %d)): %s", c, c, expected)
}

// value reads a value, and reports whether it is one.
func (f *faultFinder) value() bool {
	c, ok := f.next()
	switch {
	case !ok:
		return f.fail("Unexpected end-of-input within/between Object entries")
	case c == '{', c == '[':
		return f.list(c)
	case c == '"':
		return f.text(" in VALUE_STRING")
	case c == '-' || c >= '0' && c <= '9':
		f.at += strings.IndexFunc(f.source[f.at:]+" ", func(c rune) bool {
			return !strings.ContainsRune("+-.eE0123456789", c)
		})
		return true
	case !unicode.IsLetter(c) && c != '_' && c != '$':
		return f.unexpected(c, "expected a valid value "+expectedValue)
	}
	return f.word()
}

// word reads true, false or null.
func (f *faultFinder) word() bool {
	n := strings.IndexFunc(f.source[f.at:]+" ", func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '$'
	})
	word := f.source[f.at : f.at+n]
	f.at += n
	if word != "true" && word != "false" && word != "null" {
		return f.fail("Unrecognized token '%s': was expecting %s", excerpt.Of(word, maxRepeated), expectedValue)
	}
	return true
}

// text reads a string.
func (f *faultFinder) text(where string) bool {
	for f.at++; f.at < len(f.source); f.at++ {
		switch f.source[f.at] {
		case '\\':
			f.at++
		case '"':
			f.at++
			return true
		}
	}
	f.at = len(f.source)
	return f.fail("Unexpected end-of-input%s", where)
}

// list reads an object or an array.
func (f *faultFinder) list(open rune) bool {
	begin, kind, end := f.at, "Object", '}'
	if open == '[' {
		kind, end = "Array", ']'
	}
	if f.depth++; f.depth > maxDepth {
		return f.fail("Document nesting depth (%d) exceeds the maximum allowed (%d)", f.depth, maxDepth)
	}
	f.at++
	for first := true; ; first = false {
		c, ok := f.next()
		switch {
		case !ok:
			return f.fail("Unexpected end-of-input: expected close marker for %s (start marker at %s)", kind, Place(f.source, begin))
		case c == end:
			f.at++
			f.depth--
			return true
		case !first && c != ',':
			return f.unexpected(c, "was expecting comma to separate "+kind+" entries")
		case !first:
			f.at++
		}
		if !f.member(open) {
			return false
		}
	}
}

// member reads an element of an array, or a name with its value.
func (f *faultFinder) member(open rune) bool {
	if open == '[' {
		return f.value()
	}
	switch c, ok := f.next(); {
	case !ok:
		return f.fail("Unexpected end-of-input within/between Object entries")
	case c != '"':
		return f.unexpected(c, "was expecting double-quote to start field name")
	}
	if !f.text(" in field name") {
		return false
	}
	if c, ok := f.next(); !ok {
		return f.fail("Unexpected end-of-input within/between Object entries")
	} else if c != ':' {
		return f.unexpected(c, "was expecting a colon to separate field name and value")
	}
	f.at++
	return f.value()
}
