package signature

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	testKey    = "AKIDEXAMPLE"
	testSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
)

var testTime = time.Date(2015, 6, 19, 10, 22, 13, 0, time.UTC)

func testLookup(id string) (string, bool) { return testSecret, id == testKey }

// post returns an unsigned JSON request.
func post(body string) *Request {
	return &Request{
		Method: "POST",
		Host:   "sqs.example.com:9324",
		Path:   "/",
		Header: http.Header{
			"Content-Type": {"application/x-amz-json-1.0"},
			"User-Agent":   {"test"},
			"X-Amz-Target": {"AmazonSQS.SendMessage"},
		},
		Body: []byte(body),
	}
}

// signer signs requests in the simplest way.
type signer struct {
	key, secret string
	scope       string   // of the credential
	timestamp   string   // as signed
	headers     []string // to sign besides host, in canonical form
	payload     string   // to sign instead of the hash of the body
	query       string   // to sign instead of the query sent
}

func newSigner(at time.Time, headers ...string) *signer {
	at = at.UTC()
	return &signer{
		key:       testKey,
		secret:    testSecret,
		scope:     at.Format("20060102") + "/us-east-1/sqs/aws4_request",
		timestamp: at.Format(basicFormat),
		headers:   headers,
	}
}

func (s *signer) signature(t testing.TB, r *Request) (signedHeaders, signature string) {
	t.Helper()
	lines := map[string]string{"host": r.Host}
	for _, name := range s.headers {
		lines[strings.ToLower(name)] = strings.Join(r.Header[name], ",")
	}
	names := slices.Sorted(maps.Keys(lines))
	var headers strings.Builder
	for _, name := range names {
		fmt.Fprintf(&headers, "%s:%s\n", name, lines[name])
	}
	query := s.query
	if query == "" {
		values, err := url.ParseQuery(r.RawQuery)
		if err != nil {
			t.Fatal(err)
		}
		query = strings.ReplaceAll(values.Encode(), "+", "%20")
	}
	sum := func(b []byte) string { h := sha256.Sum256(b); return hex.EncodeToString(h[:]) }
	payload := s.payload
	if payload == "" {
		payload = sum(r.Body)
	}
	signedHeaders = strings.Join(names, ";")
	request := strings.Join([]string{
		r.Method, strings.ReplaceAll(r.Path, "%", "%25"), query, headers.String(), signedHeaders, payload}, "\n")
	toSign := strings.Join([]string{"AWS4-HMAC-SHA256", s.timestamp, s.scope, sum([]byte(request))}, "\n")
	key := []byte("AWS4" + s.secret)
	for _, text := range append(strings.Split(s.scope, "/"), toSign) {
		mac := hmac.New(sha256.New, key)
		io.WriteString(mac, text)
		key = mac.Sum(nil)
	}
	return signedHeaders, hex.EncodeToString(key)
}

func (s *signer) authorize(t testing.TB, r *Request) *Request {
	t.Helper()
	signedHeaders, signature := s.signature(t, r)
	r.Header.Set("Authorization", fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s",
		s.key, s.scope, signedHeaders, signature))
	return r
}

// presign adds unescaped parameters in the form name=value, and then the signature.
func (s *signer) presign(t testing.TB, r *Request, extra ...string) *Request {
	t.Helper()
	add := func(name, value string) {
		if r.RawQuery != "" {
			r.RawQuery += "&"
		}
		r.RawQuery += name + "=" + url.QueryEscape(value)
	}
	add("X-Amz-Algorithm", "AWS4-HMAC-SHA256")
	add("X-Amz-Credential", s.key+"/"+s.scope)
	add("X-Amz-Date", s.timestamp)
	names := append([]string{"host"}, s.headers...)
	for i := range names {
		names[i] = strings.ToLower(names[i])
	}
	slices.Sort(names)
	add("X-Amz-SignedHeaders", strings.Join(names, ";"))
	for _, pair := range extra {
		name, value, _ := strings.Cut(pair, "=")
		add(name, value)
	}
	_, signature := s.signature(t, r)
	add("X-Amz-Signature", signature)
	return r
}

// readRequest reads a request with net/http, as a server does.
func readRequest(t testing.TB, raw string) *Request {
	t.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return FromHTTP(r, body)
}

func get(query string) *Request {
	return &Request{
		Method: "GET", Host: "sqs.example.com", Path: "/123456789012/q", RawQuery: query, Header: http.Header{},
	}
}

// signedPost is a JSON request that is signed at testTime as SDKs sign it.
func signedPost(t testing.TB, body string) *Request {
	t.Helper()
	r := post(body)
	r.Header.Set("X-Amz-Date", testTime.Format(basicFormat))
	return newSigner(testTime, "Content-Type", "X-Amz-Date", "X-Amz-Target").authorize(t, r)
}

