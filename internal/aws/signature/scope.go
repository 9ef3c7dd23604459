package signature

import (
	"net/http"
	"strings"
	"time"
)

// parseBasic parses a time in basicFormat, strictly. time.Parse is more general, and takes ten times as long.
func parseBasic(s string) (time.Time, bool) {
	if len(s) != len(basicFormat) || s[8] != 'T' || s[15] != 'Z' {
		return time.Time{}, false
	}
	number := func(from, to int) (n int) {
		for _, c := range []byte(s[from:to]) {
			if c < '0' || c > '9' {
				return -1
			}
			n = 10*n + int(c-'0')
		}
		return n
	}
	year, month, day := number(0, 4), number(4, 6), number(6, 8)
	hour, minute, second := number(9, 11), number(11, 13), number(13, 15)
	if min(year, month, day, hour, minute, second) < 0 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC)
	// A day that the month does not have has become a day of the next month.
	return t, t.Month() == time.Month(month) && t.Day() == day
}

// complete fills in the fields that both forms of a Version 4 signature have.
func (s *Signature) complete(h http.Header, scheme, credential, date string) error {
	if scheme != algorithm {
		return refuse(IncompleteSignature, "Unsupported AWS 'algorithm': '%s' (only %s for now).", scheme, algorithm)
	}
	t, ok := parseBasic(date)
	if !ok {
		return refuse(IncompleteSignature,
			"Date must be in ISO-8601 'basic format'. Got '%s'. See http://en.wikipedia.org/wiki/ISO_8601", date)
	}
	s.Claims.SignedAt, s.timestamp = t, date
	if strings.HasPrefix(s.payload, "STREAMING-") {
		return invalidParameter(contentSHA256, s.payload, "Bodies signed in chunks are not supported.")
	}
	if err := s.checkSignedHeaders(h); err != nil {
		return err
	}
	return s.parseCredential(credential)
}

// parseCredential parses keyid/date/region/service/aws4_request. The date is checked later, with the time, as on AWS.
func (s *Signature) parseCredential(credential string) error {
	if len(credential) > maxCredential {
		return refuse(IncompleteSignature, "Credential is longer than %d bytes.", maxCredential)
	}
	for i := range len(credential) {
		if c := credential[i]; c <= ' ' || c >= 0x7f {
			return refuse(
				IncompleteSignature, "Credential must be printable ASCII without spaces, got '%s'", credential,
			)
		}
	}
	if strings.Count(credential, "/") != 4 {
		return refuse(IncompleteSignature,
			"Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '%s'", credential)
	}
	s.Claims.AccessKeyID, s.scope, _ = strings.Cut(credential, "/")
	_, rest, _ := strings.Cut(s.scope, "/")
	s.Claims.Region, rest, _ = strings.Cut(rest, "/")
	service, end, _ := strings.Cut(rest, "/")
	s.Claims.Service = service
	if end != terminator {
		return refuse(ScopeMismatch, "Credential should be scoped with a valid terminator: '%s', not '%s'.", terminator, end)
	}
	return nil
}

// checkSignedHeaders requires a sorted list of lower-case names that includes host. Nothing else could match, because
// the list is signed in this form. A name with a line break must not reach the canonical request.
func (s *Signature) checkSignedHeaders(h http.Header) error {
	n, last, host := 0, "", false
	for name := range strings.SplitSeq(s.signedHeaders, ";") {
		if n++; n > maxSignedHeaders {
			return refuse(IncompleteSignature, "More than %d headers are signed.", maxSignedHeaders)
		}
		if name <= last || !isLowerToken(name) {
			return refuse(IncompleteSignature,
				"SignedHeaders must be header names in lower case, sorted and separated by ';', got '%s'", s.signedHeaders)
		}
		last, host = name, host || name == "host"
	}
	if !host {
		return refuse(SignatureMismatch, "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.")
	}
	for name := range h {
		if mustBeSigned(name) && !s.signs(name) {
			return refuse(SignatureMismatch, "'%s' must be a 'SignedHeader' in the AWS Authorization.", name)
		}
	}
	return nil
}

// mustBeSigned reports whether a header of this name means something to AWS. Some clients add the session token after
// signing; it needs no protection, because its secret is valid with no other token.
func mustBeSigned(name string) bool {
	const prefix = "X-Amz-"
	return len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) &&
		!strings.EqualFold(name, securityToken)
}

func (s *Signature) signs(header string) bool {
	for name := range strings.SplitSeq(s.signedHeaders, ";") {
		if strings.EqualFold(name, header) {
			return true
		}
	}
	return false
}

func isLowerToken(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c == ':' || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}
