package signature

import (
	"net/http"
	"strings"
)

// parseAuthorization reads a Version 4 signature from the headers:
//
//	Authorization: AWS4-HMAC-SHA256 Credential=AKID/20150830/us-east-1/sqs/aws4_request,
//	    SignedHeaders=host;x-amz-date, Signature=5fa00f...
func parseAuthorization(h http.Header, query []parameter) (Signature, error) {
	s := Signature{Claims: Verified{Version: 4}, params: query}
	for _, name := range [...]string{"Authorization", "X-Amz-Date", securityToken, contentSHA256} {
		if len(h[name]) > 1 {
			return s, refuse(IncompleteSignature, "The request has more than one '%s' header.", name)
		}
	}
	s.Claims.Token, s.payload = first(h, securityToken), first(h, contentSHA256)
	header, amzDate := first(h, "Authorization"), first(h, "X-Amz-Date")
	if len(header) > maxAuthorization {
		return s, refuse(IncompleteSignature, "Authorization header is longer than %d bytes.", maxAuthorization)
	}
	scheme, rest, _ := strings.Cut(strings.TrimSpace(header), " ")
	var credential string
	for pair := range strings.SplitSeq(rest, ",") {
		pair = strings.TrimSpace(pair)
		name, value, ok := strings.Cut(pair, "=")
		if !ok && rest != "" {
			return s, refuse(IncompleteSignature,
				"'%s' not a valid key=value pair (missing equal-sign) in Authorization header: '%s'.", pair, header)
		}
		var field *string
		switch name {
		case "Credential":
			field = &credential
		case "SignedHeaders":
			field = &s.signedHeaders
		case "Signature":
			field = &s.presented
		default:
			continue
		}
		if *field != "" {
			return s, refuse(IncompleteSignature, "Authorization header has more than one '%s' parameter.", name)
		}
		*field = value
	}

	if amzDate == "" {
		amzDate = first(h, "Date")
		if t, err := http.ParseTime(amzDate); err == nil {
			amzDate = t.UTC().Format(basicFormat)
		}
	}
	var missing strings.Builder
	if credential == "" {
		missing.WriteString("Authorization header requires 'Credential' parameter. ")
	}
	if s.presented == "" {
		missing.WriteString("Authorization header requires 'Signature' parameter. ")
	}
	if s.signedHeaders == "" {
		missing.WriteString("Authorization header requires 'SignedHeaders' parameter. ")
	}
	if amzDate == "" {
		missing.WriteString("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
	}
	if missing.Len() > 0 {
		return s, refuse(IncompleteSignature, "%s", strings.TrimSpace(missing.String()))
	}

	return s, s.complete(h, scheme, credential, amzDate)
}

// first is Header.Get for names that are known to be in canonical form.
func first(h http.Header, name string) string {
	if values := h[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}
