//go:build unix

package http1_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/front/http1"
)

// processorTime returns the processor time of this process.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkRequest sends requests on 16 connections to a trivial handler. The client does as little as possible, and
// the same for each stack.
func BenchmarkRequest(b *testing.B) {
	answer := []byte(`{"MD5OfMessageBody":"0123456789abcdef0123456789abcdef","MessageId":"5d1b9f9f-6b0e-4b54-9a77-6c0a3f3d1d52"}`)
	handler := func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			b.Error(err)
		}
		h := w.Header()
		h["Content-Type"] = []string{"application/x-amz-json-1.0"}
		h["Content-Length"] = []string{itoa(len(answer))}
		h["X-Amzn-Requestid"] = []string{"5d1b9f9f-6b0e-4b54-9a77-6c0a3f3d1d52"}
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(answer)
		_ = http.NewResponseController(w).Flush()
	}
	for _, c := range []struct {
		name string
		make func() stack
	}{
		{"net/http", func() stack { return newHTTP(handler) }},
		{"http1", func() stack { return http1.New(newHTTP(handler), maxBody, plainPaths) }},
	} {
		b.Run(c.name, func(b *testing.B) { measure(b, c.make()) })
	}
}

func measure(b *testing.B, s stack) {
	const connections = 16
	addr := serve(b, s)
	request := []byte(post("/", strings.Repeat("x", 1024), sdk...))
	first := dial(b, addr)
	first.say(string(request))
	size := answerSize(b, first)
	b.ReportAllocs()
	b.ResetTimer()
	used := processorTime(b)
	var asking sync.WaitGroup
	for range connections {
		conn := dial(b, addr)
		asking.Go(func() {
			in := make([]byte, size)
			for range b.N/connections + 1 {
				if _, err := conn.Write(request); err != nil {
					b.Error(err)
					return
				}
				if _, err := io.ReadFull(conn, in); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	asking.Wait()
	b.ReportMetric(float64(processorTime(b)-used)/float64(b.N), "cpu-ns/op")
}

// answerSize reads an answer and returns its total length.
func answerSize(b *testing.B, c *client) int {
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		b.Fatal(err)
	}
	n := len("HTTP/1.1 ") + len(r.Status) + len("\r\n\r\n")
	for name, values := range r.Header {
		n += len(name) + len(": \r\n") + len(values[0])
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		b.Fatal(err)
	}
	return n + len(body)
}
