//go:build unix

package server

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/aws/signature"
)

// caller calls a front without a network, with requests that are prepared and signed in advance.
type caller struct {
	tb     testing.TB
	server *Server
	queue  string // URL
}

// newCaller starts a server with a queue.
func newCaller(tb testing.TB, config Config) *caller {
	tb.Helper()
	s, err := Start(config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.close(); err != nil {
			tb.Error(err)
		}
	})
	c := &caller{tb: tb, server: s, queue: s.Endpoint() + "/" + account + "/q"}
	c.call("CreateQueue", `{"QueueName":"q"}`).answer()
	return c
}

// prepared is a request that can be repeated.
type prepared struct {
	*caller
	request *http.Request
	header  http.Header // of the request, released after it
	body    *bytes.Reader
}

// call returns a signed request of an operation.
func (c *caller) call(operation, body string) *prepared {
	reader := bytes.NewReader([]byte(body))
	r := httptest.NewRequest(http.MethodPost, c.server.Endpoint()+"/", reader)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AmazonSQS."+operation)
	root := c.server.Root()
	signer := signature.Signer{AccessKeyID: root.AccessKeyID, Secret: root.Secret, Region: "us-east-1"}
	signer.Sign(r, "sqs", []byte(body), time.Now())
	return &prepared{c, r, r.Header, reader}
}

// make sends the request.
func (c *prepared) make(w http.ResponseWriter) {
	if _, err := c.body.Seek(0, io.SeekStart); err != nil {
		c.tb.Fatal(err)
	}
	c.request.Header = c.header
	c.server.entrance.front.ServeHTTP(w, c.request)
}

// answer sends the request and returns the body of its answer.
func (c *prepared) answer() string {
	c.tb.Helper()
	w := httptest.NewRecorder()
	if c.make(w); w.Code != http.StatusOK {
		c.tb.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// send returns a call that sends that many messages of 1 KiB, in a batch if there are several.
func (c *caller) send(messages int) *prepared {
	body := `"MessageBody":"` + strings.Repeat("x", 1024) + `"`
	if messages == 1 {
		return c.call("SendMessage", `{"QueueUrl":"`+c.queue+`",`+body+`}`)
	}
	return c.call("SendMessageBatch",
		`{"QueueUrl":"`+c.queue+`","Entries":[`+entries(messages, func(int) string { return body })+`]}`)
}

// receive returns a call that receives that many messages.
func (c *caller) receive(messages int) *prepared {
	return c.call("ReceiveMessage", fmt.Sprintf(`{"QueueUrl":"%s","MaxNumberOfMessages":%d}`, c.queue, messages))
}

// handle is a receipt handle in an answer.
var handle = regexp.MustCompile(`"ReceiptHandle":"[^"]+"`)

// delete returns a call that deletes the messages in the answer to a receive.
func (c *caller) delete(received string, messages int) *prepared {
	handles := handle.FindAllString(received, -1)
	if len(handles) != messages {
		c.tb.Fatalf("received %d messages instead of %d", len(handles), messages)
	}
	if messages == 1 {
		return c.call("DeleteMessage", `{"QueueUrl":"`+c.queue+`",`+handles[0]+`}`)
	}
	return c.call("DeleteMessageBatch",
		`{"QueueUrl":"`+c.queue+`","Entries":[`+entries(messages, func(i int) string { return handles[i] })+`]}`)
}

// entries returns the entries of a batch.
func entries(n int, member func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"Id":"%d",%s}`, i, member(i))
	}
	return strings.Join(list, ",")
}

// discard drops all answers.
type discard struct{ header http.Header }

func (w *discard) Header() http.Header         { return w.header }
func (w *discard) WriteHeader(int)             {}
func (w *discard) Write(b []byte) (int, error) { return len(b), nil }
func (w *discard) Flush()                      {}

// BenchmarkCalls measures a call from its header to its answer, without a network and a disk, with messages of 1 KiB.
// Deletes repeat earlier ones, which costs the engine less.
func BenchmarkCalls(b *testing.B) { benchmarkCalls(b, inMemory) }

// BenchmarkStoredCalls and BenchmarkEncryptedCalls have a disk; the difference is what encryption costs. With TMPDIR in
// memory they do not measure the disk.
func BenchmarkStoredCalls(b *testing.B) {
	benchmarkCalls(b, func() Config { return onDisk(b.TempDir()) })
}

func BenchmarkEncryptedCalls(b *testing.B) {
	benchmarkCalls(b, func() Config { return encrypted(b.TempDir()) })
}

func benchmarkCalls(b *testing.B, config func() Config) {
	for _, messages := range []int{1, 10} {
		c := newCaller(b, config())
		send := c.send(messages)
		send.answer()
		remove := c.delete(c.receive(messages).answer(), messages)
		for _, one := range []struct {
			name string
			call *prepared
		}{{"Send", send}, {"Receive", c.receive(messages)}, {"Delete", remove}} {
			b.Run(fmt.Sprintf("%s%d", one.name, messages), func(b *testing.B) {
				if one.name == "Receive" {
					for range b.N { // the messages of earlier runs are in flight
						send.make(&discard{make(http.Header)})
					}
				}
				out := &discard{make(http.Header)}
				b.ReportAllocs()
				b.ResetTimer()
				began := processorTime(b)
				for range b.N {
					one.call.make(out)
				}
				b.ReportMetric(float64((processorTime(b)-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// processorTime returns the processor time of the process.
func processorTime(tb testing.TB) time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
