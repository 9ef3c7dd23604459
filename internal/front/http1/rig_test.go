package http1_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/front/http1"
)

const maxBody = 1 << 20

// stack is a server under test: this package's, or net/http's alone.
type stack interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
	Close() error
	SetKeepAlivesEnabled(bool)
}

// newHTTP returns an http.Server with limits that only tests that set their own reach.
func newHTTP(h http.HandlerFunc, limits ...func(*http.Server)) *http.Server {
	s := &http.Server{
		Handler: h, ReadHeaderTimeout: time.Minute, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		IdleTimeout:    time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	for _, limit := range limits {
		limit(s)
	}
	return s
}

// plainPaths leaves what is below /other/ to net/http.
func plainPaths(path string) bool { return !strings.HasPrefix(path, "/other/") }

// serve runs a stack on a new address, which it returns, until the test ends.
func serve(t testing.TB, s stack) string {
	t.Helper()
	return serveOn(t, "tcp", s)
}

func serveOn(t testing.TB, network string, s stack) string {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = filepath.Join(t.TempDir(), "socket")
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	go func() { over <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-over; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serving ended with %v", err)
		}
	})
	return l.Addr().String()
}

// start serves h, and this package reads plain requests.
func start(t testing.TB, h http.HandlerFunc, limits ...func(*http.Server)) (string, *http1.Server) {
	t.Helper()
	return startOn(t, "tcp", h, limits...)
}

func startOn(t testing.TB, network string, h http.HandlerFunc, limits ...func(*http.Server)) (string, *http1.Server) {
	t.Helper()
	s := http1.New(newHTTP(h, limits...), maxBody, plainPaths)
	return serveOn(t, network, s), s
}

// client is a connection with the received data.
type client struct {
	*net.TCPConn
	t  testing.TB
	in *bufio.Reader
}

func dial(t testing.TB, addr string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &client{conn.(*net.TCPConn), t, bufio.NewReader(conn)}
}

// say sends text.
func (c *client) say(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// hear reads an answer and its body.
func (c *client) hear() (*http.Response, string) {
	c.t.Helper()
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return r, string(b)
}

// ends waits for the end of the connection.
func (c *client) ends() {
	c.t.Helper()
	b, err := io.ReadAll(c.in)
	if len(b) > 0 || errors.Is(err, context.DeadlineExceeded) {
		c.t.Errorf("the connection does not end: %q, %v", b, err)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// post is a plain request.
func post(path, body string, headers ...string) string {
	var b strings.Builder
	b.WriteString("POST " + path + " HTTP/1.1\r\nHost: localhost:9324\r\n")
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("Content-Length: " + itoa(len(body)) + "\r\n\r\n" + body)
	return b.String()
}

// sdk are headers that AWS's SDKs send.
var sdk = []string{
	"Content-Type: application/x-amz-json-1.0",
	"X-Amz-Target: AmazonSQS.SendMessage",
	"User-Agent: aws-sdk-go-v2/1.30.3 ua/2.0 os/linux lang/go#1.26 md/GOOS#linux md/GOARCH#amd64 api/sqs#1.34.3",
	"Amz-Sdk-Invocation-Id: 5d1b9f9f-6b0e-4b54-9a77-6c0a3f3d1d52",
	"Amz-Sdk-Request: attempt=1; max=3",
	"X-Amz-Date: 20261123T150000Z",
	"Authorization: AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20261123/us-east-1/sqs/aws4_request, " +
		"SignedHeaders=amz-sdk-invocation-id;amz-sdk-request;content-length;content-type;host;x-amz-date;x-amz-target, " +
		"Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"Accept-Encoding: gzip",
}

// drain reads a connection to its end and returns the data.
func drain(c net.Conn) <-chan string {
	all := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(c)
		c.Close()
		all <- string(b)
	}()
	return all
}

func contains(text string, all ...string) bool {
	for _, want := range all {
		if !strings.Contains(text, want) {
			return false
		}
	}
	return true
}
