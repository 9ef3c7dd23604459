package http1_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

const (
	hostLine = "Host: a\r\n"
	last     = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
)

// corpus has texts that a connection may send before a last request. Some have two readings: if a server and the proxy
// in front of it choose different ones, they can be made to see different requests.
var corpus = map[string]string{
	"plain":                    post("/", "body"),
	"plain, no body":           post("/a?b=c", ""),
	"pipelined":                post("/1", "one") + post("/2", "two") + post("/3", ""),
	"plain, then another":      post("/1", "one") + "GET /2 HTTP/1.1\r\n" + hostLine + "\r\n" + post("/3", "three"),
	"another path":             post("/1", "one") + post("/other/2", "two") + post("/3", "three"),
	"newlines between":         post("/1", "one") + "\r\n" + post("/2", "two") + "\r\n\r\n" + post("/3", "three"),
	"many newlines between":    post("/1", "one") + "\r\n\r\n\r\n" + post("/2", "two"),
	"newlines before":          "\r\n" + post("/1", "one"),
	"a body that is a request": post("/1", post("/2", "two")),
	"shorter than it says":     post("/1", "one")[:len(post("/1", "one"))-1] + post("/2", "two"),
	"chunks": "POST / HTTP/1.1\r\n" + hostLine +
		"Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n",
	"chunks and a length":       post("/", "0\r\n\r\n", "Transfer-Encoding: chunked"),
	"a length and chunks":       post("/1", "one") + post("/2", "0\r\n\r\n", "transfer-encoding: chunked"),
	"misspelt chunks":           post("/", "0\r\n\r\n", "Transfer-Encoding : chunked"),
	"other chunks":              post("/", "0\r\n\r\n", "Transfer-Encoding: xchunked"),
	"chunks in a second line":   post("/", "0\r\n\r\n", "X: y", " Transfer-Encoding: chunked"),
	"chunks behind CR":          post("/", "0\r\n\r\n", "X: y\rTransfer-Encoding: chunked"),
	"chunks behind LF":          post("/", "0\r\n\r\n", "X: y\nTransfer-Encoding: chunked"),
	"chunks behind a tab":       post("/", "0\r\n\r\n", "Transfer-Encoding:\tchunked"),
	"chunks behind a zero byte": post("/", "0\r\n\r\n", "\x00Transfer-Encoding: chunked"),
	"two lengths":               post("/", "one", "Content-Length: 0"),
	"the same length twice":     post("/", "one", "Content-Length: 3"),
	"lengths in one":            post("/", "", "Content-Length: 0, 0"),
	"length behind LF":          "POST / HTTP/1.1\n" + hostLine + "Content-Length: 3\n\none",
	"length with a sign":        "POST / HTTP/1.1\r\n" + hostLine + "Content-Length: +3\r\n\r\none",
	"length with a space":       "POST / HTTP/1.1\r\n" + hostLine + "Content-Length: 3 \r\n\r\none",
	"length with zeros":         "POST / HTTP/1.1\r\n" + hostLine + "Content-Length: 003\r\n\r\none",
	"no length":                 "POST / HTTP/1.1\r\n" + hostLine + "\r\n",
	"two hosts":                 post("/", "one", "Host: b"),
	"no host":                   "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\none",
	"a host that is none":       "POST / HTTP/1.1\r\nHost: a b\r\nContent-Length: 3\r\n\r\none",
	"HTTP/1.0":                  "POST / HTTP/1.0\r\n" + hostLine + "Content-Length: 3\r\n\r\none",
	"HTTP/1.0, kept": "POST / HTTP/1.0\r\n" + hostLine +
		"Connection: keep-alive\r\nContent-Length: 3\r\n\r\none",
	"HTTP/1.2":                "POST / HTTP/1.2\r\n" + hostLine + "Content-Length: 3\r\n\r\none",
	"HTTP/3.0":                "POST / HTTP/3.0\r\n" + hostLine + "Content-Length: 3\r\n\r\none",
	"HTTP/2":                  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"absolute target":         "POST http://b/c HTTP/1.1\r\n" + hostLine + "Content-Length: 3\r\n\r\none",
	"two slashes":             post("//b/c", "one"),
	"dots":                    post("/a/../b/./c", "one"),
	"escapes":                 post("/%2e%2E/%41?%zz", "one"),
	"a bad escape":            post("/%zz", "one"),
	"space in the target":     post("/a b", "one"),
	"fragment":                post("/a#b", "one"),
	"continued":               post("/", "one", "X: a", " b"),
	"no colon":                post("/", "one", "X"),
	"no name":                 post("/", "one", ": x"),
	"space before a colon":    post("/", "one", "X : y"),
	"a zero byte":             post("/", "one", "X: \x00"),
	"delete":                  post("/", "one", "X: \x7f"),
	"above ASCII":             post("/", "one", "X: \xc3\xa4"),
	"tabs":                    post("/", "one", "X: \ta\tb\t"),
	"expects":                 post("/", "one", "Expect: 100-continue"),
	"expects a miracle":       post("/", "one", "Expect: miracle"),
	"close":                   post("/", "one", "Connection: close"),
	"closes among others":     post("/", "one", "Connection: keep-alive, close"),
	"upgrade":                 post("/", "one", "Connection: upgrade", "Upgrade: h2c", "HTTP2-Settings: AA"),
	"pragma":                  post("/", "one", "Pragma: no-cache"),
	"many values":             post("/", "one", "X: 1", "x: 2", "Y: 3", "X: 4", "y: 5"),
	"garbage":                 "\x16\x03\x01\x00\x05hello\r\n\r\n",
	"garbage after a request": post("/", "one") + "\x16\x03\x01\x00\x05hello\r\n\r\n",
	"long head":               post("/", "one", "X: "+strings.Repeat("x", 10_000)),
	"head too long":           post("/", "one", "X: "+strings.Repeat("x", 70_000)),
	"long body":               post("/", strings.Repeat("x", 100_000)),
	"body above the bound":    post("/", strings.Repeat("x", maxBody+1)),
}

