package server

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/aws/signature"
)

// discard drops all answers.
type discard struct{ header http.Header }

func (w *discard) Header() http.Header         { return w.header }
func (w *discard) WriteHeader(int)             {}
func (w *discard) Write(b []byte) (int, error) { return len(b), nil }
func (w *discard) Flush()                      {}

// BenchmarkSendMessage is the way of a SendMessage of 1 KiB from its header to its
// answer, without a network and a disk.
func BenchmarkSendMessage(b *testing.B) {
	config := inMemory()
	s, err := Start(config)
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	root := s.Root()
	signer := signature.Signer{AccessKeyID: root.AccessKeyID, Secret: root.Secret, Region: "us-east-1"}
	call := func(operation, body string) (r *http.Request, reader *bytes.Reader) {
		reader = bytes.NewReader([]byte(body))
		r = httptest.NewRequest(http.MethodPost, s.Endpoint()+"/", reader)
		r.Header.Set("Content-Type", "application/x-amz-json-1.0")
		r.Header.Set("X-Amz-Target", "AmazonSQS."+operation)
		signer.Sign(r, "sqs", []byte(body), time.Now())
		return r, reader
	}
	r, _ := call("CreateQueue", `{"QueueName":"q"}`)
	w := httptest.NewRecorder()
	if s.entrance.front.ServeHTTP(w, r); w.Code != http.StatusOK {
		b.Fatalf("%d %s", w.Code, w.Body)
	}
	r, body := call("SendMessage", `{"QueueUrl":"`+s.Endpoint()+"/"+account+`/q","MessageBody":"`+string(bytes.Repeat([]byte("x"), 1024))+`"}`)
	w = httptest.NewRecorder()
	if s.entrance.front.ServeHTTP(w, r); w.Code != http.StatusOK {
		b.Fatalf("%d %s", w.Code, w.Body)
	}
	out := &discard{make(http.Header)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		s.entrance.front.ServeHTTP(out, r)
	}
}
