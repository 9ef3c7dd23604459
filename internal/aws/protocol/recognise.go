package protocol

import (
	"net/http"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/form"
)

// Request is a request whose protocol, operation and version are known. Nothing else of it has been decoded.
type Request struct {
	Kind Kind

	// Target is the part of X-Amz-Target before the operation's name, or the service in the path of a CBOR request.
	// Query requests have none: their credential scope and Version determine the service.
	Target    string
	Operation string
	Version   string // as the Query request gives it, empty if it does not; Lookup makes it definite

	// Form has the parameters of a Query request, those of the body before those of the URL: of two with one name
	// the first counts.
	Form Form
	// Body is the body as read, which must not change while the request is being served.
	Body []byte
	Path string // decoded URL path as sent

	// ContentType is the content type of the answer to a JSON request: application/x-amz-json-1.0 or 1.1, as in the
	// request.
	ContentType string
	// AcceptJSON requests the answer to a Query request in JSON.
	AcceptJSON bool
	// QueryMode means that the client of a JSON or CBOR request wants errors in the form of the Query protocol.
	QueryMode bool
}

const (
	contentTypeJSON10 = "application/x-amz-json-1.0"
	contentTypeJSON11 = "application/x-amz-json-1.1"
)

// Recognise determines the protocol and the operation of r, without knowing any service. The Request is never nil: if
// there is also an error, which is an *Error, the Request defines how to write it.
//
// A POST with an X-Amz-Target, or with the content type of AWS JSON, is JSON at any path, unless its body is declared
// to be a form: some old clients send forms with a target. A request declared as Smithy's RPC v2 in CBOR has service
// and operation at the end of its path. Everything else is Query, with its parameters in the URL, in the body of a
// POST, or in both. The body counts if it is declared to be a form, or has no declared type.
func Recognise(r *http.Request, body []byte) (*Request, error) {
	req := &Request{Body: body, Path: r.URL.Path}
	req.QueryMode = strings.EqualFold(r.Header.Get("X-Amzn-Query-Mode"), "true")
	post := r.Method == http.MethodPost
	declared := form.MediaType(r.Header.Get("Content-Type"))
	isForm := form.Is(r.Method, declared)
	target := r.Header.Get("X-Amz-Target")

	if r.Header.Get("Smithy-Protocol") == smithyCBOR {
		req.Kind = CBOR
		return req, req.recogniseCBOR(r.Method)
	}
	if r.Method != http.MethodGet && !isForm &&
		(target != "" || strings.HasPrefix(declared, "application/x-amz-json-")) {
		req.Kind = JSON
		req.ContentType = contentTypeJSON10
		if declared == contentTypeJSON11 {
			req.ContentType = contentTypeJSON11
		}
		return req, req.recogniseJSON(r.Method, target)
	}

	req.AcceptJSON = acceptsJSON(r.Header.Values("Accept"))
	if !post && r.Method != http.MethodGet {
		return req, MethodNotAllowed(r.Method)
	}
	soap := declared == "text/xml" || declared == "application/soap+xml" || len(r.Header.Values("Soapaction")) > 0
	if post && soap {
		return req, InvalidRequest("SOAP has not been supported since 2011-08-08. Use the Query protocol or JSON.")
	}
	if !isForm && (!post || declared != "") {
		body = nil
	}
	return req, req.recogniseQuery(string(body), r.URL.RawQuery, isForm)
}

func (req *Request) recogniseJSON(method, target string) error {
	dot := strings.LastIndexByte(target, '.')
	req.Operation = target[dot+1:]
	if dot > 0 {
		req.Target = target[:dot]
	}
	switch {
	case method != http.MethodPost:
		return MethodNotAllowed(method)
	case target == "":
		e := UnknownOperation("")
		e.Message = "The request must contain the header X-Amz-Target."
		return e
	}
	return nil
}

// recogniseCBOR takes service and operation from a path that ends in /service/Name/operation/Name.
func (req *Request) recogniseCBOR(method string) error {
	parts := strings.Split(req.Path, "/")
	if n := len(parts); n >= 4 && parts[n-4] == "service" && parts[n-2] == "operation" {
		req.Target, req.Operation = parts[n-3], parts[n-1]
	}
	switch {
	case method != http.MethodPost:
		return MethodNotAllowed(method)
	case req.Operation == "":
		e := UnknownOperation("")
		e.Message = "The path of the request must end in /service/NAME/operation/NAME."
		return e
	}
	return nil
}

// recogniseQuery takes the parameters from body and query. A request that is declared to be a form learns what it
// lacks if it names no action; others may be anything.
func (req *Request) recogniseQuery(body, query string, form bool) error {
	for _, s := range []string{body, query} {
		if s == "" {
			continue
		}
		var err error
		if req.Form, err = appendForm(req.Form, s); err != nil {
			return err
		}
	}
	req.Operation = req.Form.Get("Action")
	req.Version = req.Form.Get("Version")
	switch {
	case req.Operation != "":
		return nil
	case form:
		return MissingAction()
	}
	return UnknownRequest()
}

// acceptsJSON reports whether one of the media types in Accept headers is application/json.
func acceptsJSON(headers []string) bool {
	for _, h := range headers {
		for t := range strings.SplitSeq(h, ",") {
			if form.MediaType(t) == "application/json" {
				return true
			}
		}
	}
	return false
}
