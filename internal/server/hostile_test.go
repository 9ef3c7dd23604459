package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// hostile is a client that misbehaves. It may send text, and then does something on its connection.
type hostile struct {
	name string
	text string
	then func(conn *net.TCPConn) error // nil: read the answers
	// The statuses of the answers that it gets before the connection ends; nil
	// if that is up to chance.
	want []int
}

const (
	postJSON = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS.ListQueues\r\n"
	chunked  = postJSON + "Transfer-Encoding: chunked\r\n\r\n"
	healthy  = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n"
)

// drip sends a byte at intervals until it fails.
func drip(conn *net.TCPConn) error {
	go func() {
		for {
			if _, err := conn.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
	return nil
}

// pour sends text again and again, up to a number of bytes, until it fails.
func pour(text string, bytes int) func(*net.TCPConn) error {
	return func(conn *net.TCPConn) error {
		go func() {
			for n := 0; n < bytes; n += len(text) {
				if _, err := io.WriteString(conn, text); err != nil {
					return
				}
			}
		}()
		return nil
	}
}

// vanish ends a client as if it were cut off.
func vanish(conn *net.TCPConn) error {
	return errors.Join(conn.SetLinger(0), conn.Close())
}

func hostiles(c *client) []hostile {
	mebibyte := strings.Repeat("x", 1<<20)
	chunk := fmt.Sprintf("%x\r\n%s\r\n", len(mebibyte), mebibyte)
	c.Make("CreateQueue", object{"QueueName": "large"})
	c.Make("SendMessage", object{"QueueUrl": "large", "MessageBody": mebibyte})
	receive := c.JSONRequest("ReceiveMessage", `{"QueueUrl":"large","VisibilityTimeout":0}`)
	c.Sign(receive)
	var large, signed, absolute strings.Builder
	err := receive.Write(&large)
	for to, write := range map[io.Writer]func(*http.Request, io.Writer) error{
		&signed: (*http.Request).Write, &absolute: (*http.Request).WriteProxy,
	} {
		r := c.Request("ListQueues", nil)
		c.Sign(r)
		err = errors.Join(err, write(r, to))
	}
	if err != nil {
		c.T.Fatal(err)
	}
	expects := strings.Replace(signed.String(), "\r\n", "\r\nExpect: 100-continue\r\n", 1)
	return []hostile{
		{"says nothing", "", nil, []int{}},
		{"slow header", "POST / HTTP/1.1\r\nHost: h\r\nX: ", drip, []int{}},
		{"slow second header", healthy + "GET / HTTP/1.1\r\nX: ", drip, []int{200}},
		{"slow body", postJSON + "Content-Length: 100000\r\n\r\n", drip, []int{400}},
		{"slow chunks", chunked + "ffff\r\n", drip, []int{400}},
		{"slow large body", postJSON + "Content-Length: 5000000\r\n\r\n" + mebibyte, drip, []int{400}},
		{"stays idle", healthy, nil, []int{200}},
		{"does not read", strings.Repeat(large.String(), 50), func(*net.TCPConn) error {
			time.Sleep(5 * time.Second) // longer than the server waits
			return nil
		}, nil},
		{"vanishes at once", "", vanish, []int{}},
		{"vanishes in the header", "POST / HTTP/1.1\r\nHo", vanish, []int{}},
		{"vanishes in the body", postJSON + "Content-Length: 100000\r\n\r\n{", vanish, []int{}},
		{"vanishes before the answer", large.String(), vanish, []int{}},

		{"endless header", "GET / HTTP/1.1\r\nHost: h\r\nX: ", pour(mebibyte, 100<<20), nil},
		{"endless headers", "GET / HTTP/1.1\r\nHost: h\r\n", pour("X: y\r\n", 1<<20), nil},
		{"endless request line", "GET /", pour(mebibyte, 100<<20), nil},
		{"100 MB", postJSON + "Content-Length: 100000000\r\n\r\n", pour(mebibyte, 100_000_000), nil},
		{"100 MB in chunks", chunked, pour(chunk, 100_000_000), nil},
		{"endless chunk extension", chunked + "5;", pour(mebibyte, 100<<20), nil},
		{"endless trailer", chunked + "0\r\n", pour("X: y\r\n", 1<<20), nil},

		{"garbage after a request", healthy + "\x16\x03\x01\x00\x05hello\r\n\r\n", nil, []int{200, 400}},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", nil, []int{400}},
		{"HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", nil, []int{405}},
		{"HTTP/1.0", "GET /healthz HTTP/1.0\r\n\r\n", nil, []int{200}},
		{"HTTP/1.0, kept", "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + "GET /healthz HTTP/1.0\r\n\r\n",
			nil, []int{200, 200}},
		{"HTTP/9.9", "GET /healthz HTTP/9.9\r\n\r\n", nil, []int{505}},
		{"absolute URI", "GET http://elsewhere/healthz HTTP/1.1\r\nHost: h\r\n\r\n", nil, []int{200}},
		{"absolute URI, signed", absolute.String(), nil, []int{200}},
		{"CONNECT", "CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n", nil, []int{405}},
		{"expects 100", expects, nil, []int{100, 200}},
		{"expects 100 and does not wait for it", expects + healthy, nil, []int{100, 200, 200}},
		{"expects 100 for 100 MB", postJSON + "Expect: 100-continue\r\nContent-Length: 100000000\r\n\r\n", nil,
			[]int{413}},
		{"expects a miracle", postJSON + "Expect: miracle\r\nContent-Length: 0\r\n\r\n", nil, []int{417}},
		{"a chunk of no size", chunked + "zz\r\n", nil, []int{400}},
		{"a chunk of a negative size", chunked + "-5\r\nhello\r\n0\r\n\r\n", nil, []int{400}},
		{"a chunk of all sizes", chunked + "fffffffffffffffff\r\nhello\r\n0\r\n\r\n", nil, []int{400}},
		{"a chunk longer than it says", chunked + "2\r\nhello\r\n0\r\n\r\n", nil, []int{400}},
		{"two lengths", postJSON + "Content-Length: 2\r\nContent-Length: 60\r\n\r\n{}" + healthy, nil, []int{400}},
		{"two lengths in one", postJSON + "Content-Length: 2, 60\r\n\r\n{}" + healthy, nil, []int{400}},
		{"a length with a sign", postJSON + "Content-Length: +2\r\n\r\n{}" + healthy, nil, []int{400}},
		{"a negative length", postJSON + "Content-Length: -2\r\n\r\n{}", nil, []int{400}},
		{"an enormous length", postJSON + "Content-Length: 99999999999999999999\r\n\r\n{}", nil, []int{400}},
		{"unknown transfer encoding", postJSON + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", nil, []int{501}},
		{"misspelt transfer encoding",
			postJSON + "Transfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\n{}" + healthy, nil, []int{400}},
		// The chunks count. Declaring another length gains a client nothing: each request is signed separately.
		{"chunks and a length",
			postJSON + "Transfer-Encoding: chunked\r\nContent-Length: 60\r\n\r\n0\r\n\r\n" + healthy, nil,
			[]int{403, 200}},
		{"two hosts", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", nil, []int{400}},
		{"a header with a zero byte", "GET /healthz HTTP/1.1\r\nHost: h\r\nX: \x00\r\n\r\n", nil, []int{400}},
	}
}

// attack makes a hostile connection and returns the statuses of the answers. If the server does not read all of the
// input, a reset may overtake the last answer on a busy machine. That is no error if the earlier ones are as expected.
func attack(addr string, h hostile) ([]int, error) {
	dialed, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer dialed.Close()
	conn := dialed.(*net.TCPConn)
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	got := []int{}
	read := make(chan error, 1)
	answers := func() {
		for in := bufio.NewReader(conn); ; {
			r, err := http.ReadResponse(in, nil)
			if err == nil {
				got = append(got, r.StatusCode)
				_, err = io.Copy(io.Discard, r.Body)
			}
			if err != nil {
				read <- err
				return
			}
		}
	}
	_, _ = io.WriteString(conn, h.text) // the server may have read enough
	if h.then != nil {
		if err := h.then(conn); err != nil {
			return nil, err
		}
	}
	go answers()
	switch err := <-read; {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return got, errors.New("the connection does not end")
	case errors.Is(err, syscall.ECONNRESET) && len(got) < len(h.want) && slices.Equal(got, h.want[:len(got)]):
		return h.want, nil
	}
	return got, nil
}

// No misbehaving clients block others, and nothing of them remains.
func TestHostileClients(t *testing.T) {
	config := inMemory()
	config.limits = func(l *front.Limits) {
		l.Header, l.Read, l.Write, l.Idle = 2*time.Second, 2*time.Second, 4*time.Second, 2*time.Second
	}
	s, _ := start(t, config)
	c := newClient(t, inJSON)
	c.Base, c.Cred, c.Region = s.Endpoint(), s.Root(), "us-east-1"
	all := hostiles(c)
	c.Make("CreateQueue", object{"QueueName": "q"})
	http.DefaultClient.CloseIdleConnections()
	goroutines, heap := runtime.NumGoroutine(), heapInUse()

	var attacks sync.WaitGroup
	for _, h := range all {
		attacks.Go(func() {
			got, err := attack(s.entrance.listener.Addr().String(), h)
			if err != nil || h.want != nil && fmt.Sprint(got) != fmt.Sprint(h.want) {
				t.Errorf("%s: answered %v, want %v; %v", h.name, got, h.want, err)
			}
			for _, status := range got {
				if h.want == nil && status != 200 && status != 400 && status != 413 && status != 431 {
					t.Errorf("%s: answered %v", h.name, got)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { attacks.Wait(); close(over) }()
	for served := 0; ; served++ {
		c.Make("SendMessage", object{"QueueUrl": "q", "MessageBody": "m"})
		m, _ := c.Make("ReceiveMessage", object{"QueueUrl": "q", "WaitTimeSeconds": 20})["Messages"].(list)
		if len(m) != 1 {
			t.Fatalf("received %v", m)
		}
		c.Make("DeleteMessage", object{"QueueUrl": "q", "ReceiptHandle": m[0].(object)["ReceiptHandle"]})
		select {
		case <-over:
			t.Logf("%d round trips meanwhile", served)
		case <-time.After(10 * time.Millisecond):
			continue
		}
		break
	}

	http.DefaultClient.CloseIdleConnections()
	eventually.Succeeds(t, func() error {
		if n := runtime.NumGoroutine(); n > goroutines+10 {
			return fmt.Errorf("%d goroutines, before it were %d", n, goroutines)
		}
		if n := s.entrance.listener.(*front.ConnLimit).Open(); n > 0 {
			return fmt.Errorf("%d connections are still open", n)
		}
		if n := s.entrance.front.MemoryInUse(); n != 0 {
			return fmt.Errorf("%d bytes for bodies are reserved", n)
		}
		if n := heapInUse(); n > heap+64<<20 {
			return fmt.Errorf("%d MiB are in use, before it were %d", n>>20, heap>>20)
		}
		return nil
	})
}

// heapInUse returns the size of the live heap.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
