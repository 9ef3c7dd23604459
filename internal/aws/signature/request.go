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

// FromHTTP returns what there is to verify of r, a request received by net/http whose body has been read into body. It
// is short, so that it is compiled into its callers, and the Request takes no memory of its own.
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

// sentPath returns the path of the request line: r.URL has it decoded, encodes it again in its own way, and is what
// routers cut prefixes from.
func sentPath(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(path, "/") { // a client's request, or one for an absolute URL
		return r.URL.EscapedPath()
	}
	return path
}
