package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

const (
	line   = "POST / HTTP/1.1\r\n"
	host   = "Host: localhost:9324\r\n"
	length = "Content-Length: 4\r\n"
	end    = "\r\n"
)

// Requests of SDKs are plain.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		line + host + length + end,
		line + length + host + end,
		line + host + "Content-Length: 0\r\n" + end,
		line + "host: [::1]:9324\r\ncontent-length: 4\r\nx-amz-target: AmazonSQS.SendMessage\r\n" + end,
		line + host + length + "Connection: Keep-Alive\r\nUser-Agent: a (b; c) d/1.0 \"\\\r\n" + end,
		line + host + length + "X-Empty:\r\nX-Spaces:   a  b  \r\nX-Twice: 1\r\nx-twice: 2\r\n" + end,
		"POST /000000000000/a-queue.fifo?x=%20y HTTP/1.1\r\n" + host + length + end,
	} {
		n, v := judge([]byte(text + "body"))
		if _, ok := parse([]byte(text), 100); n != len(text) || v != plain || !ok {
			t.Errorf("%q is not plain: %d of %d bytes, %d, %t", text, n, len(text), v, ok)
		}
		for i := range text {
			if _, v := judge([]byte(text[:i])); v != incomplete {
				t.Errorf("%q is classified too early", text[:i])
			}
		}
	}
}

// foreign requests are left to net/http, which refuses most of them.
var foreignHeads = map[string]string{
	"another method":            "GET / HTTP/1.1\r\n" + host + length + end,
	"a method in lower case":    "post / HTTP/1.1\r\n" + host + length + end,
	"HTTP/1.0":                  "POST / HTTP/1.0\r\n" + host + length + end,
	"HTTP/1.10":                 "POST / HTTP/1.10\r\n" + host + length + end,
	"no version":                "POST /\r\n" + host + length + end,
	"two spaces":                "POST  / HTTP/1.1\r\n" + host + length + end,
	"space at the end":          "POST / HTTP/1.1 \r\n" + host + length + end,
	"space in the target":       "POST /a b HTTP/1.1\r\n" + host + length + end,
	"tab in the target":         "POST /a\tb HTTP/1.1\r\n" + host + length + end,
	"absolute target":           "POST http://a/ HTTP/1.1\r\n" + host + length + end,
	"asterisk":                  "POST * HTTP/1.1\r\n" + host + length + end,
	"fragment":                  "POST /#a HTTP/1.1\r\n" + host + length + end,
	"bad escape":                "POST /%zz HTTP/1.1\r\n" + host + length + end,
	"a byte above ASCII":        "POST /\xff HTTP/1.1\r\n" + host + length + end,
	"newlines before":           end + line + host + length + end,
	"LF alone after the line":   "POST / HTTP/1.1\n" + host + length + end,
	"LF alone after a header":   line + "Host: a\n" + length + end,
	"LF alone in a value":       line + host + "X: a\nContent-Length: 9\r\n" + length + end,
	"CR alone in a value":       line + host + "X: a\rContent-Length: 9\r\n" + length + end,
	"zero byte":                 line + host + "X: \x00\r\n" + length + end,
	"tab in a value":            line + host + "X: a\tb\r\n" + length + end,
	"value above ASCII":         line + host + "X: \xe4\r\n" + length + end,
	"continued line":            line + host + "X: a\r\n b\r\n" + length + end,
	"continued first line":      line + " X: a\r\n" + host + length + end,
	"space before a colon":      line + host + "Content-Length : 4\r\n" + end,
	"no colon":                  line + host + length + "X\r\n" + end,
	"no name":                   line + host + length + ": x\r\n" + end,
	"space in a name":           line + host + length + "X Y: x\r\n" + end,
	"no host":                   line + length + end,
	"empty host":                line + "Host:\r\n" + length + end,
	"two hosts":                 line + host + host + length + end,
	"host with a space":         line + "Host: a b\r\n" + length + end,
	"host with a slash":         line + "Host: a/b\r\n" + length + end,
	"host with a user":          line + "Host: a@b\r\n" + length + end,
	"no length":                 line + host + end,
	"empty length":              line + host + "Content-Length:\r\n" + end,
	"two lengths":               line + host + length + "Content-Length: 5\r\n" + end,
	"the same length twice":     line + host + length + length + end,
	"two lengths in one":        line + host + "Content-Length: 4, 4\r\n" + end,
	"length with a sign":        line + host + "Content-Length: +4\r\n" + end,
	"negative length":           line + host + "Content-Length: -4\r\n" + end,
	"hexadecimal length":        line + host + "Content-Length: 0x4\r\n" + end,
	"length with a zero before": line + host + "Content-Length: 04\r\n" + end,
	"length with an underscore": line + host + "Content-Length: 1_0\r\n" + end,
	"enormous length":           line + host + "Content-Length: 99999999999999999999\r\n" + end,
	"length above the bound":    line + host + "Content-Length: 101\r\n" + end,
	"chunks":                    line + host + "Transfer-Encoding: chunked\r\n" + end,
	"chunks and a length":       line + host + length + "Transfer-Encoding: chunked\r\n" + end,
	"chunks in another case":    line + host + length + "tRANSFER-eNCODING: CHUNKED\r\n" + end,
	"unknown encoding":          line + host + length + "Transfer-Encoding: xchunked\r\n" + end,
	"trailer":                   line + host + length + "Trailer: X\r\n" + end,
	"TE":                        line + host + length + "TE: trailers\r\n" + end,
	"expects":                   line + host + length + "Expect: 100-continue\r\n" + end,
	"upgrade":                   line + host + length + "Upgrade: h2c\r\n" + end,
	"HTTP/2 settings":           line + host + length + "HTTP2-Settings: AA\r\n" + end,
	"close":                     line + host + length + "Connection: close\r\n" + end,
	"names headers of the hop":  line + host + length + "Connection: keep-alive, X-Amz-Target\r\n" + end,
	"pragma":                    line + host + length + "Pragma: no-cache\r\n" + end,
	"proxy connection":          line + host + length + "Proxy-Connection: keep-alive\r\n" + end,
	"HTTP/2":                    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"TLS":                       "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
	"long":                      line + host + length + "X: " + strings.Repeat("x", bufferSize),
}

