package protocol

import (
	"strings"
	"unicode/utf8"
)

// Shorten returns at most that many bytes of a client's text, for logs, records and answers: cut between characters,
// with three dots where it was cut. Invalid UTF-8 is replaced, which may make the text longer again.
func Shorten(s string, most int) string {
	if len(s) <= most {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.ToValidUTF8(s[:cut], "\uFFFD") + "..."
}
