// Package excerpt shortens texts from outside for errors and logs.
package excerpt

import "strings"

// Of returns the first characters of a text, at most as many as given, and "…" if there are more. Bytes that are not
// UTF-8 become U+FFFD.
func Of(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return strings.ToValidUTF8(text[:i], "\uFFFD") + "…"
		}
		n++
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Line is Of for a text that may have several lines: each run of white space becomes one space.
func Line(text string, most int) string { return Of(strings.Join(strings.Fields(text), " "), most) }
