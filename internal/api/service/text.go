package service

import "strings"

// longestText is how many bytes of what a client sent are repeated to it, or shown to policies as a name.
const longestText = 1024

// Shorten keeps what a client sent from making an answer longer than it needs to be understood. It cuts between
// characters, and says by three dots that it has.
func Shorten(s string) string {
	if len(s) <= longestText {
		return s
	}
	return strings.ToValidUTF8(s[:longestText], "") + "..."
}