// echo answers with everything that it knows of a request.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s %s %s %s %d %t %q %v\n", r.Method, r.RequestURI, r.URL, r.Host, r.Proto, r.ContentLength,
		r.Close,
		r.TransferEncoding, err)
	_ = r.Header.Write(&b)
	b.Write(body)
	w.Header().Set("Content-Length", itoa(b.Len()))
	_, _ = w.Write(b.Bytes())
}

// answers sends text in one piece and returns the whole answer, with the headers in their order.
func answers(t *testing.T, addr, text string) []string {
	t.Helper()
	c := dial(t, addr)
	go func() { _, _ = io.WriteString(c, text) }() // the server may have read enough
	var got []string
	for {
		r, err := http.ReadResponse(c.in, nil)
		if err != nil {
			return got
		}
		body, _ := io.ReadAll(r.Body)
		r.Header.Del("Date")
		got = append(got, fmt.Sprint(r.Status, r.Header, r.Close, r.ContentLength, string(body)))
	}
}

// Every text gets the same answer as from net/http alone.
func TestAnswersAsNetHTTP(t *testing.T) {
	t.Parallel()
	ours, _ := start(t, echo)
	theirs := serve(t, newHTTP(echo))
	for name, text := range corpus {
		got, want := answers(t, ours, text+last), answers(t, theirs, text+last)
		if len(text) > 1<<16 && (len(got) == 0 || len(want) == 0) {
			continue // a server that leaves input unread resets the connection, which can overtake its answer
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
}

// This package reads plain requests, and net/http reads from the first other one on.
func TestHandsOver(t *testing.T) {
	t.Parallel()
	var handler, theirs atomic.Int64
	addr, _ := start(t, func(w http.ResponseWriter, r *http.Request) {
		handler.Add(1)
		if _, ok := w.(http.Hijacker); ok {
			theirs.Add(1)
		}
		echo(w, r)
	})
	c := dial(t, addr)
	ask := func(text string, wantTheirs int64) {
		t.Helper()
		before := handler.Load()
		c.say(text)
		if r, _ := c.hear(); r.StatusCode != http.StatusOK || handler.Load() != before+1 ||
			theirs.Load() != wantTheirs {
			t.Errorf("%q: %s, %d calls, of which %d by net/http, want %d", text, r.Status, handler.Load(),
				theirs.Load(), wantTheirs)
		}
	}
	for range 3 {
		ask(post("/", "body", sdk...), 0)
	}
	ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 1)
	ask(post("/", "body"), 2)
	c = dial(t, addr)
	ask(post("/", "body"), 2)
	ask(post("/other/", "body"), 3)
	c = dial(t, addr)
	ask(post("/", "body"), 3)
	c.say("POST /half HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n")
	ask("X: \t\r\n\r\nbody", 4)
}