func check(t *testing.T, r *Request) (Verified, error) {
	t.Helper()
	who, err := new(Verifier).Verify(r, testTime, testLookup)
	foreseen(t, r, testLookup, err)
	return who, err
}

// foreseen checks that the result was predicted from the header of r alone.
func foreseen(t *testing.T, r *Request, lookup func(string) (string, bool), err error) {
	t.Helper()
	head := *r
	head.Body = nil
	switch named, expected := Foresee(&head, testTime, lookup); {
	case expected != nil && (err == nil || expected.Error() != err.Error()):
		t.Errorf("expected to be refused with %v, and got %v", expected, err)
	case err == nil && !named && signedInHeader(r):
		t.Error("the key was not expected to be known")
	}
}

func accept(t *testing.T, r *Request) Verified {
	t.Helper()
	who, err := check(t, r)
	if err != nil {
		t.Errorf("refused: %v", err)
	}
	return who
}

func refused(t *testing.T, r *Request, kind Kind, message string) {
	t.Helper()
	who, err := check(t, r)
	wantError(t, err, kind, message)
	if who != (Verified{}) {
		t.Errorf("refused, and verified %v", who)
	}
}

func wantError(t *testing.T, err error, kind Kind, message string) {
	t.Helper()
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Errorf("error %v, want %v", err, kind)
	} else if e.Kind != kind || e.Message != message && message != "" {
		t.Errorf("error %v: %q\nwant  %v: %q", e.Kind, e.Message, kind, message)
	}
}

const mismatchText = "The request signature we calculated does not match the signature you provided. " +
	"Check your AWS Secret Access Key and signing method. Consult the service documentation for details."

func TestUnsigned(t *testing.T) {
	f := func(r *Request) {
		t.Helper()
		if _, err := check(t, r); !errors.Is(err, ErrUnsigned) {
			t.Errorf("error %v, want ErrUnsigned", err)
		}
		if _, err := Parse(r); !errors.Is(err, ErrUnsigned) {
			t.Errorf("Parse: error %v, want ErrUnsigned", err)
		}
	}
	f(post(`{}`))
	f(get(""))
	f(get("Action=ReceiveMessage&Version=2012-11-05&Timestamp=x&Expires=y&X-Amz-Date=z"))
	f(get("Action=GetQueueAttributes&AttributeName=All;&%zz=1")) // not for the verifier to refuse
	r := post("{}")
	r.Header.Set("Authorization", "")
	r.Header.Set("X-Amz-Security-Token", "token")
	f(r)
	r = post("Action=SendMessage&MessageBody=Signature")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	f(r)
	r = post("AWSAccessKeyId=AKIDEXAMPLE&Signature=x") // is not a form
	f(r)
}

func TestHeader(t *testing.T) {
	who := accept(t, signedPost(t, `{"MessageBody":"hello"}`))
	want := Verified{AccessKeyID: testKey, Version: 4, Region: "us-east-1", Service: "sqs", SignedAt: testTime,
		Host: "sqs.example.com:9324"}
	if who != want {
		t.Errorf("verified %+v\nwant %+v", who, want)
	}

	// Without spaces after the commas, with more of them, and in another order.
	for _, replace := range [][2]string{{", ", ","}, {", ", " ,   "}, {" Credential", "  Credential"}} {
		r := signedPost(t, "{}")
		r.Header.Set("Authorization", strings.ReplaceAll(r.Header.Get("Authorization"), replace[0], replace[1]))
		accept(t, r)
	}
	r := signedPost(t, "{}")
	scheme, rest, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	parts := strings.Split(rest, ", ")
	slices.Reverse(parts)
	r.Header.Set("Authorization", scheme+" "+strings.Join(parts, ", "))
	accept(t, r)

	// Host is used verbatim, and no other is valid.
	r = signedPost(t, "{}")
	r.Host = "SQS.example.com:9324"
	refused(t, r, SignatureMismatch, mismatchText)

	// Unsigned headers may change.
	r = signedPost(t, "{}")
	r.Header.Set("User-Agent", "proxy")
	r.Header.Set("X-Amzn-Trace-Id", "Root=1")
	accept(t, r)
}

