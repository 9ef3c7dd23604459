package signature

import (
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzVerify sends requests that no holder of the key has signed. Verify must refuse all of them, with an *Error for
// the sender. No seed was signed with its secret.
func FuzzVerify(f *testing.F) {
	var verifier Verifier
	now := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	add := func(r *Request) {
		f.Add(r.Method, r.Host, r.Path, r.RawQuery, r.Header.Get("Authorization"), r.Header.Get("X-Amz-Date"),
			r.Header.Get("Date"), r.Header.Get("Content-Type"), r.Body)
	}
	for _, v := range vectors(f) {
		if _, ok := unanswered[filepath.Base(v.dir)]; !ok {
			add(v.request(f, "header-signed-request.txt"))
			add(v.request(f, "query-signed-request.txt"))
		}
	}
	add(signedPost(f, "{}"))
	add(request2("POST", publish2+"&Signature=IxhzeRWyCXNLOXFqQ%2BMweUVNBi4%3D"))
	add(request2("GET", params2+"&Signature=NjzE9F3pEsM1pOclOsuFskedw2ZPwpAlpfq8GzXMV1w%3D"))
	f.Fuzz(func(t *testing.T, method, host, path, query, authorization, amzDate, date, contentType string,
		body []byte) {
		r := &Request{Method: method, Host: host, Path: path, RawQuery: query, Body: body, Header: http.Header{
			"Authorization": {authorization},
			"Content-Type":  {contentType},
			"Date":          {date},
		}}
		if amzDate != "" {
			r.Header.Set("X-Amz-Date", amzDate)
		}
		secret := func(string) (string, bool) { return "not the secret of any seed", true }
		who, err := verifier.Verify(r, now, secret)
		e, ok := errors.AsType[*Error](err)
		if !ok {
			t.Fatalf("verified %+v, error %v", who, err)
		}
		if e.Kind == 0 || e.Message == "" || !utf8.ValidString(e.Message) || who != (Verified{}) {
			t.Fatalf("verified %+v, %v error %q", who, e.Kind, e.Message)
		}
		if errors.Is(err, ErrUnsigned) != (e.Kind == Unsigned) {
			t.Fatalf("unsigned: %v", err)
		}
		r.Body = nil
		if _, expected := Foresee(r, now, secret); expected != nil && expected.Error() != err.Error() {
			t.Fatalf("expected %v, got %v", expected, err)
		}
	})
}

// FuzzSigned signs requests with any content and changes one byte: the first must verify, and the second must not.
func FuzzSigned(f *testing.F) {
	var verifier Verifier
	f.Add("/", "", "value", []byte("{}"), uint(0))
	f.Add("/123456789012/q", "Action=a+b&c=%2f", "a  b", []byte(""), uint(7))
	f.Fuzz(func(t *testing.T, path, query, value string, body []byte, at uint) {
		r := &Request{Method: "POST", Host: "h", Path: path, RawQuery: query, Body: body, Header: http.Header{
			"X-Amz-Date": {testTime.Format(basicFormat)},
			"X-Value":    {value},
		}}
		params, err := parseQuery(query)
		if err != nil || has(params, presignedNames) || has(params, version2Names) || len(params) >= maxParameters {
			t.Skip("the signer of this test cannot sign it")
		}
		s := newSigner(testTime, "X-Amz-Date", "X-Value")
		s.query = string(appendCanonicalQuery(nil, params, nil))
		if s.query == "" || string(appendPath(nil, path, true)) != path || string(appendSqueezed(nil, value)) != value {
			t.Skip("the signer of this test cannot sign it")
		}
		s.authorize(t, r)
		if _, err := verifier.Verify(r, testTime, testLookup); err != nil {
			t.Fatal(err)
		}
		if len(body) > 0 {
			body[at%uint(len(body))] ^= 1
			if _, err := verifier.Verify(r, testTime, testLookup); err == nil {
				t.Fatal("verified a changed body")
			}
		}
	})
}

// FuzzISO8601 checks that only the known forms of a timestamp are accepted.
func FuzzISO8601(f *testing.F) {
	for _, v := range []string{"2015-06-19T10:22:13Z", "2015-06-19T10:22:13.123-08:00", "2014-05-05T22:52:43PST"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		if at, ok := parseISO8601(v); ok && (len(v) < 20 || len(v) > 29 || at.Location() != time.UTC) {
			t.Errorf("%q is %v", v, at)
		}
	})
}

// FuzzParseBasic compares with time.Parse, which is laxer only about fractions of a second.
func FuzzParseBasic(f *testing.F) {
	for _, s := range []string{
		"20150830T123600Z", "20160229T235959Z", "20150229T000000Z", "20151301T000000Z", "20150100T000000Z",
		"20150431T000000Z",
		"20150830T240000Z", "20150830T126000Z", "20150830T123660Z", "20150830t123600Z", "2015-830T123600Z",
		"00000101T000000Z",
		"20150830T123600.5Z", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := time.Parse(basicFormat, s)
		got, ok := parseBasic(s)
		if wantOK := err == nil && len(s) == len(basicFormat); ok != wantOK || ok && !got.Equal(want) {
			t.Errorf("%q: %v %v, time.Parse says %v %v", s, got, ok, want, err)
		}
	})
}
