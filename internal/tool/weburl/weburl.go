// Package weburl shows URLs without their secrets. It accepts URLs as written, even invalid ones.
package weburl

import "strings"

// Mask replaces hidden parts.
const Mask = "****"

// Masked hides the password in a URL, as SNS does. Other texts stay.
func Masked(text string) string {
	start, end := authority(text)
	at := strings.LastIndexByte(text[start:end], '@')
	colon := strings.IndexByte(text[start:start+max(at, 0)], ':')
	if at < 0 || colon < 0 {
		return text
	}
	return text[:start+colon+1] + Mask + text[start+at:]
}

// Origin hides all of a URL but its scheme and host: users, paths and queries have tokens as well. Other texts stay.
func Origin(text string) string {
	start, end := authority(text)
	if start == end {
		return text
	}
	host := text[start:end]
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = Mask + host[at:]
	}
	rest := text[end:]
	if len(rest) > 1 {
		rest = rest[:1] + Mask
	}
	return text[:start] + host + rest
}

// authority returns where the user, password, host and port of a URL stand, or 0, 0 in other texts.
func authority(text string) (start, end int) {
	start = strings.Index(text, "://")
	if start < 0 {
		return 0, 0
	}
	start += len("://")
	if n := strings.IndexAny(text[start:], "/?#"); n >= 0 {
		return start, start + n
	}
	return start, len(text)
}