func TestDateHeader(t *testing.T) {
	for _, layout := range []string{http.TimeFormat, basicFormat} {
		r := post("{}")
		r.Header.Set("Date", testTime.Format(layout))
		accept(t, newSigner(testTime, "Date", "X-Amz-Target").authorize(t, r))
		// It need not be signed: it is in the string to sign.
		accept(t, newSigner(testTime, "X-Amz-Target").authorize(t, r))
		// X-Amz-Date takes precedence.
		r.Header.Set("Date", "Thu, 01 Jan 1970 00:00:00 GMT")
		r.Header.Set("X-Amz-Date", testTime.Format(basicFormat))
		accept(t, newSigner(testTime, "X-Amz-Date", "X-Amz-Target").authorize(t, r))
	}
	bad := func(date string) {
		t.Helper()
		r := signedPost(t, "{}")
		r.Header.Set("X-Amz-Date", date)
		refused(t, r, IncompleteSignature,
			"Date must be in ISO-8601 'basic format'. Got '"+date+"'. See http://en.wikipedia.org/wiki/ISO_8601")
	}
	bad("2015")
	bad("20150619T102213.5Z")
	bad("20150619T102213+0000")
	bad("2015-06-19T10:22:13Z")
	bad("Fri, 19 Jun 2015 10:22:13 GMT")
	bad("20150631T102213Z")
}

func TestSkew(t *testing.T) {
	at := func(d time.Duration) *Request {
		t.Helper()
		r := post("{}")
		r.Header.Set("X-Amz-Date", testTime.Add(d).Format(basicFormat))
		return newSigner(testTime.Add(d), "X-Amz-Date", "X-Amz-Target").authorize(t, r)
	}
	accept(t, at(-15*time.Minute))
	accept(t, at(15*time.Minute))
	refused(t, at(-19*time.Minute-24*time.Second), Expired,
		"Signature expired: 20150619T100249Z is now earlier than 20150619T100713Z (20150619T102213Z - 15 min.)")
	refused(t, at(-15*time.Minute-time.Second), Expired, "")
	refused(t, at(15*time.Minute+time.Second), Expired,
		"Signature not yet current: 20150619T103714Z is still later than 20150619T103713Z (20150619T102213Z + 15 min.)")

	// The clock may be in any zone.
	if _, err := new(Verifier).Verify(at(0), testTime.In(time.FixedZone("", 3600)), testLookup); err != nil {
		t.Error(err)
	}
	_, err := new(Verifier).Verify(at(-time.Hour), testTime.In(time.FixedZone("", 3600)), testLookup)
	wantError(t, err, Expired,
		"Signature expired: 20150619T092213Z is now earlier than 20150619T100713Z (20150619T102213Z - 15 min.)")
}

func TestScope(t *testing.T) {
	with := func(scope string) *Request {
		t.Helper()
		r := post("{}")
		r.Header.Set("X-Amz-Date", testTime.Format(basicFormat))
		s := newSigner(testTime, "X-Amz-Date", "X-Amz-Target")
		s.scope = scope
		return s.authorize(t, r)
	}
	refused(t, with("20150618/us-east-1/sqs/aws4_request"), ScopeMismatch,
		"Date in Credential scope does not match YYYYMMDD "+
			"from ISO-8601 version of date from HTTP: '20150618' != '20150619', from '20150619T102213Z'.")
	refused(t, with("20150619/us-east-1/sqs/aws5_request"), ScopeMismatch,
		"Credential should be scoped with a valid terminator: 'aws4_request', not 'aws5_request'.")
	const five = "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got "
	refused(t, with("20150619/us-east-1/aws4_request"), IncompleteSignature,
		five+"'AKIDEXAMPLE/20150619/us-east-1/aws4_request'")
	refused(t, with("20150619/us-east-1/sqs/aws4_request/"), IncompleteSignature,
		five+"'AKIDEXAMPLE/20150619/us-east-1/sqs/aws4_request/'")
	refused(t, with("20150619/us\x01east/sqs/aws4_request"), IncompleteSignature, "")
	refused(t, with("20150619/us-east-1/"+strings.Repeat("s", 512)+"/aws4_request"), IncompleteSignature, "")

	// Region and service are for the caller to check.
	who := accept(t, with("20150619/queue/sns/aws4_request"))
	if who.Region != "queue" || who.Service != "sns" {
		t.Errorf("scope %q, %q", who.Region, who.Service)
	}
	wantError(t, RegionMismatch("queue"), ScopeMismatch, "Credential should be scoped to a valid region, not 'queue'. ")
	wantError(t, ServiceMismatch("sqs"), ScopeMismatch, "Credential should be scoped to correct service: 'sqs'.")
}

func TestUnknownKey(t *testing.T) {
	r := signedPost(t, "{}")
	const text = "The security token included in the request is invalid."
	for _, secret := range []string{"", testSecret, decoySecret} {
		_, err := new(Verifier).Verify(r, testTime, func(string) (string, bool) { return secret, false })
		wantError(t, err, UnknownKey, text)
	}
	// A key without a secret is refused, even if the signature fits.
	s := newSigner(testTime, "X-Amz-Date", "X-Amz-Target", "Content-Type")
	for _, secret := range []string{"", decoySecret} {
		s.secret = secret
		_, err := new(Verifier).Verify(s.authorize(t, r), testTime, func(string) (string, bool) { return "", true })
		wantError(t, err, UnknownKey, text)
	}
	// The key is looked up before the time is checked.
	_, err := new(Verifier).Verify(r, testTime.Add(time.Hour), func(string) (string, bool) { return "", false })
	wantError(t, err, UnknownKey, text)
	_, err = new(Verifier).Verify(r, testTime, func(string) (string, bool) { return "another", true })
	wantError(t, err, SignatureMismatch, mismatchText)
}

