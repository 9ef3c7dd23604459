package signature

import (
	"strconv"
	"strings"
)

// parsePresigned parses a Version 4 signature in the query.
func parsePresigned(r *Request, query []parameter) (Signature, error) {
	h := r.Header
	s := Signature{Claims: Verified{Version: 4, Presigned: true}, params: query}
	var scheme, credential, date, expires string
	var missing strings.Builder
	for _, f := range [...]struct {
		name     string
		into     *string
		optional bool
	}{
		{"X-Amz-Algorithm", &scheme, false},
		{"X-Amz-Credential", &credential, false},
		{"X-Amz-Signature", &s.presented, false},
		{"X-Amz-SignedHeaders", &s.signedHeaders, false},
		{"X-Amz-Date", &date, false},
		{"X-Amz-Expires", &expires, true},
		{securityToken, &s.Claims.Token, true},
		{contentSHA256, &s.payload, true},
	} {
		v, n := value(query, f.name)
		if n > 1 {
			return s, refuse(IncompleteSignature, "The query string has more than one '%s' parameter.", f.name)
		}
		if v == "" && !f.optional {
			missing.WriteString("AWS query-string parameters must include '" + f.name + "'. ")
		}
		*f.into = v
	}
	if missing.Len() > 0 {
		return s, refuse(IncompleteSignature, "%sRe-examine the query-string parameters.", missing.String())
	}
	if has(query, []string{"X-Amz-Expires"}) {
		if n, err := strconv.ParseUint(expires, 10, 32); err != nil || n < 1 || n > 604800 {
			return s, invalidParameter("X-Amz-Expires", expires, "Must be between 1 and 604800 seconds.")
		}
	}
	if sent := h.Get(contentSHA256); sent != "" {
		s.payload = sent
	}
	if s.payload == unsignedPayload && len(r.Body) > 0 {
		// A holder of the URL could choose the body, and parameters in the body override those in the URL.
		return s, refuse(
			IncompleteSignature,
			"A presigned request has a body only if the hash of the body is signed, and not '%s'.",
			unsignedPayload,
		)
	}
	return s, s.complete(h, scheme, credential, date)
}
