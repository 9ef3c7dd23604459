package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"
)

// Signer signs requests with a key for a service and region. It is for our own clients of small requests, and safe for
// concurrent use.
type Signer struct {
	AccessKeyID string
	Secret      string
	Token       string // session token of temporary keys, or empty
	Region      string
}

// Sign signs r by Version 4, as of now. body is its whole body. Sign signs the host, the Content-Type, X-Amz-Target if
// there is one, and the headers that it sets: the date and the token. The URL must have no query.
func (s *Signer) Sign(r *http.Request, service string, body []byte, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	r.Header.Set("X-Amz-Date", stamp)
	signed := []string{"content-type", "host", "x-amz-date"}
	if s.Token != "" {
		r.Header.Set("X-Amz-Security-Token", s.Token)
		signed = append(signed, "x-amz-security-token")
	}
	if r.Header.Get("X-Amz-Target") != "" {
		signed = append(signed, "x-amz-target")
	}
	var text strings.Builder
	text.WriteString(r.Method + "\n" + r.URL.EscapedPath() + "\n\n")
	for _, name := range signed {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.URL.Host
		}
		text.WriteString(name + ":" + value + "\n")
	}
	names := strings.Join(signed, ";")
	text.WriteString("\n" + names + "\n" + hexSum(body))
	scope := strings.Join([]string{stamp[:8], s.Region, service, "aws4_request"}, "/")
	m := hmac.New(sha256.New, deriveKey(s.Secret, scope).key[:])
	m.Write([]byte("AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hexSum([]byte(text.String()))))
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+s.AccessKeyID+"/"+scope+
		", SignedHeaders="+names+", Signature="+hex.EncodeToString(m.Sum(nil)))
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