// The header alone suffices to refuse a request before its body arrives.
func TestForesee(t *testing.T) {
	unknown := func(string) (string, bool) { return "", false }
	if named, err := Foresee(signedPost(t, "{}"), testTime, testLookup); !named || err != nil {
		t.Errorf("a known key: %t, %v", named, err)
	}
	_, err := Foresee(signedPost(t, "{}"), testTime, unknown)
	wantError(t, err, UnknownKey, "The security token included in the request is invalid.")
	_, err = Foresee(signedPost(t, "{}"), testTime.Add(time.Hour), testLookup)
	wantError(t, err, Expired, "")
	r := signedPost(t, "{}")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 nonsense")
	_, err = Foresee(r, testTime, testLookup)
	wantError(t, err, IncompleteSignature, "")
	// The signature may be elsewhere, or be part of the form.
	for name, r := range map[string]*Request{
		"nowhere": post("{}"), "in the URL": newSigner(testTime).presign(t, get("")),
		"version 2": request2("GET", params2+"&Signature=NjzE9F3pEsM1pOclOsuFskedw2ZPwpAlpfq8GzXMV1w%3D"),
	} {
		if named, err := Foresee(r, testTime, unknown); named || err != nil {
			t.Errorf("%s: %t, %v", name, named, err)
		}
	}
}

func TestIncomplete(t *testing.T) {
	f := func(authorization, message string) {
		t.Helper()
		r := post("{}")
		r.Header.Set("Authorization", authorization)
		refused(t, r, IncompleteSignature, message)
	}
	const (
		credential    = "Authorization header requires 'Credential' parameter."
		signature     = "Authorization header requires 'Signature' parameter."
		signedHeaders = "Authorization header requires 'SignedHeaders' parameter."
		date          = "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header."
	)
	all := strings.Join([]string{credential, signature, signedHeaders, date}, " ")
	f("allow", all)
	f("AWS4-HMAC-SHA256", all)
	f("AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host", signature+" "+date)
	f("AWS4-HMAC-SHA256 Credential=a, Signature=b", signedHeaders+" "+date)
	f("AWS4-HMAC-SHA256 Credential=, SignedHeaders=host, Signature=b", credential+" "+date)
	f("AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=b", date)
	f("Bearer x", "'x' not a valid key=value pair (missing equal-sign) in Authorization header: 'Bearer x'.")
	f("AWS4-HMAC-SHA256 Credential=a,", "'' not a valid key=value pair (missing equal-sign) in Authorization header: "+
		"'AWS4-HMAC-SHA256 Credential=a,'.")
	f("AWS "+testKey+":c2lnbmF0dXJl\xff",
		"'AKIDEXAMPLE:c2lnbmF0dXJl\uFFFD' not a valid key=value pair (missing equal-sign) "+
			"in Authorization header: 'AWS AKIDEXAMPLE:c2lnbmF0dXJl\uFFFD'.")
	f("AWS4-HMAC-SHA256 Credential=a, Credential=b", "Authorization header has more than one 'Credential' parameter.")
	f("AWS4-HMAC-SHA256 "+strings.Repeat("x", 8<<10), "Authorization header is longer than 8192 bytes.")

	edit := func(message string, kind Kind, edit func(*Request)) {
		t.Helper()
		r := signedPost(t, "{}")
		edit(r)
		refused(t, r, kind, message)
	}
	replace := func(old, new string) func(*Request) {
		return func(r *Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), old, new, 1))
		}
	}
	edit("Unsupported AWS 'algorithm': 'AWS4-ECDSA-P256-SHA256' (only AWS4-HMAC-SHA256 for now).", IncompleteSignature,
		replace("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256"))
	edit("'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.", SignatureMismatch,
		replace("host;", ""))
	edit("'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.", SignatureMismatch,
		replace(";x-amz-target", ""))
	edit("'X-Amz-New' must be a 'SignedHeader' in the AWS Authorization.", SignatureMismatch,
		func(r *Request) { r.Header.Set("X-Amz-New", "") })
	const sorted = "SignedHeaders must be header names in lower case, sorted and separated by ';', got "
	edit(sorted+"'host;content-type;x-amz-date;x-amz-target'", IncompleteSignature,
		replace("content-type;host", "host;content-type"))
	edit(sorted+"'content-type;Host;x-amz-date;x-amz-target'", IncompleteSignature, replace("host", "Host"))
	edit(sorted+"'content-type;host;host;x-amz-date;x-amz-target'", IncompleteSignature, replace("host", "host;host"))
	edit(sorted+"';content-type;host;x-amz-date;x-amz-target'", IncompleteSignature,
		replace("content-type", ";content-type"))
	edit(sorted+"'a:b;host;x-amz-date;x-amz-target'", IncompleteSignature, replace("content-type", "a:b"))
	edit("More than 100 headers are signed.", IncompleteSignature, func(r *Request) {
		names := ""
		for i := range 100 {
			names += fmt.Sprintf("a%02d;", i)
		}
		replace("content-type", names+"content-type")(r)
	})
	edit("The request has more than one 'Authorization' header.", IncompleteSignature,
		func(r *Request) { r.Header.Add("Authorization", r.Header.Get("Authorization")) })
	edit("The request has more than one 'X-Amz-Date' header.", IncompleteSignature,
		func(r *Request) { r.Header.Add("X-Amz-Date", r.Header.Get("X-Amz-Date")) })

	// A text that cannot be a signature is handled like a wrong one.
	signed := signedPost(t, "{}").Header.Get("Authorization")
	sig := signed[len(signed)-64:]
	edit(mismatchText, SignatureMismatch, replace(sig, sig[:62]))
	edit(mismatchText, SignatureMismatch, replace(sig, sig+"00"))
	edit(mismatchText, SignatureMismatch, replace(sig, "g"+sig[1:]))
	edit(mismatchText, SignatureMismatch, replace(sig, strings.Repeat("0", 64)))
	r := signedPost(t, "{}")
	replace(sig, strings.ToUpper(sig))(r)
	accept(t, r)
}

