package signature

import (
	"crypto/hmac"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Vectors computed independently, by botocore's signer.
const (
	awsKey2    = "AKIAIOSFODNN7EXAMPLE"
	awsSecret2 = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
	params2    = "AWSAccessKeyId=AKIAIOSFODNN7EXAMPLE&Action=SendMessage&Expires=2011-10-15T12%3A00%3A00Z" +
		"&MessageBody=Your%20Message%20Text&SignatureMethod=HmacSHA256&SignatureVersion=2&Version=2012-11-05"
	publish2 = "Action=Publish&Version=2010-03-31&TopicArn=arn%3Ax&Message=a+b~%2A%2F%C3%A9&AWSAccessKeyId=AKIDEXAMPLE" +
		"&SignatureVersion=2&SignatureMethod=HmacSHA256&Timestamp=2026-11-21T01%3A11%3A33Z"
)

var (
	expires2   = time.Date(2011, 10, 15, 12, 0, 0, 0, time.UTC)
	timestamp2 = time.Date(2026, 11, 21, 1, 11, 33, 0, time.UTC)
)

func request2(method, params string) *Request {
	r := &Request{
		Method: method, Host: "sqs.us-east-1.amazonaws.com", Path: "/123456789012/queue1", Header: http.Header{},
	}
	if method == "POST" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		r.Body = []byte(params)
	} else {
		r.RawQuery = params
	}
	return r
}

func verify2(r *Request, now time.Time) (Verified, error) {
	return new(Verifier).Verify(r, now, func(id string) (string, bool) {
		return map[string]string{awsKey2: awsSecret2, "AKIDEXAMPLE": "secret"}[id], true
	})
}

func TestVersion2Vectors(t *testing.T) {
	f := func(method, params, signature string) {
		t.Helper()
		r := request2(method, params+"&Signature="+url.QueryEscape(signature))
		who, err := verify2(r, expires2)
		if err != nil {
			t.Error(err)
			return
		}
		want := Verified{AccessKeyID: awsKey2, Version: 2, Presigned: method == "GET", Host: r.Host}
		if who != want {
			t.Errorf("verified %+v\nwant %+v", who, want)
		}
	}
	f("GET", params2, "NjzE9F3pEsM1pOclOsuFskedw2ZPwpAlpfq8GzXMV1w=")
	f("POST", params2, "GvRmjdSuMUdj/3gFnXhf7w0Q1aVb0rFKuifAXj4pXfU=")
	f("GET", strings.Replace(params2, "HmacSHA256", "HmacSHA1", 1), "NwccF5iCwTXKArIwucl8LscED7o=")

	publish := func(host, params, signature string) error {
		r := request2("POST", params+"&Signature="+url.QueryEscape(signature))
		r.Host, r.Path = host, ""
		who, err := verify2(r, timestamp2)
		if err == nil && who.SignedAt != timestamp2 {
			t.Errorf("signed at %v", who.SignedAt)
		}
		return err
	}
	const right, withoutPort = "SoakDlY1pd0gLqtsi09nfiWifPuFn9fiWIuzcq6Zs0s=",
		"dc7cT/02QPNDPTKRRZLTtlsv6LIV+HpZAl1UtTJ6EFY="
	if err := publish("127.0.0.1:18999", publish2, right); err != nil {
		t.Error(err)
	}
	wantError(t, publish("127.0.0.1:18999", publish2, withoutPort), SignatureMismatch, mismatchText)
	wantError(t, publish("127.0.0.1:18999", publish2, "IxhzeRWyCXNLOXFqQ+MweUVNBi4="), SignatureMismatch, mismatchText)
	// The default port may be omitted, whether the Host header has it or not.
	for _, host := range []string{"127.0.0.1", "127.0.0.1:80", "127.0.0.1:443"} {
		if err := publish(host, publish2, withoutPort); err != nil {
			t.Error(err)
		}
	}
	wantError(t, publish("127.0.0.1:8080", publish2, withoutPort), SignatureMismatch, mismatchText)
}

// sign2 signs params as the verifier should expect it; the vectors prove that it is right.
func sign2(t *testing.T, method, params string) *Request {
	t.Helper()
	r := request2(method, params)
	s := Signature{}
	s.params, _ = parseQuery(params)
	parsed, err := parseVersion2(append(s.params, parameter{"Signature", "x"}), true)
	if err != nil {
		t.Fatal(err)
	}
	signature := sum2(&parsed, r)
	return request2(method, params+"&Signature="+url.QueryEscape(signature))
}

