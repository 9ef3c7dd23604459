package signature

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"
	"time"
)

// parseVersion2 reads a Version 2 signature from the parameters of query and form, all of which are signed.
func parseVersion2(params []parameter, presigned bool) (Signature, error) {
	s := Signature{Claims: Verified{Version: 2, Presigned: presigned}, params: params}
	slices.SortFunc(params, func(a, b parameter) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(params); i++ {
		// The canonical form has no place for a second value, and does not define which of them counts.
		if params[i].name == params[i-1].name {
			return s, refuse(
				InvalidParameterCombination, "The parameter %s must not be given more than once.", params[i].name,
			)
		}
	}
	var version, method, timestamp, expires string
	for _, f := range [...]struct {
		name string
		into *string
	}{
		{"SignatureVersion", &version},
		{"SignatureMethod", &method},
		{"AWSAccessKeyId", &s.Claims.AccessKeyID},
		{"Signature", &s.presented},
		{"SecurityToken", &s.Claims.Token},
		{"Timestamp", &timestamp},
		{"Expires", &expires},
	} {
		*f.into, _ = value(params, f.name)
	}

	switch {
	case version == "":
		return s, missingParameter("SignatureVersion")
	case version != "2":
		return s, invalidParameter("SignatureVersion", version, "Must be 2.")
	case s.Claims.AccessKeyID == "":
		return s, refuse(MissingParameter, "Request must contain AWSAccessKeyId or X.509 certificate.")
	case s.presented == "":
		return s, missingParameter("Signature")
	case method == "":
		return s, missingParameter("SignatureMethod")
	case timestamp != "" && expires != "":
		return s, refuse(InvalidParameterCombination, "The parameters Timestamp and Expires must not be used together.")
	case timestamp == "" && expires == "":
		return s, refuse(MissingParameter, "The request must contain the parameter Timestamp or Expires.")
	}
	switch method {
	case "HmacSHA256":
		s.hash = sha256.New
	case "HmacSHA1":
		s.hash = sha1.New
	default:
		return s, invalidParameter("SignatureMethod", method, "Must be HmacSHA256 or HmacSHA1.")
	}
	var ok bool
	if timestamp != "" {
		if s.Claims.SignedAt, ok = parseISO8601(timestamp); !ok {
			return s, invalidParameter("Timestamp", timestamp, "Must be in ISO8601 format")
		}
	} else if s.expires, ok = parseISO8601(expires); !ok {
		return s, invalidParameter("Expires", expires, "Must be in ISO8601 format")
	}
	s.time = timestamp + expires
	return s, nil
}

// parseISO8601 reads 2007-01-31T23:59:59Z and its variants with up to three digits of fraction or with an offset in
// place of the Z. Zone names such as PST stand for more than one zone and are refused.
func parseISO8601(v string) (time.Time, bool) {
	const toSeconds = len("2006-01-02T15:04:05")
	if len(v) <= toSeconds || v[toSeconds] == ',' || v[len("2006-01-02T15")] != ':' {
		return time.Time{}, false // time.Parse would take a comma for a point, and hours of one digit
	}
	if fraction, ok := strings.CutPrefix(v[toSeconds:], "."); ok {
		if zone := strings.TrimLeft(fraction, "0123456789"); len(fraction)-len(zone) > 3 {
			return time.Time{}, false
		}
	}
	for _, layout := range [...]string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700"} {
		if t, err := time.Parse(layout, v); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// appendStringToSign2 appends the text that a Version 2 signature signs:
//
//	method \n host \n path \n query
//
// with the parameters sorted by name before they are encoded, unlike in Version 4.
func (s *Signature) appendStringToSign2(dst []byte, r *Request, host string) []byte {
	dst = append(dst, r.Method...)
	dst = append(dst, '\n')
	dst = append(dst, host...)
	dst = append(dst, '\n')
	if r.Path == "" {
		dst = append(dst, '/')
	}
	dst = append(dst, r.Path...)
	dst = append(dst, '\n')
	encoded := make([]parameter, 0, len(s.params))
	for _, p := range s.params {
		if p.name != "Signature" {
			encoded = append(encoded, parameter{escape(p.name), escape(p.value)})
		}
	}
	return appendPairs(dst, encoded)
}

// prove2 returns the host, if any, for which the signature was made with the secret.
func (v *Verifier) prove2(r *Request, s *Signature, secret string) (host string, ok bool) {
	presented, err := base64.StdEncoding.Strict().DecodeString(s.presented)
	mac := hmac.New(s.hash, []byte(secret))
	for _, host := range slices.Concat([]string{r.Host}, v.Hosts) {
		for _, name := range canonicalHosts2(host) {
			mac.Reset()
			mac.Write(s.appendStringToSign2(nil, r, name))
			if hmac.Equal(mac.Sum(nil), presented) && err == nil {
				return host, true
			}
		}
	}
	return "", false
}

// canonicalHosts2 returns the possible forms of host in a string to sign: in lower case, without the default port.
// Which port is the default depends on a scheme that is unknown behind a proxy, and some clients do not remove it.
func canonicalHosts2(host string) []string {
	host = strings.ToLower(host)
	for _, port := range [...]string{":80", ":443"} {
		if name, ok := strings.CutSuffix(host, port); ok {
			return []string{name, host}
		}
	}
	return []string{host}
}