func TestPayloadHash(t *testing.T) {
	sum := sha256.Sum256([]byte("{}"))
	hash := hex.EncodeToString(sum[:])
	with := func(sent, signed, body string) *Request {
		t.Helper()
		r := post(body)
		r.Header.Set("X-Amz-Date", testTime.Format(basicFormat))
		s := newSigner(testTime, "X-Amz-Date", "X-Amz-Target")
		if sent != "" {
			r.Header.Set("X-Amz-Content-Sha256", sent)
			s.headers = append(s.headers, "X-Amz-Content-Sha256")
		}
		s.payload = signed
		return s.authorize(t, r)
	}
	accept(t, with(hash, hash, "{}"))
	accept(t, with("UNSIGNED-PAYLOAD", "UNSIGNED-PAYLOAD", "anything"))
	refused(t, with("", "UNSIGNED-PAYLOAD", "{}"), SignatureMismatch, mismatchText)
	refused(t, with("UNSIGNED-PAYLOAD", hash, "{}"), SignatureMismatch, mismatchText)
	refused(t, with(hash, hash, "[]"), SignatureMismatch, mismatchText)
	refused(t, with(hash, "", "[]"), SignatureMismatch, mismatchText)
	const streaming = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"
	refused(t, with(streaming, streaming, "{}"), InvalidParameter,
		"Value (STREAMING-AWS4-HMAC-SHA256-PAYLOAD) for parameter "+
			"X-Amz-Content-Sha256 is invalid. Reason: Bodies signed in chunks are not supported.")
}

func TestContentLength(t *testing.T) {
	r := post("12345")
	r.Header.Set("X-Amz-Date", testTime.Format(basicFormat))
	r.Header.Set("Content-Length", "5")
	newSigner(testTime, "Content-Length", "X-Amz-Date", "X-Amz-Target").authorize(t, r)
	accept(t, r)
	r.Header.Del("Content-Length")
	accept(t, r)
	r.Header.Set("Content-Length", "6")
	refused(t, r, SignatureMismatch, mismatchText)
}

