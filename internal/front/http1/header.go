package http1

import (
	"bytes"
	"net/http"
	"strings"
)

// framing sets the headers for the length of an answer. The handler's headers may have changed since WriteHeader.
var framing = map[string]bool{"Content-Length": true, "Transfer-Encoding": true}

// maxSorted is how many headers of an answer are sorted here. Answers of services have three or four.
const maxSorted = 8

// appendHeader appends the header that a handler has set, sorted by name, except framing. net/http corrects a header
// that is not in order, and sorts longer ones.
func appendHeader(dst []byte, h http.Header) []byte {
	var sorted [maxSorted]string
	n := 0
	for name, values := range h {
		if framing[name] {
			continue
		}
		if n == maxSorted || !isOrderly(name, values) {
			out := bytes.NewBuffer(dst)
			_ = h.WriteSubset(out, framing) // which cannot fail
			return out.Bytes()
		}
		at := n
		for ; at > 0 && name < sorted[at-1]; at-- {
			sorted[at] = sorted[at-1]
		}
		sorted[at] = name
		n++
	}
	for _, name := range sorted[:n] {
		for _, value := range h[name] {
			dst = append(append(append(append(dst, name...), ": "...), value...), "\r\n"...)
		}
	}
	return dst
}

// isOrderly reports whether net/http would write a header unchanged: it omits invalid names, trims values, and replaces
// line breaks in them.
func isOrderly(name string, values []string) bool {
	for i := range len(name) {
		if classes[name[i]]&ofNames == 0 {
			return false
		}
	}
	for _, v := range values {
		if v != strings.Trim(v, " \t") || strings.IndexByte(v, '\r') >= 0 || strings.IndexByte(v, '\n') >= 0 {
			return false
		}
	}
	return name != ""
}
