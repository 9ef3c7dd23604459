package protocol

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

const contentTypeXML = "text/xml"

// WriteResult answers req with the output of op, a pointer that Invoke returned. An error means
// that the answer could not be written to the client.
func WriteResult(w http.ResponseWriter, s *Service, req *Request, op *Operation, requestID string, out any) error {
	v := reflect.ValueOf(out).Elem()
	buf := buffers.Get().(*[]byte)
	b := (*buf)[:0]
	contentType := req.ContentType
	switch {
	case req.Kind == CBOR:
		w.Header().Set("Smithy-Protocol", smithyCBOR)
		if contentType = ""; !op.out.void() || op.result {
			contentType = contentTypeCBOR
			b = appendCBOR(b, op.out, v)
		}
	case req.Kind == JSON && op.out.void():
	case req.Kind == JSON:
		b = appendJSON(b, op.out, v, awsJSON)
	case req.AcceptJSON:
		contentType = "application/json"
		b = appendResultJSON(b, op, v, requestID)
	default:
		contentType = contentTypeXML
		b = appendResultXML(b, s, req.Version, op, v, requestID)
	}
	return respond(w, http.StatusOK, requestID, contentType, buf, b)
}

// WriteError answers req with e. Where it is not known which service was meant, s is nil; req is what Recognise
// returned, or nil if it has not come that far. The error comes from writing.
func WriteError(w http.ResponseWriter, s *Service, req *Request, requestID string, e *Error) error {
	if req == nil {
		req = &Request{}
	}
	if e.Status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", "GET, POST")
	}
	buf := buffers.Get().(*[]byte)
	b := (*buf)[:0]
	contentType := contentTypeXML
	switch {
	case req.Kind == JSON:
		e.writeQueryError(w, s)
		contentType = req.ContentType
		b = appendErrorJSON(b, s, e)
	case req.Kind == CBOR:
		e.writeQueryError(w, s)
		w.Header().Set("Smithy-Protocol", smithyCBOR)
		contentType = contentTypeCBOR
		b = appendErrorCBOR(b, s, e)
	case e.Bare:
		b = append(append(append(b, '<'), e.shape()...), '/', '>')
	case req.AcceptJSON:
		contentType = "application/json"
		b = appendErrorQueryJSON(b, s, e, requestID)
	default:
		b = appendErrorXML(b, s, req.Version, e, requestID)
	}
	return respond(w, e.statusFor(s, req), requestID, contentType, buf, b)
}

// statusFor returns the status of an answer to a request of a service, which may be nil.
func (e *Error) statusFor(s *Service, req *Request) int {
	switch {
	case e.PlainStatus != 0 && req.Kind != Query && !req.QueryMode:
		return e.PlainStatus
	case e.Status == http.StatusForbidden && s != nil && s.NeverForbids:
		return http.StatusBadRequest
	}
	return e.Status
}

// buffers has the buffers of answers that have been written, as *[]byte.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// bufferMax is the capacity above which a buffer is not kept for the next answer.
const bufferMax = 256 << 10

// respond writes body in one piece. Body has been appended to buf, which goes back to the pool.
func respond(w http.ResponseWriter, status int, requestID, contentType string, buf *[]byte, body []byte) error {
	h := w.Header()
	values := []string{contentType, strconv.Itoa(len(body)), requestID} // one piece of memory for the three
	if contentType != "" {
		h["Content-Type"] = values[0:1:1]
	}
	h["Content-Length"] = values[1:2:2]
	h["X-Amzn-Requestid"] = values[2:3:3]
	w.WriteHeader(status)
	var err error
	if len(body) > 0 {
		_, err = w.Write(body)
	}
	if cap(body) <= bufferMax {
		*buf = body
		buffers.Put(buf)
	}
	return err
}

// appendResultXML appends the answer to a Query request. An operation without output has no Result element; see
// EmptyResult.
func appendResultXML(b []byte, s *Service, version string, op *Operation, out reflect.Value, requestID string) []byte {
	response, result := op.Name+"Response", op.Name+"Result"
	b = appendRoot(b, s, version, response)
	if !op.out.void() || op.result {
		b = appendElement(b, result, op.out, out)
	}
	b = appendOpen(b, "ResponseMetadata")
	b = appendText(b, "RequestId", requestID)
	b = appendClose(b, "ResponseMetadata")
	return appendClose(b, response)
}

