// Package form says which requests have parameters in their bodies. The verifier of signatures and the parser of
// requests both use it: if one of them took a body for a form and the other did not, the body could be left out of a
// signed request, or put into one.
package form

import (
	"net/http"
	"strings"
)

// ContentType is how the body of a request is declared to be a form.
const ContentType = "application/x-www-form-urlencoded"

// Declared reports whether a request has a body that is declared to be a form.
func Declared(method string, h http.Header) bool {
	return Is(method, MediaType(h.Get("Content-Type")))
}

// Is is Declared for a caller that knows the media type of the body already.
func Is(method, mediaType string) bool { return method == http.MethodPost && mediaType == ContentType }

// MediaType returns the media type of a header such as Content-Type in lower case, without its parameters.
func MediaType(header string) string {
	t, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(t))
}