func TestPresigned(t *testing.T) {
	s := newSigner(testTime)
	who := accept(t, s.presign(t, get("Action=ReceiveMessage")))
	if !who.Presigned || who.Version != 4 || who.AccessKeyID != testKey || who.SignedAt != testTime {
		t.Errorf("verified %+v", who)
	}
	accept(t, s.presign(t, get(""), "X-Amz-Expires=1"))
	accept(t, s.presign(t, get(""), "X-Amz-Expires=604800"))
	for _, v := range []string{"0", "604801", "-1", "x", ""} {
		refused(t, s.presign(t, get(""), "X-Amz-Expires="+v), InvalidParameter,
			"Value ("+v+") for parameter X-Amz-Expires is invalid. Reason: Must be between 1 and 604800 seconds.")
	}

	// X-Amz-Expires does not change the period.
	accept(t, newSigner(testTime.Add(-15*time.Minute)).presign(t, get(""), "X-Amz-Expires=1"))
	refused(t, newSigner(testTime.Add(-16*time.Minute)).presign(t, get(""), "X-Amz-Expires=604800"), Expired,
		"Signature expired: 20150619T100613Z is now earlier than 20150619T100713Z (20150619T102213Z - 15 min.)")

	// The body must be the signed one. A signer who left it open has signed a URL without a body.
	withBody := func(r *Request, body string) *Request { r.Method, r.Body = "POST", []byte(body); return r }
	accept(t, s.presign(t, withBody(get(""), "body")))
	refused(t, withBody(s.presign(t, withBody(get(""), "")), "body"), SignatureMismatch, mismatchText)
	open := newSigner(testTime)
	open.payload = "UNSIGNED-PAYLOAD"
	accept(t, open.presign(t, withBody(get(""), "")))
	accept(t, open.presign(t, withBody(get(""), ""), "X-Amz-Content-Sha256=UNSIGNED-PAYLOAD"))
	refused(t, withBody(open.presign(t, withBody(get(""), "")), "body"), SignatureMismatch, mismatchText)
	refused(t, withBody(open.presign(t, withBody(get(""), ""), "X-Amz-Content-Sha256=UNSIGNED-PAYLOAD"), "body"),
		IncompleteSignature,
		"A presigned request has a body only if the hash of the body is signed, and not 'UNSIGNED-PAYLOAD'.")
	refused(t, open.presign(t, get(""), "X-Amz-Content-Sha256="+strings.Repeat("0", 64)), SignatureMismatch,
		mismatchText)

	// Headers with a meaning for the server cannot be added.
	r := s.presign(t, get(""))
	r.Header.Set("X-Amz-Target", "AmazonSQS.DeleteQueue")
	refused(t, r, SignatureMismatch, "'X-Amz-Target' must be a 'SignedHeader' in the AWS Authorization.")
	r = get("")
	r.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
	r = newSigner(testTime, "X-Amz-Target").presign(t, r)
	accept(t, r)
	r.Header.Set("X-Amz-Target", "AmazonSQS.DeleteQueue")
	refused(t, r, SignatureMismatch, mismatchText)
}

func TestPresignedIncomplete(t *testing.T) {
	refused(t, get("X-Amz-Algorithm=AWS4-HMAC-SHA256"), IncompleteSignature,
		"AWS query-string parameters must include 'X-Amz-Credential'. "+
			"AWS query-string parameters must include 'X-Amz-Signature'. "+
			"AWS query-string parameters must include 'X-Amz-SignedHeaders'. "+
			"AWS query-string parameters must include 'X-Amz-Date'. Re-examine the query-string parameters.")
	whole := newSigner(testTime).presign(t, get(""), "X-Amz-Expires=60", "X-Amz-Security-Token=token").RawQuery
	pairs := strings.Split(whole, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		rest := strings.Join(slices.Delete(slices.Clone(pairs), i, i+1), "&")
		switch name {
		case "X-Amz-Expires":
			refused(t, get(rest), SignatureMismatch, mismatchText)
		case "X-Amz-Security-Token": // was signed, and is looked for only if there is one
			refused(t, get(rest), SignatureMismatch, mismatchText)
		default:
			refused(t, get(rest), IncompleteSignature,
				"AWS query-string parameters must include '"+name+"'. Re-examine the query-string parameters.")
		}
		refused(t, get(whole+"&"+pair), IncompleteSignature, "The query string has more than one '"+name+"' parameter.")
		// A name is the same however it is escaped.
		refused(t, get(whole+"&"+strings.Replace(pair, "X", "%58", 1)), IncompleteSignature, "")
	}
	accept(t, get(strings.Replace(whole, "X-Amz-Signature", "%58-Amz-Signature", 1)))

	// Only the query can set the dates.
	r := get(strings.Join(pairs[:2], "&"))
	r.Header.Set("X-Amz-Date", testTime.Format(basicFormat))
	refused(t, r, IncompleteSignature, "AWS query-string parameters must include 'X-Amz-Signature'. "+
		"AWS query-string parameters must include 'X-Amz-SignedHeaders'. "+
		"AWS query-string parameters must include 'X-Amz-Date'. Re-examine the query-string parameters.")

	// Line breaks do not reach the string to sign.
	refused(t, get(strings.Replace(whole, "=host", "=host%0Ax", 1)), IncompleteSignature, "")
	refused(t, get(strings.Replace(whole, "us-east-1", "us%0Aeast", 1)), IncompleteSignature, "")
}

func TestBothForms(t *testing.T) {
	r := signedPost(t, "{}")
	r.RawQuery = newSigner(testTime).presign(t, post("{}")).RawQuery
	refused(t, r, IncompleteSignature,
		"Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.")
	r = signedPost(t, "{}")
	r.RawQuery = "X-Amz-Signature=x"
	refused(t, r, IncompleteSignature, "")
	r.RawQuery = "AWSAccessKeyId=x"
	refused(t, r, IncompleteSignature,
		"Found both 'AWSAccessKeyId' as a query-string param and a Version 4 signature.")
	r = newSigner(testTime).presign(t, get("SignatureVersion=2"))
	refused(t, r, IncompleteSignature, "")
}

