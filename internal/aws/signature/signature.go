package signature

import (
	"bytes"
	"cmp"
	"hash"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/aws/form"
)

// Signature is a well-formed, unverified signature of a request.
type Signature struct {
	// Claims is the result of Verify if the signature is valid. Until then, use it only to find the service of a
	// request, and for nothing that needs trust.
	Claims Verified

	presented string      // encoded: hexadecimal in Version 4, base64 in Version 2
	params    []parameter // of the query; in Version 2 with those of the form, sorted

	// Version 4
	timestamp     string // when it was signed, as YYYYMMDDTHHMMSSZ
	scope         string // YYYYMMDD/region/service/aws4_request
	signedHeaders string // lower case, sorted, separated by semicolons
	payload       string // X-Amz-Content-Sha256 as sent

	// Version 2
	hash    func() hash.Hash
	time    string // Timestamp or Expires as sent
	expires time.Time
}

// LogValue omits the signature and the token.
func (s Signature) LogValue() slog.Value { return s.Claims.LogValue() }

const (
	algorithm       = "AWS4-HMAC-SHA256"
	terminator      = "aws4_request"
	unsignedPayload = "UNSIGNED-PAYLOAD"
	securityToken   = "X-Amz-Security-Token" // header and query parameter
	contentSHA256   = "X-Amz-Content-Sha256" // likewise
	basicFormat     = "20060102T150405Z"     // ISO 8601 "basic format"
)

var (
	presignedNames = []string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-SignedHeaders", "X-Amz-Signature"}
	version2Names  = []string{"AWSAccessKeyId", "Signature", "SignatureMethod", "SignatureVersion"}
)

// Parse finds the signature of r and checks its syntax. A request without a signature returns ErrUnsigned.
func Parse(r *Request) (Signature, error) {
	if strings.Count(r.RawQuery, "&") >= maxParameters {
		return Signature{}, tooManyParameters()
	}
	query, malformed := parseQuery(r.RawQuery)
	inHeader := signedInHeader(r)
	presigned := has(query, presignedNames)
	inURL := has(query, version2Names)
	version2 := inURL

	// A form is parsed only if there is no other signature: under a Version 4 signature it is a body like any other.
	isForm := !inHeader && !presigned && form.Declared(r.Method, r.Header)
	if isForm {
		if bytes.Count(r.Body, []byte("&")) >= maxParameters-len(query) {
			return Signature{}, tooManyParameters()
		}
		params, err := parseQuery(string(r.Body))
		version2 = inURL || has(params, version2Names)
		query, malformed = append(query, params...), cmp.Or(malformed, err)
	}

	switch {
	case !inHeader && !presigned && !version2:
		return Signature{}, ErrUnsigned
	case malformed != nil:
		return Signature{}, malformed
	case inHeader && presigned:
		return Signature{}, refuse(IncompleteSignature,
			"Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.")
	case version2 && (inHeader || presigned):
		return Signature{}, refuse(IncompleteSignature,
			"Found both 'AWSAccessKeyId' as a query-string param and a Version 4 signature.")
	case inHeader:
		return parseAuthorization(r.Header, query)
	case presigned:
		return parsePresigned(r, query)
	case !isForm && (len(r.Body) > 0 || r.Method != http.MethodGet && len(r.Header["X-Amz-Target"]) > 0):
		// Version 2 covers neither a body that is not a form nor a target, and together these are a request of their
		// own in the JSON protocol. An attacker could make one from another's form by moving the form into the query
		// string.
		return Signature{}, refuse(IncompleteSignature, "Signature Version 2 is for requests of the Query protocol only.")
	default:
		return parseVersion2(query, inURL)
	}
}

// signedInHeader reports whether the signature of r, if any, is in its Authorization header.
func signedInHeader(r *Request) bool {
	authorization := r.Header["Authorization"]
	return len(authorization) > 1 || len(authorization) == 1 && authorization[0] != ""
}
