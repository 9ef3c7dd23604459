package signature

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// vector is one directory of the AWS signing test suite, tests/aws-signing-test-suite/v4 of
// github.com/awslabs/aws-c-auth, which is here unchanged under the licence beside it.
type vector struct {
	dir         string
	Credentials struct {
		AccessKeyID     string `json:"access_key_id"`
		SecretAccessKey string `json:"secret_access_key"`
		Token           string `json:"token"`
	} `json:"credentials"`
	Normalize        bool      `json:"normalize"`
	OmitSessionToken bool      `json:"omit_session_token"`
	Region           string    `json:"region"`
	Service          string    `json:"service"`
	Timestamp        time.Time `json:"timestamp"`
}

func vectors(t testing.TB) []*vector {
	t.Helper()
	dirs, err := filepath.Glob("testdata/aws-signing-test-suite/v4/*")
	if err != nil || len(dirs) != 40 {
		t.Fatalf("%d directories in the suite, %v", len(dirs), err)
	}
	var vs []*vector
	for _, dir := range dirs {
		v := &vector{dir: dir}
		if err := json.Unmarshal([]byte(v.read(t, "context.json")), v); err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		vs = append(vs, v)
	}
	return vs
}

func (v *vector) read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(v.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// request reads a request of the suite. net/http will not: some have spaces and UTF-8 in the request line.
func (v *vector) request(t testing.TB, name string) *Request {
	t.Helper()
	head, body, _ := strings.Cut(v.read(t, name), "\n\n")
	line, fields, _ := strings.Cut(head, "\n")
	method, rest, _ := strings.Cut(line, " ")
	target, ok := strings.CutSuffix(rest, " HTTP/1.1")
	if !ok {
		t.Fatalf("%s: request line %q", name, line)
	}
	r := &Request{Method: method, Header: http.Header{}, Body: []byte(body)}
	r.Path, r.RawQuery, _ = strings.Cut(target, "?")
	fields = strings.ReplaceAll(fields, "\n ", " ") // folded lines
	for field := range strings.SplitSeq(strings.TrimSpace(fields), "\n") {
		key, value, _ := strings.Cut(field, ":")
		if key == "Host" {
			r.Host = value
		} else {
			r.Header.Add(key, value)
		}
	}
	return r
}

func (v *vector) lookup(id string) (string, bool) {
	return v.Credentials.SecretAccessKey, id == v.Credentials.AccessKeyID
}

func (v *vector) verifier() *Verifier { return &Verifier{rawPath: !v.Normalize} }

// The suite has no answers for these, but the order of their queries is obvious.
var unanswered = map[string]string{
	"get-vanilla-query-order-key":   "Param1=Value1&Param1=value2",
	"get-vanilla-query-order-value": "Param1=value1&Param1=value2",
}

func TestAWSSuite(t *testing.T) {
	for _, v := range vectors(t) {
		name := filepath.Base(v.dir)
		if want, ok := unanswered[name]; ok {
			params, err := parseQuery(v.request(t, "request.txt").RawQuery)
			if got := string(appendCanonicalQuery(nil, params, nil)); got != want || err != nil {
				t.Errorf("%s: canonical query %q, %v, want %q", name, got, err, want)
			}
			continue
		}
		for _, form := range []string{"header", "query"} {
			t.Run(name+"/"+form, func(t *testing.T) {
				r := v.request(t, form+"-signed-request.txt")
				s, err := Parse(r)
				if err != nil {
					t.Fatal(err)
				}
				sum := sha256.Sum256(r.Body)
				c := canonical{
					host:         r.Host,
					payload:      hex.AppendEncode(nil, sum[:]),
					withoutToken: form == "query" && v.OmitSessionToken,
					rawPath:      !v.Normalize,
				}
				request := c.appendRequest(nil, r, &s)
				if want := v.read(t, form+"-canonical-request.txt"); string(request) != want {
					t.Errorf("canonical request\n%s\nwant\n%s", request, want)
				}
				toSign := s.appendStringToSign(nil, request)
				if want := v.read(t, form+"-string-to-sign.txt"); string(toSign) != want {
					t.Errorf("string to sign\n%s\nwant\n%s", toSign, want)
				}
				if want := v.read(t, form+"-signature.txt"); s.presented != want {
					t.Errorf("signature %s, want %s", s.presented, want)
				}

				who, err := v.verifier().Verify(r, v.Timestamp, v.lookup)
				if err != nil {
					t.Fatal(err)
				}
				want := Verified{
					AccessKeyID: v.Credentials.AccessKeyID,
					Version:     4,
					Region:      v.Region,
					Service:     v.Service,
					Token:       v.Credentials.Token,
					SignedAt:    v.Timestamp,
					Presigned:   form == "query",
					Host:        "example.amazonaws.com",
				}
				if who != want {
					t.Errorf("verified %+v\nwant %+v", who, want)
				}
			})
		}
	}
}

// Every byte that is signed counts.
func TestAWSSuiteMutated(t *testing.T) {
	for _, v := range vectors(t) {
		name := filepath.Base(v.dir)
		if _, ok := unanswered[name]; ok {
			continue
		}
		for _, form := range []string{"header", "query"} {
			verifier := v.verifier()
			refused := func(what string, r *Request) {
				t.Helper()
				if _, err := verifier.Verify(r, v.Timestamp, v.lookup); err == nil {
					t.Errorf("%s/%s: verified with another %s", name, form, what)
				}
			}
			fresh := func() *Request { return v.request(t, form+"-signed-request.txt") }
			if _, err := verifier.Verify(fresh(), v.Timestamp, v.lookup); err != nil {
				t.Fatalf("%s/%s: %v", name, form, err) // and the key is now in the cache
			}

			each := func(what string, field func(*Request) *string) {
				for i := range len(*field(fresh())) {
					r := fresh()
					f := field(r)
					old := *f
					*f = old[:i] + string([]byte{old[i] ^ 1}) + old[i+1:]
					if what == "path" && v.Normalize && normalizePath(*f) == normalizePath(old) {
						continue
					}
					if token := strings.Index(old, "X-Amz-Security-Token="); what == "query" && v.OmitSessionToken &&
						i >= token && i < token+strings.Index(old[token:], "&") {
						continue
					}
					refused(what, r)
				}
			}
			each("method", func(r *Request) *string { return &r.Method })
			each("host", func(r *Request) *string { return &r.Host })
			each("path", func(r *Request) *string { return &r.Path })
			each("query", func(r *Request) *string { return &r.RawQuery })
			for key := range fresh().Header {
				if key == "X-Amz-Security-Token" && v.OmitSessionToken {
					continue
				}
				for i := range fresh().Header[key] {
					each(key, func(r *Request) *string { return &r.Header[key][i] })
				}
				r := fresh()
				r.Header[key] = append(r.Header[key], "x")
				refused(key, r)
				if key != "Content-Length" && key != "Authorization" {
					r = fresh()
					r.Header.Del(key)
					refused(key, r)
				}
			}
			for i := range fresh().Body {
				r := fresh()
				r.Body[i] ^= 1
				refused("body", r)
			}
			r := fresh()
			r.Body = append(bytes.Clone(r.Body), 'x')
			refused("body", r)
			r = fresh()
			r.RawQuery += "&x"
			refused("query", r)
		}
	}
}