func TestQuery(t *testing.T) {
	// what is sent, and what it is when signed
	f := func(sent, canonical string) {
		t.Helper()
		r := get(sent)
		s := newSigner(testTime, "Date")
		s.query = canonical
		r.Header.Set("Date", testTime.Format(http.TimeFormat))
		accept(t, s.authorize(t, r))
	}
	f("a=b+c", "a=b%20c")
	f("a=b%20c", "a=b%20c")
	f("a=b%2bc", "a=b%2Bc") // lower-case hexadecimal
	f("a=%c3%a9%C3%A9", "a=%C3%A9%C3%A9")
	f("a=é", "a=%C3%A9")
	f("b=2&a=1", "a=1&b=2")
	f("a=2&a=1&a=10", "a=1&a=10&a=2")
	f("a", "a=")
	f("a&&b&", "a=&b=")
	f("=v", "=v")
	f("a=b=c", "a=b%3Dc")
	f("a=%41%7E%2D", "a=A~-")
	f("a=*'()!", "a=%2A%27%28%29%21")
	f("a=a-b&a=a/b", "a=a%2Fb&a=a-b") // sorted as encoded
	f("a-b=1&a=2&a.b=3", "a=2&a-b=1&a.b=3")
	f("A=1&a=2&_=3", "A=1&_=3&a=2")
	f("a=1;b=2", "a=1%3Bb%3D2") // a semicolon separates nothing

	bad := func(query string) {
		t.Helper()
		r := signedPost(t, "{}")
		r.RawQuery = query
		refused(t, r, MalformedQueryString, "")
	}
	bad("a=%zz")
	bad("%=1")
	bad(strings.Repeat("&", maxParameters))
	// Still, a signature is recognized.
	refused(t, get("a=%zz&Signature=%"), MalformedQueryString, "")
}

func TestPath(t *testing.T) {
	f := func(path, want string) {
		t.Helper()
		if got := string(appendPath(nil, path, true)); got != want {
			t.Errorf("canonical path of %q is %q, want %q", path, got, want)
		}
	}
	f("", "/")
	f("/", "/")
	f("/123456789012/q", "/123456789012/q")
	f("/123456789012/q/", "/123456789012/q/")
	f("/123456789012/q.fifo", "/123456789012/q.fifo")
	f("/a%20b", "/a%2520b")
	f("//a%2Fb/../c%20d", "/c%2520d")
	f("/a/b/../c", "/a/c")
	f("/a/b/..", "/a")
	f("/a/b/../", "/a/")
	f("/../..", "/")
	f("/..a/.b/c...", "/..a/.b/c...")
	f("/%2e%2e/a", "/%252e%252e/a")
	f("///", "/")
}

func TestHeaderValues(t *testing.T) {
	f := func(value, want string) {
		t.Helper()
		if got := string(appendSqueezed(nil, value)); got != want {
			t.Errorf("canonical value of %q is %q, want %q", value, got, want)
		}
	}
	f("", "")
	f(" ", "")
	f(" \ta\t ", "a")
	f("a b", "a b")
	f("a  b   c", "a b c")
	f(`"a  b"`, `"a b"`)
	f("a\tb", "a\tb")

	h := http.Header{}
	for _, name := range []string{"x-amz-date", "content-md5", "a", "x-", "-x", "x_y-z",
		"x-" + strings.Repeat("long-", 30)} {
		h.Set(name, name)
		if got := headerValues(h, name); len(got) != 1 || got[0] != name {
			t.Errorf("header %q has values %q", name, got)
		}
	}
}

func TestSecurityToken(t *testing.T) {
	r := post("{}")
	r.Header.Set("X-Amz-Date", testTime.Format(basicFormat))
	r.Header.Set("X-Amz-Security-Token", "token")
	who := accept(t, newSigner(testTime, "X-Amz-Date", "X-Amz-Target", "X-Amz-Security-Token").authorize(t, r))
	if who.Token != "token" {
		t.Errorf("token %q", who.Token)
	}
	r.Header.Set("X-Amz-Security-Token", "other")
	refused(t, r, SignatureMismatch, mismatchText)
	accept(t, newSigner(testTime, "X-Amz-Date", "X-Amz-Target").authorize(t, r)) // added after signing

	who = accept(t, newSigner(testTime).presign(t, get(""), "X-Amz-Security-Token=token/+="))
	if who.Token != "token/+=" {
		t.Errorf("token %q", who.Token)
	}
	r = newSigner(testTime).presign(t, get(""))
	r.RawQuery += "&X-Amz-Security-Token=late"
	if who = accept(t, r); who.Token != "late" {
		t.Errorf("token %q", who.Token)
	}

	var log bytes.Buffer
	s, err := Parse(r)
	slog.New(slog.NewTextHandler(&log, nil)).Info("", "who", who, "signature", s)
	if err != nil || strings.Contains(log.String(), "late") || strings.Contains(log.String(), s.presented) ||
		!strings.Contains(log.String(), testKey) {
		t.Errorf("logged %s, %v", log.String(), err)
	}
}

