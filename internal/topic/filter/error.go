package filter

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Error says what is wrong with a policy. Its text is what SNS puts behind "Invalid parameter: ".
type Error struct {
	Reason string // without place
	Line   int    // from 1; 0 if the mistake is not in one place of the text
	Column int    // in characters, from 1: behind what was read when the mistake was seen, as SNS counts
	source string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("%s\n at [Source: (String)%s; line: %d, column: %d]", e.Reason, quote(e.source), e.Line, e.Column)
}

// quotedBytes is how much of a policy an error repeats.
const quotedBytes = 500

func quote(source string) string {
	if len(source) <= quotedBytes {
		return `"` + source + `"`
	}
	cut := quotedBytes
	for !utf8.RuneStart(source[cut]) {
		cut--
	}
	return fmt.Sprintf(`"%s"[truncated %d chars]`, source[:cut], utf8.RuneCountInString(source[cut:]))
}

// overLimit makes an Error that is about the policy as a whole.
func overLimit(reason string) *Error { return &Error{Reason: "FilterPolicy: " + reason} }

// errorAt makes an Error about the place at byte offset.
func errorAt(source string, offset int, format string, args ...any) *Error {
	before := source[:min(offset, len(source))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return &Error{Reason: "FilterPolicy: " + fmt.Sprintf(format, args...), Line: line, Column: column, source: source}
}