func appendErrorXML(b []byte, s *Service, version string, e *Error, requestID string) []byte {
	if e.Namespace != "" {
		s = &Service{Namespace: e.Namespace}
	}
	b = appendRoot(b, s, version, "ErrorResponse")
	b = appendOpen(b, "Error")
	b = appendText(b, "Type", e.Fault())
	b = appendText(b, "Code", e.Code)
	if message := e.queryMessage(); message != "" || s == nil || !s.Framework {
		b = appendText(b, "Message", message)
	}
	if p, v := e.members(); p != nil {
		b = appendXML(b, p, v)
	}
	if s != nil && s.ErrorDetail {
		b = append(b, "<Detail/>"...)
	}
	b = appendClose(b, "Error")
	b = appendText(b, "RequestId", requestID)
	return appendClose(b, "ErrorResponse")
}

// appendRoot appends what comes before the content of a document: the declaration and the root, which is in the
// namespace of the version asked for. If s does not have that version, it is the newest one's.
func appendRoot(b []byte, s *Service, version, name string) []byte {
	b = append(b, `<?xml version="1.0"?><`...)
	b = append(b, name...)
	if s != nil && s.Namespace != "" {
		before, after, versioned := strings.Cut(s.Namespace, "%s")
		b = append(b, ` xmlns="`...)
		b = appendEscaped(b, before)
		if versioned {
			b = append(b, s.accepted(version)...)
		}
		b = appendEscaped(b, after)
		b = append(b, '"')
	}
	return append(b, '>')
}

// appendResultJSON appends the answer to a Query request that accepts JSON.
func appendResultJSON(b []byte, op *Operation, out reflect.Value, requestID string) []byte {
	b = append(b, `{"`...)
	b = append(b, op.Name...)
	b = append(b, `Response":{`...)
	if !op.out.void() {
		b = append(b, '"')
		b = append(b, op.Name...)
		b = append(b, `Result":`...)
		b = appendJSON(b, op.out, out, queryJSON)
		b = append(b, ',')
	}
	b = append(b, `"ResponseMetadata":{"RequestId":`...)
	b = appendQuoted(b, requestID)
	return append(b, "}}}"...)
}

func appendErrorQueryJSON(b []byte, s *Service, e *Error, requestID string) []byte {
	b = append(b, `{"Error":{"Code":`...)
	b = appendQuoted(b, e.Code)
	if s != nil && s.ErrorDetail {
		b = append(b, `,"Detail":null`...)
	}
	b = append(b, `,"Message":`...)
	b = appendQuoted(b, e.queryMessage())
	if p, v := e.members(); p != nil {
		b = appendMembers(b, p, v, queryJSON)
	}
	b = append(b, `,"Type":"`...)
	b = append(b, e.Fault()...)
	b = append(b, `"},"RequestId":`...)
	b = appendQuoted(b, requestID)
	return append(b, '}')
}

// appendErrorJSON appends an error of AWS JSON. One without a message has no such member, and that of denied access is
// spelt differently.
func appendErrorJSON(b []byte, s *Service, e *Error) []byte {
	t := e.absoluteType(s)
	b = append(b, `{"__type":`...)
	b = appendQuoted(b, t)
	if e.Message != "" {
		key := `,"message":`
		if t == accessDeniedType {
			key = `,"Message":`
		}
		b = append(b, key...)
		b = appendQuoted(b, e.Message)
	}
	if p, v := e.members(); p != nil {
		b = appendMembers(b, p, v, awsJSON)
	}
	return append(b, '}')
}

// appendMembers appends the members of a structure to those of an object, which has some and is not closed.
func appendMembers(b []byte, p *plan, v reflect.Value, st style) []byte {
	begin := len(b)
	b = appendJSONStructure(b, p, v, st)
	if len(b) == begin+len("{}") {
		return b[:begin]
	}
	b[begin] = ','
	return b[:len(b)-1]
}

// writeQueryError tells clients of a service that also speaks Query what the error is called there. It is the name that
// their users know.
func (e *Error) writeQueryError(w http.ResponseWriter, s *Service) {
	if s == nil || s.speaksQuery() {
		w.Header().Set("X-Amzn-Query-Error", e.Code+";"+e.Fault())
	}
}

// absoluteType returns the Type of e with the namespace of its service.
func (e *Error) absoluteType(s *Service) string {
	if s != nil && s.ErrorNamespace != "" && !strings.Contains(e.Type, "#") {
		return s.ErrorNamespace + "#" + e.Type
	}
	return e.Type
}

// queryMessage returns the text of e in the Query protocol.
func (e *Error) queryMessage() string {
	if e.QueryMessage != "" {
		return e.QueryMessage
	}
	return e.Message
}