func TestForeign(t *testing.T) {
	t.Parallel()
	for name, text := range foreignHeads {
		b := []byte(text)[:min(len(text), bufferSize)]
		n, v := judge(b)
		if v == incomplete {
			n, v = judge(append(b, end+end+end...)) // such as LF alone at the end
		}
		if v == incomplete {
			t.Errorf("%s: the parser waits for more", name)
		}
		if v == plain {
			if h, ok := parse(b[:min(n, len(b))], 100); ok {
				t.Errorf("%s: plain, as %+v", name, h)
			}
		}
	}
}

// http.ReadRequest reads plain requests in the same way, and leaves the same bytes after the body.
func FuzzHead(f *testing.F) {
	f.Add([]byte(line + host + length + end + "body" + line))
	f.Add([]byte("POST //a/?b=c%20d HTTP/1.1\r\n" + host + length + "x-A: 1\r\nX-a: 2\r\nConnection: keep-alive\r\n" +
		end + "body"))
	for _, text := range foreignHeads {
		f.Add([]byte(text + "body and more"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, v := judge(b[:min(len(b), bufferSize)])
		if v != plain {
			return
		}
		h, ok := parse(b[:n], 1<<20)
		if !ok {
			return
		}
		from := bufio.NewReaderSize(bytes.NewReader(b), len(b)+16)
		r, err := http.ReadRequest(from)
		if err != nil {
			t.Fatalf("%q is plain: %v", b[:n], err)
		}
		if r.Method != http.MethodPost || r.RequestURI != h.target || r.Host != h.host || r.ContentLength != h.length ||
			r.ProtoMajor != 1 || r.ProtoMinor != 1 || r.Proto != "HTTP/1.1" || r.Close ||
			len(r.TransferEncoding)+len(r.Trailer) > 0 {
			t.Fatalf("%q: %+v, want %+v", b[:n], h, r)
		}
		delete(r.Header, "Host") // as http.Server does
		if !reflect.DeepEqual(r.Header, h.header) || !reflect.DeepEqual(r.URL, h.url) {
			t.Fatalf("%q: %q %v, want %q %v", b[:n], h.header, h.url, r.Header, r.URL)
		}
		body, err := io.ReadAll(r.Body)
		short := int64(len(b)-n) < h.length
		if (err != nil) != short || !bytes.HasPrefix(b[n:], body) {
			t.Fatalf("%q: body %q, %v", b, body, err)
		}
		if rest, _ := io.ReadAll(from); !short && !bytes.Equal(rest, b[n+int(h.length):]) {
			t.Fatalf("%q: %q stays, want %q", b, rest, b[n+int(h.length):])
		}
	})
}

// Values do not share memory: appending to one leaves the others unchanged, and so do the next bytes in the buffer.
func TestValuesAreTheirOwn(t *testing.T) {
	t.Parallel()
	b := []byte(line + host + length + "A: 1\r\nB: 2\r\n" + end)
	h, ok := parse(b, 100)
	if !ok {
		t.Fatal("not plain")
	}
	clear(b)
	h.header.Add("A", "3")
	if h.header.Get("B") != "2" || h.host != "localhost:9324" || h.header.Get("Content-Length") != "4" {
		t.Errorf("%+v", h)
	}
}