// sum2 returns the signature of s.
func sum2(s *Signature, r *Request) string {
	mac := hmac.New(s.hash, []byte("secret"))
	mac.Write(s.appendStringToSign2(nil, r, r.Host))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestVersion2(t *testing.T) {
	const common = "Action=A&AWSAccessKeyId=AKIDEXAMPLE&SignatureVersion=2&SignatureMethod=HmacSHA256"
	now := time.Date(2015, 6, 19, 10, 22, 13, 0, time.UTC)
	ok := func(method, params string) Verified {
		t.Helper()
		who, err := verify2(sign2(t, method, params), now)
		if err != nil {
			t.Errorf("%s: %v", params, err)
		}
		return who
	}
	expired := func(params, message string) {
		t.Helper()
		_, err := verify2(sign2(t, "GET", params), now)
		wantError(t, err, RequestExpired, message)
	}
	bad := func(params string, kind Kind, message string) {
		t.Helper()
		for _, method := range []string{"GET", "POST"} {
			_, err := verify2(request2(method, params), now)
			wantError(t, err, kind, message)
		}
	}

	for _, method := range []string{"GET", "POST"} {
		ok(method, common+"&Timestamp=2015-06-19T10:22:13Z")
		ok(method, common+"&Timestamp=2015-06-19T10:07:13Z")
		ok(method, common+"&Timestamp=2015-06-19T10:37:13Z")
		ok(method, common+"&Timestamp=2015-06-19T10:22:13.1Z")
		ok(method, common+"&Timestamp=2015-06-19T10:22:13.123Z")
		ok(method, common+"&Timestamp=2015-06-19T12:22:13%2B02:00")
		ok(method, common+"&Timestamp=2015-06-19T02:22:13-0800")
		ok(method, common+"&Timestamp=2015-06-19T02:22:13.5-08:00")
		ok(method, common+"&Expires=2015-06-19T10:22:13Z")
		ok(method, common+"&Expires=2015-06-26T10:22:13Z")
		ok(method, common+"&Expires=2015-06-26T10:22:13Z&Body=a+b&Empty=&%C3%A9=~*")
	}
	if who := ok("POST", common+"&Timestamp=2015-06-19T10:22:13Z&SecurityToken=t%2B"); who.Token != "t+" ||
		who.Presigned {
		t.Errorf("verified %+v", who)
	}

	expired(common+"&Timestamp=2015-06-19T10:07:12Z", "Request has expired. Timestamp date: 2015-06-19T10:07:12Z")
	expired(common+"&Timestamp=2015-06-19T10:37:14Z", "Request is not yet valid. Timestamp date: 2015-06-19T10:37:14Z")
	expired(common+"&Expires=2015-06-19T10:22:12Z", "Request has expired. Expires date: 2015-06-19T10:22:12Z")
	expired(common+"&Expires=0001-01-01T00:00:00Z", "")

	_, err := verify2(sign2(t, "GET", common+"&Expires=2015-06-26T10:22:14Z"), now)
	wantError(t, err, InvalidParameter,
		"Value (2015-06-26T10:22:14Z) for parameter Expires is invalid. Reason: Must be at most 7 days ahead.")

	for _, v := range []string{
		"2014-05-05T22:52:43PST", "2015-06-19T10:22:13", "2015-06-19T10:22:13.1234Z", "2015-06-19T10:22:13.Z",
		"2015-06-19T10:22:13,1Z", "2015-06-19 10:22:13Z", "2015-06-19", "20150619T102213Z", "2015-06-19T1:22:13Z",
		"2015-06-19T10:22:13z", "2015-06-31T10:22:13Z", "1434709333", "2015-06-19T10:22:13+02:00Z", "x",
	} {
		bad(common+"&Signature=x&Timestamp="+url.QueryEscape(v), InvalidParameter,
			"Value ("+v+") for parameter Timestamp is invalid. Reason: Must be in ISO8601 format")
		bad(common+"&Signature=x&Expires="+url.QueryEscape(v), InvalidParameter,
			"Value ("+v+") for parameter Expires is invalid. Reason: Must be in ISO8601 format")
	}

	const whole = common + "&Signature=x&Timestamp=2015-06-19T10:22:13Z"
	without := func(pair string) string { return strings.Replace(whole, "&"+pair, "", 1) }
	with := func(old, new string) string { return strings.Replace(whole, old, new, 1) }
	bad(whole, SignatureMismatch, mismatchText)
	bad(without("AWSAccessKeyId=AKIDEXAMPLE"), MissingParameter,
		"Request must contain AWSAccessKeyId or X.509 certificate.")
	bad(without("Signature=x"), MissingParameter, "The request must contain the parameter Signature.")
	bad(without("SignatureVersion=2"), MissingParameter, "The request must contain the parameter SignatureVersion.")
	bad(without("SignatureMethod=HmacSHA256"), MissingParameter,
		"The request must contain the parameter SignatureMethod.")
	bad(without("Timestamp=2015-06-19T10:22:13Z"), MissingParameter,
		"The request must contain the parameter Timestamp or Expires.")
	bad(whole+"&Expires=2099-01-01T00:00:00Z", InvalidParameterCombination,
		"The parameters Timestamp and Expires must not be used together.")
	bad(with("SignatureVersion=2", "SignatureVersion=1"), InvalidParameter,
		"Value (1) for parameter SignatureVersion is invalid. Reason: Must be 2.")
	bad(with("HmacSHA256", "HmacMD5"), InvalidParameter,
		"Value (HmacMD5) for parameter SignatureMethod is invalid. Reason: Must be HmacSHA256 or HmacSHA1.")
	bad(with("AKIDEXAMPLE", "AKIDOTHER"), UnknownKey,
		"The AWS Access Key Id you provided does not exist in our records.")
	for _, pair := range []string{"Signature=x", "Timestamp=2015-06-19T10:22:13Z", "Action=B", "Acti%6fn=B"} {
		name, _, _ := strings.Cut(strings.Replace(pair, "%6f", "o", 1), "=")
		bad(whole+"&"+pair, InvalidParameterCombination, "The parameter "+name+" must not be given more than once.")
	}
	bad(whole+"&a=%zz", MalformedQueryString, "")
	bad(whole+strings.Repeat("&", maxParameters), MalformedQueryString, "")
	bad(with("Signature=x", "Signature=!"), SignatureMismatch, mismatchText)
	bad(with("Signature=x", "Signature=AAAA"), SignatureMismatch, mismatchText)

	// The parameters of query and form are signed together, and none may be in both.
	r := sign2(t, "POST", common+"&Timestamp=2015-06-19T10:22:13Z")
	action, rest, _ := strings.Cut(string(r.Body), "&")
	r.RawQuery, r.Body = action, []byte(rest)
	if _, err := verify2(r, now); err != nil {
		t.Error(err)
	}
	r.Body = []byte(action + "&" + rest)
	_, err = verify2(r, now)
	wantError(t, err, InvalidParameterCombination, "The parameter Action must not be given more than once.")
	r.RawQuery = "Extra=1"
	_, err = verify2(r, now)
	wantError(t, err, SignatureMismatch, mismatchText)
}

func TestNoVersion2(t *testing.T) {
	v := Verifier{NoVersion2: true}
	secret := func(string) (string, bool) { return "secret", true }
	now := time.Date(2015, 6, 19, 10, 22, 13, 0, time.UTC)
	r := sign2(t, "GET",
		"AWSAccessKeyId=AKIDEXAMPLE&SignatureVersion=2&SignatureMethod=HmacSHA256&Timestamp=2015-06-19T10:22:13Z")
	if _, err := new(Verifier).Verify(r, now, secret); err != nil {
		t.Fatal(err)
	}
	_, err := v.Verify(r, now, secret)
	wantError(t, err, IncompleteSignature, "This server does not accept Signature Version 2; sign with Version 4.")
}

// A Version 2 signature must not be valid for a body or an operation that it does not cover.
func TestVersion2Smuggling(t *testing.T) {
	form := sign2(t, "POST",
		"AWSAccessKeyId=AKIDEXAMPLE&SignatureVersion=2&SignatureMethod=HmacSHA256&Expires=2015-06-20T00:00:00Z")
	now := time.Date(2015, 6, 19, 10, 22, 13, 0, time.UTC)
	f := func(contentType, target, body string, ok bool) {
		t.Helper()
		r := *form
		r.Header = http.Header{"Content-Type": {contentType}}
		r.RawQuery, r.Body = string(form.Body), []byte(body)
		if target != "" {
			r.Header.Set("X-Amz-Target", target)
		}
		_, err := verify2(&r, now)
		if ok && err != nil {
			t.Error(err)
		} else if !ok {
			wantError(t, err, IncompleteSignature, "Signature Version 2 is for requests of the Query protocol only.")
		}
	}
	const formType = "application/x-www-form-urlencoded"
	f(formType, "", "", true)
	f("application/x-amz-json-1.0", "", "", true)
	f("application/x-amz-json-1.0", "", "{}", false)
	f("application/x-amz-json-1.0", "AmazonSQS.PurgeQueue", "{}", false)
	f("application/x-amz-json-1.0", "AmazonSQS.ListQueues", "", false)
	f(formType, "AmazonSQS.ListQueues", "", true) // it is read as a form
	f("", "AmazonSQS.ListQueues", "", false)
	f("", "", "Action=PurgeQueue", false)
	f(formType+"X", "", "Action=PurgeQueue", false)
	f(formType+",", "", "Action=PurgeQueue", false)
}

func TestVersion2Mutated(t *testing.T) {
	now := time.Date(2015, 6, 19, 10, 22, 13, 0, time.UTC)
	const params = "AWSAccessKeyId=AKIDEXAMPLE&Action=SendMessage&MessageBody=a%20b&SignatureVersion=2" +
		"&SignatureMethod=HmacSHA1&Timestamp=2015-06-19T10%3A22%3A13Z"
	for _, method := range []string{"GET", "POST"} {
		signed := sign2(t, method, params)
		if _, err := verify2(signed, now); err != nil {
			t.Fatal(err)
		}
		for _, f := range []*string{&signed.Method, &signed.Host, &signed.Path, &signed.RawQuery} {
			old := *f
			for i := range len(old) {
				*f = old[:i] + string([]byte{old[i] ^ 1}) + old[i+1:]
				if _, err := verify2(signed, now); err == nil {
					t.Errorf("verified with %q for %q", *f, old)
				}
			}
			*f = old
		}
		for i := range signed.Body {
			signed.Body[i] ^= 1
			if _, err := verify2(signed, now); err == nil {
				t.Errorf("verified with body %q", signed.Body)
			}
			signed.Body[i] ^= 1
		}
	}
}
