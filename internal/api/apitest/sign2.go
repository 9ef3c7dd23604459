package apitest

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
)

// Version2 is how to sign with Signature Version 2. The zero value is right.
type Version2 struct {
	Method  string        // HmacSHA256 if empty
	Expires bool          // send Expires and not Timestamp
	Offset  time.Duration // difference between that time and the right time
	More    url.Values    // parameters that are also signed
	Tamper  func(url.Values)
}

// SignVersion2 returns a request like r whose parameters are values, signed.
func SignVersion2(
	t *testing.T, r *http.Request, values url.Values, cred identity.Credential, o Version2,
) *http.Request {
	t.Helper()
	if o.Method == "" {
		o.Method = "HmacSHA256"
	}
	signed := url.Values{
		"AWSAccessKeyId": {cred.AccessKeyID}, "SignatureVersion": {"2"}, "SignatureMethod": {o.Method},
	}
	now := time.Now().UTC().Add(o.Offset)
	if o.Expires {
		signed.Set("Expires", now.Add(time.Minute).Format(time.RFC3339))
	} else {
		signed.Set("Timestamp", now.Format("2006-01-02T15:04:05Z"))
	}
	for _, more := range []url.Values{values, o.More} {
		for name, v := range more {
			signed.Set(name, v[0])
		}
	}
	digest := map[string]func() hash.Hash{"HmacSHA256": sha256.New, "HmacSHA1": sha1.New}[o.Method]
	if digest == nil {
		digest = sha256.New
	}
	host := r.Host
	if host == "" {
		host = r.URL.Host
	}
	mac := hmac.New(digest, []byte(cred.Secret))
	fmt.Fprintf(mac, "%s\n%s\n%s\n%s", r.Method, strings.ToLower(host), r.URL.Path, strings.ReplaceAll(signed.Encode(), "+", "%20"))
	signed.Set("Signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	if o.Tamper != nil {
		o.Tamper(signed)
	}
	var out *http.Request
	var err error
	if r.Method == http.MethodGet {
		u := *r.URL
		u.RawQuery = signed.Encode()
		out, err = http.NewRequest(r.Method, u.String(), nil)
	} else {
		out, err = http.NewRequest(r.Method, r.URL.String(), strings.NewReader(signed.Encode()))
		if err == nil {
			out.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	out.Host = r.Host
	return out
}
