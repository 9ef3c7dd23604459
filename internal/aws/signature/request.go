package signature

import (
	"net/http"
	"strings"
)

// Request is the part of an HTTP request that the verification needs. Everything is in its original form, because that
// was signed. Only the header names are in canonical form, as net/http leaves them.
type Request struct {
	Method   string
	Host     string // the Host header verbatim, with its port if it has one
	Path     string // still escaped, without the query
	RawQuery string
	Header   http.Header // without Host; a Content-Length that is missing here is taken to be len(Body)
	Body     []byte      // the whole body; it is only read
}

// FromHTTP returns the part of r to verify. r is a request received by net/http, whose body has been read into body.
// The function is short, so that it is inlined and the Request is not allocated.
func FromHTTP(r *http.Request, body []byte) *Request {
	return &Request{
		Method:   r.Method,
		Host:     r.Host,
		Path:     sentPath(r),
		RawQuery: r.URL.RawQuery,
		Header:   r.Header,
		Body:     body,
	}
}

// sentPath returns the path of the request line: r.URL holds it decoded, encodes it again in its own way, and may have
// lost a prefix to a router.
func sentPath(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(path, "/") { // a client's request, or one for an absolute URL
		return r.URL.EscapedPath()
	}
	return path
}
