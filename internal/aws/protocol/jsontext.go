package protocol

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted is the text between the quotes of a JSON string that has passed the scanner. It is part of the body.
type quoted struct {
	raw     []byte
	escaped bool // there is a backslash in raw
}

// text returns the string that q stands for.
//
// Not every JSON string is UTF-8 text. The escape of a lone surrogate becomes the three bytes that UTF-8 would have if
// it allowed surrogates, and bytes that are no UTF-8 are passed on as they are. Both therefore fail utf8.ValidString,
// so a service can refuse them; replacing them here would silently alter messages.
func (q quoted) text() string {
	if !q.escaped {
		return string(q.raw)
	}
	var b strings.Builder
	b.Grow(len(q.raw))
	raw := q.raw
	for {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			b.Write(raw)
			return b.String()
		}
		b.Write(raw[:n])
		raw = raw[n:]
		switch c := raw[1]; c {
		case 'u':
			r := codeUnit(raw)
			if low := codeUnit(raw[6:]); utf16.DecodeRune(r, low) != utf8.RuneError {
				r = utf16.DecodeRune(r, low)
				raw = raw[6:]
			}
			raw = raw[6:]
			if utf16.IsSurrogate(r) {
				b.Write([]byte{0xe0 | byte(r>>12), 0x80 | byte(r>>6)&0x3f, 0x80 | byte(r)&0x3f})
			} else {
				b.WriteRune(r)
			}
			continue
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		default:
			b.WriteByte(c)
		}
		raw = raw[2:]
	}
}

// codeUnit returns the UTF-16 code unit that raw begins with as a \u escape, and -1 if it does not.
func codeUnit(raw []byte) rune {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range raw[2:6] {
		r = r<<4 | rune(hexDigit(c))
	}
	return r
}

// appendQuoted appends s as a JSON string. Of the characters that JSON lets stand for themselves none is escaped.
// Invalid UTF-8 becomes U+FFFD, since a client could not read the answer otherwise.
func appendQuoted(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, string(utf8.RuneError))
	}
	dst = append(dst, '"')
	for {
		n := indexSpecial(s, 0)
		dst = append(dst, s[:n]...)
		if n == len(s) {
			return append(dst, '"')
		}
		switch c := s[n]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		s = s[n+1:]
	}
}