func TestHosts(t *testing.T) {
	v := &Verifier{Hosts: []string{"a.example.com", "sqs.example.com:9324"}}
	r := signedPost(t, "{}")
	r.Host = "10.0.0.1"
	who, err := v.Verify(r, testTime, testLookup)
	if err != nil || who.Host != "sqs.example.com:9324" {
		t.Errorf("verified for %q, %v", who.Host, err)
	}
	v.Hosts = v.Hosts[:1]
	_, err = v.Verify(r, testTime, testLookup)
	wantError(t, err, SignatureMismatch, mismatchText)
}

func TestSigningKeys(t *testing.T) {
	var v Verifier
	verify := func(secret string) error {
		s := newSigner(testTime, "X-Amz-Date", "X-Amz-Target", "Content-Type")
		s.secret = secret
		_, err := v.Verify(s.authorize(t, signedPost(t, "{}")), testTime, testLookup)
		return err
	}
	// Unknown keys do not enter the cache.
	wantError(t, verify("wrong"), SignatureMismatch, mismatchText)
	if n := len(v.keys.keys); n != 0 {
		t.Errorf("%d signing keys after a failure", n)
	}
	for range 3 {
		if err := verify(testSecret); err != nil {
			t.Error(err)
		}
		wantError(t, verify("wrong"), SignatureMismatch, mismatchText)
	}
	if n := len(v.keys.keys); n != 1 {
		t.Errorf("%d signing keys", n)
	}
	// A new secret is valid, and the old one invalid, at once.
	r := signedPost(t, "{}")
	_, err := v.Verify(r, testTime, func(string) (string, bool) { return "new", true })
	wantError(t, err, SignatureMismatch, mismatchText)

	k := deriveKey("s", "a/b/c/d")
	for i := range maxSigningKeys + 10 {
		v.keys.put(fmt.Sprint(i), "scope", k)
		if v.keys.get(fmt.Sprint(i), "scope") != k {
			t.Fatal("a new key is not in the cache")
		}
	}
	if n := len(v.keys.keys); n != maxSigningKeys {
		t.Errorf("%d signing keys, want %d", n, maxSigningKeys)
	}
}

func TestConcurrent(t *testing.T) {
	var v Verifier
	for i := range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for n := range 200 {
				r := signedPost(t, fmt.Sprint(i, n))
				if _, err := v.Verify(r, testTime, testLookup); err != nil {
					t.Error(err)
				}
				r.Body = append(r.Body, 'x')
				if _, err := v.Verify(r, testTime, testLookup); err == nil {
					t.Error("verified a changed body")
				}
			}
		})
	}
}

func TestFromHTTP(t *testing.T) {
	for _, target := range []string{"/", "//a%2Fb/../c%20d?x=%2f+y", "/é?", "/q?a=b?c"} {
		raw := "GET " + target + " HTTP/1.1\r\nHost: EXAMPLE.com:80\r\nX-A: 1\r\nX-A: 2\r\n\r\n"
		r := readRequest(t, raw)
		path, query, _ := strings.Cut(target, "?")
		if r.Method != "GET" || r.Host != "EXAMPLE.com:80" || r.Path != path || r.RawQuery != query ||
			len(r.Header["X-A"]) != 2 {
			t.Errorf("%q became %+v", target, r)
		}
	}
	r := FromHTTP(httptest.NewRequest("GET", "http://example.com/a%20b?c", nil), nil)
	if r.Path != "/a%20b" || r.RawQuery != "c" || r.Host != "example.com" {
		t.Errorf("request for an absolute URL became %+v", r)
	}
}

func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for k := Unsigned; k <= MalformedQueryString; k++ {
		if k.String() == "" || seen[k.String()] {
			t.Errorf("kind %d is named %q", k, k)
		}
		seen[k.String()] = true
	}
	if Kind(0).String() != "Kind(0)" || Kind(200).String() != "Kind(200)" {
		t.Errorf("no kinds: %v, %v", Kind(0), Kind(200))
	}
	long := refuse(InvalidParameter, "%s", strings.Repeat("é", 5000))
	if n := len(long.Error()); n > maxMessage+3 {
		t.Errorf("message of %d bytes", n)
	}
}
