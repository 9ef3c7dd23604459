package service

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// longestText is the maximum number of bytes of a client's text that an answer repeats, or that policies see as a name.
const longestText = 1024

// Shorten limits how much of a client's text an answer repeats. It cuts between characters and adds three dots.
func Shorten(s string) string {
	return protocol.Shorten(s, longestText)
}

// ValidText reports whether s is UTF-8 without the characters that SQS does
// not allow: #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to
// #x10FFFF. SNS has the same rule.
func ValidText(s string) bool {
	for i := 0; i < len(s); {
		if len(s)-i >= 8 && plain(s[i:i+8]) {
			i += 8
			continue
		}
		if c := s[i]; c < utf8.RuneSelf {
			if c < 0x20 && c != '\t' && c != '\n' && c != '\r' {
				return false
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r == 0xFFFE || r == 0xFFFF {
			return false
		}
		i += size
	}
	return true
}

// plain reports whether the eight bytes of s are Printable ASCII or DEL. It
// checks all of them at once: bit 7 of a byte is set if the byte is not ASCII,
// and bit 7 of the difference is set if the byte, or one before it, is below a
// space.
func plain(s string) bool {
	const spaces, high = 0x2020202020202020, 0x8080808080808080
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return (w|(w-spaces))&high == 0
}

// ValidID reports whether s can be a message group, deduplication or receive
// attempt id: 1 to 128 letters, digits and punctuation marks of ASCII.
func ValidID(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for _, c := range []byte(s) {
		if c < 0x21 || c > 0x7e {
			return false
		}
	}
	return true
}

// Printable reports whether s consists of Printable characters of ASCII.
func Printable(s string) bool {
	for _, c := range []byte(s) {
		if c < 0x20 || c > 0x7e {
			return false
		}
	}
	return true
}

// ValidName reports whether s has 1 to most letters, digits, hyphens and
// underscores: the alphabet of queue names, labels and batch entry ids.
func ValidName(s string, most int) bool {
	if s == "" || len(s) > most {
		return false
	}
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

// ValidTag reports whether s consists of characters that keys and values of tags can have.
func ValidTag(s string) bool {
	if !ValidText(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) &&
			!strings.ContainsRune("_.:/=+-@", r) {
			return false
		}
	}
	return true
}
