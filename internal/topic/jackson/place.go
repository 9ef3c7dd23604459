package jackson

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Place describes a place in a text: the text itself, the line, and the column, which is one more than the number of
// characters of the line that were read. offset is the number of bytes that were read.
func Place(source string, offset int) string {
	before := source[:min(offset, len(source))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("[Source: (String)%s; line: %d, column: %d]", quote(source), line, column)
}

// quotedBytes is how much of a text is repeated.
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

// maxRepeated limits the characters of a token that an error repeats.
const maxRepeated = 100
