package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/store"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		change func(*Config)
		want   string // part of the error; empty if there is none
	}{
		{func(*Config) {}, ""},
		{func(c *Config) { c.Listen = "localhost:1" }, ""},
		{func(c *Config) { c.Listen = "[::1]:1" }, ""},
		{func(c *Config) { c.Listen = "127.8.8.8:1" }, ""},
		{func(c *Config) { c.Listen = "" }, "--listen"},
		{func(c *Config) { c.Listen = "9324" }, "--listen"},
		{func(c *Config) { c.Listen = "localhost:" }, "--listen"},
		{func(c *Config) { c.Listen = ":9324" }, "can be reached from other machines"},
		{func(c *Config) { c.Listen = "0.0.0.0:9324" }, "can be reached from other machines"},
		{func(c *Config) { c.Listen = "example.com:9324" }, "can be reached from other machines"},
		{func(c *Config) { c.Listen, c.Insecure = ":9324", true }, ""},
		{func(c *Config) { c.Listen, c.TLSCert, c.TLSKey = ":9324", "c", "k" }, ""},
		{func(c *Config) { c.TLSCert = "c" }, "--tls-cert and --tls-key go together"},
		{func(c *Config) { c.TLSKey = "k" }, "--tls-cert and --tls-key go together"},
		{func(c *Config) { c.Data = "" }, "--data"},
		{func(c *Config) { c.Data, c.InMemory = "", true }, ""},
		{func(c *Config) { c.RootKeyID = "AKIA" }, "--root-access-key-id and --root-secret-access-key go together"},
		{func(c *Config) { c.RootKeyID, c.RootSecret = "mine", "s" }, ""},
		{func(c *Config) { c.RootKeyID, c.RootSecret, c.PublicURL = "mine", "s", "http://localhost:9324" }, ""},
		{func(c *Config) { c.RootKeyID, c.RootSecret, c.PublicURL = "mine", "s", "https://sqs.example.com/x" },
			"--root-secret-access-key has 1 characters"},
		{func(c *Config) { c.RootKeyID, c.RootSecret, c.TrustedProxies = "mine", "s", []string{"127.0.0.1"} },
			"--root-secret-access-key has 1 characters"},
		{func(c *Config) {
			c.RootKeyID, c.RootSecret, c.TrustedProxies = "mine", "sixteen-letters-", []string{"127.0.0.1"}
		}, ""},
		{func(c *Config) { c.RootSecret = "s" }, "--root-access-key-id and --root-secret-access-key go together"},
		{func(c *Config) { c.Accounts = nil }, "--account"},
		{func(c *Config) { c.DeleteIdleAfter = 24 * time.Hour }, ""},
		{func(c *Config) { c.DeleteIdleAfter = 23 * time.Hour },
			"--delete-idle-queues-after 23h0m0s: want 24h or more"},
		{func(c *Config) { c.DeleteIdleAfter = -time.Hour }, "--delete-idle-queues-after"},
		{func(c *Config) { c.DeleteIdleAfter, c.Keep.Minutes = 720*time.Hour, 0 },
			"--delete-idle-queues-after needs the metrics of queues"},
		{func(c *Config) { c.Accounts = []string{account, "1"} }, "--account"},
		{func(c *Config) { c.Accounts = []string{"12345678901x"} }, "--account"},
		{func(c *Config) { c.Region = "" }, "--region"},
		{func(c *Config) { c.Region = "US East" }, "--region"},
		{func(c *Config) { c.Region = "-x" }, "--region"},
		{func(c *Config) { c.Region = "local" }, ""},
		{func(c *Config) { c.MaxMessageSize = 1023 }, "--max-message-size"},
		{func(c *Config) { c.MaxMessageSize = 1_048_577 }, "--max-message-size"},
		{func(c *Config) { c.MaxMessageSize = 1_048_576 }, ""},
		{func(c *Config) { c.MaxConnections = -1 }, "--max-connections"},
		{func(c *Config) { c.MaxConnections = 10 }, ""},
		{func(c *Config) { c.TrustedProxies = []string{"10.0.0.0/8", "::1", "192.0.2.1"} }, ""},
		{func(c *Config) { c.TrustedProxies = []string{"proxy.example.com"} }, "--trusted-proxy"},
		{func(c *Config) { c.TrustedProxies = []string{"10.0.0.1/8"} }, "--trusted-proxy"},
		{func(c *Config) { c.PublicURL = "https://sqs.example.com/prefix/" }, ""},
		{func(c *Config) { c.PublicURL = "sqs.example.com" }, "--public-url"},
		{func(c *Config) { c.PublicURL = "ftp://sqs.example.com" }, "--public-url"},
		{func(c *Config) { c.PublicURL = "https:///x" }, "--public-url"},
		{func(c *Config) { c.PublicURL = "https://h/?q" }, "--public-url"},
		{func(c *Config) { c.PublicURL = "https://h/#f" }, "--public-url"},
	} {
		c := Default()
		tc.change(&c)
		err := c.Validate()
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v: %v, want %q", c, err, tc.want)
		}
		if err != nil {
			if _, startErr := Start(c); startErr == nil || startErr.Error() != err.Error() {
				t.Errorf("Start returns %v, Validate %v", startErr, err)
			}
		}
	}
}

func get(t *testing.T, method, url string) (int, string, http.Header) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body), response.Header
}

func TestHealth(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/healthz", "/readyz"} {
		status, body, h := get(t, "GET", shared.Endpoint()+path)
		if status != 200 || body != "ok\n" || h.Get("Content-Type") != "text/plain; charset=utf-8" ||
			h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %q %v", path, status, body, h)
		}
		if status, body, _ := get(t, "HEAD", shared.Endpoint()+path); status != 200 || body != "" {
			t.Errorf("HEAD %s: %d %q", path, status, body)
		}
		if status, _, _ := get(t, "POST", shared.Endpoint()+path); status != 404 {
			t.Errorf("POST %s: %d", path, status)
		}
	}
}

// A server that has lost its store is alive and not ready, and reports so to every client, in each protocol.
func TestStoreLost(t *testing.T) {
	t.Parallel()
	s, _ := start(t, inMemory())
	inAllOf(t, s, func(t *testing.T, c *client) { c.Make("CreateQueue", object{"QueueName": "q"}) })
	s.storage.node.(*alone).shard.Close()
	if status, body, _ := get(t, "GET", s.Endpoint()+"/readyz"); status != 503 ||
		body != "the store cannot be written\n" {
		t.Errorf("readyz: %d %q", status, body)
	}
	if status, _, _ := get(t, "GET", s.Endpoint()+"/healthz"); status != 200 {
		t.Errorf("healthz: %d", status)
	}
	inAllOf(t, s, func(t *testing.T, c *client) {
		for op, in := range map[string]object{
			"SendMessage":    {"QueueUrl": "q", "MessageBody": "m"},
			"ReceiveMessage": {"QueueUrl": "q", "WaitTimeSeconds": 20},
		} {
			c.Fails(op, in,
				generic("ServiceUnavailableException", "ServiceUnavailable", 503,
					"The service is temporarily unavailable. Please try again."))
		}
	})
}

// inAllOf runs f with a client of each dialect, all of them in one region of server s.
func inAllOf(t *testing.T, s *Server, f func(t *testing.T, c *client)) {
	t.Helper()
	for _, d := range apitest.Dialects {
		c := newClient(t, d)
		c.Base, c.Cred, c.Region = s.Endpoint(), s.Root(), "us-east-1"
		f(t, c)
	}
}

// A fault of the server is an answer and a line in the log, and the server continues.
func TestPanic(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	config := inMemory()
	config.Logger = slog.New(slog.NewTextHandler(&log, nil))
	s, _ := start(t, config)
	protocol.Register(s.entrance.front.Services[0], "Boom",
		func(context.Context, *protocol.Call, *struct{}) (*struct{}, error) { panic("at the disco") })
	inAllOf(t, s, func(t *testing.T, c *client) {
		c.Fails("Boom", nil,
			generic("InternalFailure", "InternalError", 500, "We encountered an internal error. Please try again."))
		c.Make("ListQueues", nil)
	})
	if text := log.String(); strings.Count(text, "at the disco") != 3 || !strings.Contains(text, "server_test.go") {
		t.Errorf("the log is %s", text)
	}
}

// raw sends text over a new connection and returns the answer. When the server does not read all of it, a reset may
// overtake the answer on a busy machine; then raw tries again.
func raw(t *testing.T, s *Server, text string, closeWrite bool) *http.Response {
	t.Helper()
	for range 10 {
		response, err := rawOnce(t, s, text, closeWrite)
		if err == nil {
			return response
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("%.100q: %v", text, err)
		}
	}
	t.Fatalf("%.100q: no answer, only resets", text)
	return nil
}

func rawOnce(t *testing.T, s *Server, text string, closeWrite bool) (*http.Response, error) {
	t.Helper()
	conn, err := net.Dial("tcp", s.entrance.listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.WriteString(conn, text) // the server may refuse to read all of it
		if closeWrite {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

func TestRequestLimits(t *testing.T) {
	t.Parallel()
	const (
		form   = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-www-form-urlencoded\r\n"
		inJSON = "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Target: AmazonSQS.SendMessage\r\n"
	)
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 1<<20, strings.Repeat("x", 1<<20))
	for _, tc := range []struct {
		name, request string
		closeWrite    bool
		status        int
		body          string
	}{
		{"announced form", form + "Content-Length: 8388609\r\n\r\n", false, 413,
			"<Code>RequestEntityTooLarge</Code><Message>The request must not be longer than 8388608 bytes.</Message>"},
		{"announced JSON", inJSON + "Content-Length: 99999999\r\n\r\n", false, 413,
			`{"__type":"com.amazon.coral.service#RequestEntityTooLargeException","message":"The request must not be longer than 8388608 bytes."}`},
		{"chunked JSON", inJSON + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat(chunk, 9) + "0\r\n\r\n", false,
			413, `RequestEntityTooLargeException`},
		{"cut off", inJSON + "Content-Length: 100\r\n\r\n{\"Queue", true, 400,
			"The body of the request could not be read: it ended early or came too slowly."},
		{"large header", "GET / HTTP/1.1\r\nHost: h\r\nX: " + strings.Repeat("x", 70<<10) + "\r\n\r\n", false, 431, ""},
		{"many headers", "GET / HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("X: y\r\n", 20<<10) + "\r\n", false, 431, ""},
		{"many parameters", form + "Content-Length: 20001\r\n\r\n" + strings.Repeat("&a", 10_000) + "&", false, 400,
			"The request has more than 10000 parameters."},
		{"no host", "GET / HTTP/1.1\r\n\r\n", false, 400, ""},
		{"not HTTP", "hello\r\n\r\n", false, 400, ""},
	} {
		response := raw(t, shared, tc.request, tc.closeWrite)
		body, _ := io.ReadAll(response.Body)
		if response.StatusCode != tc.status || !strings.Contains(string(body), tc.body) {
			t.Errorf("%s: %d %.500s", tc.name, response.StatusCode, body)
		}
	}
	// Unsigned bodies are read up to the limit, though not trusted.
	response := raw(t, shared, inJSON+"Content-Length: 8388608\r\n\r\n"+strings.Repeat(" ", 8<<20), false)
	if response.StatusCode != 403 {
		t.Errorf("8 MiB: %d", response.StatusCode)
	}

	h := shared.entrance.http
	if h.ReadHeaderTimeout != 10*time.Second || h.ReadTimeout != time.Minute || h.IdleTimeout != 2*time.Minute ||
		h.MaxHeaderBytes != 64<<10 {
		t.Errorf("timeouts: header %s, read %s, idle %s; header %d bytes", h.ReadHeaderTimeout, h.ReadTimeout,
			h.IdleTimeout, h.MaxHeaderBytes)
	}
	if h.WriteTimeout < 30*time.Second {
		t.Errorf("the answer to a long poll would be cut off after %s", h.WriteTimeout)
	}
}

// The largest batch fits into a request, however it is escaped.
func TestLargestBatch(t *testing.T) {
	t.Parallel()
	c := newClient(t, inJSON)
	c.Make("CreateQueue", object{"QueueName": "q"})
	var entries []string
	for i := range 8 {
		entries = append(entries, fmt.Sprintf(`{"Id":"%d","MessageBody":"%s"}`, i, strings.Repeat(`\u0078`, 131_072)))
	}
	r := c.JSONRequest("SendMessageBatch", `{"QueueUrl":"q","Entries":[`+strings.Join(entries, ",")+`]}`)
	c.Sign(r)
	if a := c.Send("SendMessageBatch", r); a.Status != 200 || len(a.Result["Successful"].(list)) != 8 {
		t.Errorf("%d %.300s", a.Status, a.Body)
	}
}

// By default, messages have the maximum size of the guide of 2014.
func TestDefaultMessageSize(t *testing.T) {
	t.Parallel()
	config := Default()
	config.InMemory, config.Listen = true, "127.0.0.1:0"
	s, _ := start(t, config)
	inAllOf(t, s, func(t *testing.T, c *client) {
		name := c.Dialect.String()
		c.Make("CreateQueue", object{"QueueName": name})
		c.OK("GetQueueAttributes", object{"QueueUrl": name, "AttributeNames": list{"MaximumMessageSize"}}, object{
			"Attributes": object{"MaximumMessageSize": 262144},
		})
		c.Make("SendMessage", object{"QueueUrl": name, "MessageBody": strings.Repeat("x", 262_144)})
		c.Fails("SendMessage", object{"QueueUrl": name, "MessageBody": strings.Repeat("x", 262_145)},
			invalid("One or more parameters are invalid. Reason: Message must be shorter than 262144 bytes."))
		c.Fails("SendMessageBatch",
			object{"QueueUrl": name, "Entries": list{object{"Id": "a", "MessageBody": strings.Repeat("x", 262_145)}}},
			batchRefusal("BatchRequestTooLong",
				"Batch requests cannot be longer than 262144 bytes. You have sent 262145 bytes."))
		// A queue with a larger maximum also applies it to a batch.
		c.Make("SetQueueAttributes", object{"QueueUrl": name, "Attributes": object{"MaximumMessageSize": "1048576"}})
		c.Make("SendMessageBatch", object{
			"QueueUrl": name, "Entries": list{object{"Id": "a", "MessageBody": strings.Repeat("x", 1_048_576)}},
		})
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	s, stop := start(t, inMemory())
	c := newClient(t, inJSON)
	c.Base, c.Cred = s.Endpoint(), s.Root()
	c.Make("CreateQueue", object{"QueueName": "q"})
	c.Make("CreateQueue", object{"QueueName": "q.fifo", "Attributes": object{"FifoQueue": "true"}})
	connections := func(want int) {
		t.Helper()
		eventually.Succeeds(t, func() error {
			if n := s.entrance.listener.(*front.ConnLimit).Open(); n != want {
				return fmt.Errorf("%d connections, want %d", n, want)
			}
			return nil
		})
	}
	http.DefaultClient.CloseIdleConnections()
	connections(0)
	var polls sync.WaitGroup
	for _, d := range apitest.Dialects {
		for _, queue := range []string{"q", "q.fifo"} {
			c := *c
			c.Dialect = d
			polls.Go(func() { c.OK("ReceiveMessage", object{"QueueUrl": queue, "WaitTimeSeconds": 20}, object{}) })
		}
	}
	connections(2 * len(apitest.Dialects))
	time.Sleep(60 * time.Millisecond)
	began := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	polls.Wait()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("stopping took %s", took)
	}
	if _, err := net.Dial("tcp", s.entrance.listener.Addr().String()); err == nil {
		t.Error("the server still listens")
	}
}

// onDisk is the configuration of a server that keeps its data in dir.
func onDisk(dir string) Config {
	c := Default()
	c.Data, c.Listen = dir, "127.0.0.1:0"
	c.Accounts = []string{account, otherAccount}
	return c
}

func TestRestart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s, stop := start(t, onDisk(dir))
	root := s.Root()
	c := newClient(t, inJSON)
	c.Cred, c.Base = root, s.Endpoint()

	c.Make("CreateQueue", object{"QueueName": "dlq"})
	c.Make("CreateQueue", object{"QueueName": "q", "tags": object{"k": "v"}, "Attributes": object{
		"VisibilityTimeout": "600",
		"Policy":            `{ "Statement":` + allowing(otherAccount, "sqs:SendMessage", "*", "") + ` }`,
		"RedrivePolicy":     redrive(c.ARN("dlq"), 3), "KmsMasterKeyId": "k",
	}})
	c.Make("CreateQueue", object{
		"QueueName": "q.fifo", "Attributes": object{"FifoQueue": "true", "DeduplicationScope": "messageGroup"},
	})
	c.Make("CreateQueue", object{"QueueName": "purged"})
	c.Make("PurgeQueue", object{"QueueUrl": "purged"})
	c.Make("CreateQueue", object{"QueueName": "deleted"})
	c.Make("SendMessage", object{"QueueUrl": "deleted", "MessageBody": "never to be seen again"})
	c.Make("DeleteQueue", object{"QueueUrl": "deleted"})
	for _, body := range []string{"deleted", "in flight", "to come"} {
		c.Make("SendMessage",
			object{"QueueUrl": "q", "MessageBody": body, "MessageAttributes": object{"color": text("blue")},
				"MessageSystemAttributes": object{"AWSTraceHeader": text("Root=1")}})
	}
	c.Make("SendMessage", object{"QueueUrl": "q", "MessageBody": "delayed", "DelaySeconds": 900})
	receive := func(queue string) object {
		t.Helper()
		messages, _ := c.Make("ReceiveMessage", object{
			"QueueUrl": queue, "AttributeNames": list{"All"}, "MessageAttributeNames": list{"All"},
		})["Messages"].(list)
		if len(messages) == 0 {
			t.Fatal("no message")
		}
		return messages[0].(object)
	}
	c.Make("DeleteMessage", object{"QueueUrl": "q", "ReceiptHandle": receive("q")["ReceiptHandle"]})
	inFlight := receive("q")
	fifo := object{"QueueUrl": "q.fifo", "MessageBody": "f", "MessageGroupId": "g", "MessageDeduplicationId": "d"}
	first := c.Make("SendMessage", fifo)
	attempt := object{"QueueUrl": "q.fifo", "ReceiveRequestAttemptId": "a", "VisibilityTimeout": 600}
	tried := c.Make("ReceiveMessage", attempt)
	c.Make("SendMessage", object{
		"QueueUrl": "q.fifo", "MessageBody": "next", "MessageGroupId": "g", "MessageDeduplicationId": "e",
	})
	before := dumpRegion(c)

	if err := stop(); err != nil {
		t.Fatal(err)
	}
	s, _ = start(t, onDisk(dir))
	if got := s.Root(); !reflect.DeepEqual(got, root) {
		t.Errorf("the root key was %s and is %s", root, got)
	}
	c.Base = s.Endpoint()
	after := dumpRegion(c)
	// Queue URLs contain the server's port.
	port := regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)
	if b, a := port.ReplaceAllString(fmt.Sprint(before), ""), port.ReplaceAllString(fmt.Sprint(after), ""); a != b {
		t.Errorf("before %s\nafter  %s", b, a)
	}
	if m := receive("q"); m["Body"] != "to come" || m["MD5OfMessageAttributes"] != "da1b33cc3cbfe8b1630921e78e6b9880" ||
		m["Attributes"].(object)["AWSTraceHeader"] != "Root=1" ||
		m["Attributes"].(object)["ApproximateReceiveCount"] != "1" {
		t.Errorf("got %v", m)
	}
	c.Make("ChangeMessageVisibility", object{
		"QueueUrl": "q", "ReceiptHandle": inFlight["ReceiptHandle"], "VisibilityTimeout": 0,
	})
	if m := receive("q"); m["MessageId"] != inFlight["MessageId"] ||
		m["Attributes"].(object)["ApproximateReceiveCount"] != "2" {
		t.Errorf("got %v, want %v", m, inFlight)
	}
	c.Make("DeleteMessage", object{"QueueUrl": "q", "ReceiptHandle": inFlight["ReceiptHandle"]})
	c.OK("SendMessage", fifo, first) // still a duplicate
	if again := c.Make("ReceiveMessage", attempt); !reflect.DeepEqual(again, tried) {
		t.Errorf("the same attempt gets %v, then %v", tried, again)
	}
	c.Make("DeleteMessage", object{
		"QueueUrl": "q.fifo", "ReceiptHandle": tried["Messages"].(list)[0].(object)["ReceiptHandle"],
	})
	if m := receive("q.fifo"); m["Body"] != "next" ||
		m["Attributes"].(object)["SequenceNumber"].(string) <= first["SequenceNumber"].(string) {
		t.Errorf("got %v after %v", m, first)
	}
	c.Fails("PurgeQueue", object{"QueueUrl": "purged"},
		modelled("PurgeQueueInProgress", "AWS.SimpleQueueService.PurgeQueueInProgress", 403,
			"Only one PurgeQueue operation on purged is allowed every 60 seconds."))
	c.Fails("CreateQueue", object{"QueueName": "deleted"},
		modelled("QueueDeletedRecently", "AWS.SimpleQueueService.QueueDeletedRecently", 400,
			"You must wait 60 seconds after deleting a queue before you can create another with the same name."))
	c.OK("GetQueueAttributes",
		object{
			"QueueUrl": "q",
			"AttributeNames": list{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible",
				"ApproximateNumberOfMessagesDelayed"},
		},
		object{
			"Attributes": object{
				"ApproximateNumberOfMessages": 0, "ApproximateNumberOfMessagesNotVisible": 1,
				"ApproximateNumberOfMessagesDelayed": 1,
			},
		})
}

// Two servers do not share a data directory.
func TestDataDirectoryInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, onDisk(dir))
	if _, err := Start(onDisk(dir)); !errors.Is(err, store.ErrLocked) {
		t.Errorf("the second server starts with %v", err)
	}
}

func TestPortInUse(t *testing.T) {
	t.Parallel()
	config := onDisk(t.TempDir())
	config.Listen = shared.entrance.listener.Addr().String()
	if _, err := Start(config); err == nil {
		t.Fatal("two servers listen on one port")
	}
	config.Listen = "127.0.0.1:0"
	start(t, config) // the failed server has released everything
}

func TestCredentialsFile(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	s, stop := start(t, onDisk(dir))
	root := s.Root()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, CredentialsFile)
	for path, want := range map[string]os.FileMode{file: 0o600, dir: 0o700 | os.ModeDir} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("the mode of %s is %s, want %s", path, info.Mode(), want)
		}
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content),
		"["+account+"]\naws_access_key_id = "+root.AccessKeyID+"\naws_secret_access_key = "+root.Secret+"\n") ||
		!strings.Contains(string(content), "["+otherAccount+"]\n") {
		t.Errorf("the file is %q", content)
	}

	for _, mode := range []os.FileMode{0o640, 0o604, 0o644, 0o660} {
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(onDisk(dir)); err == nil || !strings.Contains(err.Error(), "can be read by others") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}

	// An operator's key replaces the first account's.
	config := onDisk(dir)
	config.RootKeyID, config.RootSecret = "mine", "too-short-15-ch"
	config.Listen, config.Insecure = "0.0.0.0:0", true
	if _, err := Start(config); err == nil ||
		!strings.Contains(err.Error(), "--root-secret-access-key has 15 characters") {
		t.Errorf("a short secret that other machines can guess: %v", err)
	}
	config.Listen, config.Insecure = onDisk(dir).Listen, false
	s, stop = start(t, config) // only this machine can guess
	if got := s.Root().Secret; got != "too-short-15-ch" {
		t.Errorf("the root's secret is %q", got)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	config.RootSecret = "a-secret-of-mine"
	s, stop = start(t, config)
	if got := s.Root(); got.AccessKeyID != "mine" || got.Secret != "a-secret-of-mine" {
		t.Errorf("the root key is %s", got)
	}
	c := newClient(t, inJSON)
	c.Base, c.Cred = s.Endpoint(), s.Root()
	c.Make("ListQueues", nil)
	c.As(root).Fails("ListQueues", nil, apitest.UnknownKey)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, content) {
		t.Errorf("the file is now %q", now)
	}

	for _, bad := range []string{"x", "[1]\n", "[" + account + "]\naws_access_key_id = a\n",
		"[" + account + "]\nregion = x\n", "aws_access_key_id = a\n"} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Start(onDisk(dir)); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The client can use its queue URLs: they begin with the address that it has used, or with the public URL.
func TestQueueURLs(t *testing.T) {
	t.Parallel()
	c := newClient(t, inJSON)
	c.Make("CreateQueue", object{"QueueName": "q"})
	ask := func(host, proto string) any {
		t.Helper()
		r := c.Request("GetQueueUrl", object{"QueueName": "q"})
		if host != "" {
			r.Host = host
		}
		if proto != "" {
			r.Header.Set("X-Forwarded-Proto", proto)
		}
		c.Sign(r)
		return c.Send("GetQueueUrl", r).Result["QueueUrl"]
	}
	for _, tc := range []struct{ host, proto, want string }{
		{"", "", c.Base}, {"sqs.example.com", "", "http://sqs.example.com"},
		{"sqs.example.com:8080", "http", "http://sqs.example.com:8080"},
		{"sqs.example.com", "https", "https://sqs.example.com"},
		{"sqs.example.com", "HTTPS", "https://sqs.example.com"},
		{"sqs.example.com", "gopher", "http://sqs.example.com"},
	} {
		if got := ask(tc.host, tc.proto); got != tc.want+"/"+account+"/q" {
			t.Errorf("Host %q, X-Forwarded-Proto %q: %v", tc.host, tc.proto, got)
		}
	}
}

// Behind a proxy that changes the host, under a path.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	var backend *url.URL
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(backend) }})
	defer proxy.Close()
	config := inMemory()
	config.PublicURL = proxy.URL + "/sqs/"
	s, _ := start(t, config)
	if s.Endpoint() != proxy.URL+"/sqs" {
		t.Errorf("the endpoint is %s", s.Endpoint())
	}
	backend = &url.URL{Scheme: "http", Host: s.entrance.listener.Addr().String()}
	for _, d := range apitest.Dialects {
		c := newClient(t, d)
		c.Base, c.Cred = s.Endpoint(), s.Root()
		c.OK("CreateQueue", object{"QueueName": "q"}, object{"QueueUrl": proxy.URL + "/sqs/" + account + "/q"})
		c.Make("SendMessage", object{"QueueUrl": c.URL("q"), "MessageBody": "m"})
		c.OK("ListQueues", nil, object{"QueueUrls": list{c.URL("q")}})
		c.At("").OK("ListQueues", nil, object{"QueueUrls": list{c.URL("q")}})
		if d != inJSON {
			c.At("/"+account+"/q").OK("ReceiveMessage", nil, object{"Messages": list{someMessage}})
			r := apitest.SignVersion2(t, c.NewRequest(http.MethodGet, "", ""), c.Form("ListQueues", nil), c.Cred,
				apitest.Version2{})
			if a := c.Send("ListQueues", r); a.Status != 200 {
				t.Errorf("%d %s", a.Status, a.Body)
			}
		}
		// Direct access works, too; the URLs stay those of the proxy.
		direct := *c
		direct.Base = backend.String()
		direct.OK("ListQueues", nil, object{"QueueUrls": list{c.URL("q")}})
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pool := apitest.Certificate(t, dir)
	config := inMemory()
	config.TLSCert, config.TLSKey = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	s, _ := start(t, config)
	if !strings.HasPrefix(s.Endpoint(), "https://127.0.0.1:") {
		t.Errorf("the endpoint is %s", s.Endpoint())
	}
	c := newClient(t, inJSON)
	c.Base, c.Cred = s.Endpoint(), s.Root()
	r := c.Request("CreateQueue", object{"QueueName": "q"})
	c.Sign(r)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	response.Body.Close()
	if want := `{"QueueUrl":"` + c.URL("q") + `"}`; string(body) != want {
		t.Errorf("got %s, want %s", body, want)
	}

	// Replaced files take effect with the next connection. Files that cannot be read do not, and do not end the server.
	pool = apitest.Certificate(t, dir)
	again := &http.Client{
		Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true},
	}
	for _, spoil := range []bool{false, true} {
		if spoil {
			apitest.Must(t, 0, os.WriteFile(config.TLSCert, []byte("nonsense"), 0o600))
			s.Reload(false)
		}
		response, err := again.Get(s.Endpoint() + "/healthz")
		if err != nil {
			t.Fatalf("damaged %t: %v", spoil, err)
		}
		response.Body.Close()
	}

	config.TLSKey = filepath.Join(dir, "nobody")
	if _, err := Start(config); err == nil || !strings.Contains(err.Error(), "load TLS certificate") {
		t.Errorf("it starts without a key: %v", err)
	}
}

// safeBuffer collects what several goroutines write.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// The log says who did what, and has no secrets, signatures, receipt handles or bodies.
func TestLog(t *testing.T) {
	t.Parallel()
	var log safeBuffer
	config := onDisk(t.TempDir())
	config.LogRequests = true
	config.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, stop := start(t, config)
	const body = "a confidential body"
	secrets := []string{s.Root().Secret, body, "c2VjcmV0", "confidential"}
	requests := 0
	note := func(r *http.Request) {
		requests++
		for _, text := range []string{r.Header.Get("Authorization"), r.URL.RawQuery} {
			if _, signature, ok := strings.Cut(text, "Signature="); ok {
				signature, _, _ = strings.Cut(signature, "&")
				secrets = append(secrets, signature)
				if plain, err := url.QueryUnescape(signature); err == nil {
					secrets = append(secrets, plain)
				}
			}
		}
	}
	inAllOf(t, s, func(t *testing.T, c *client) {
		call := func(op string, in object) *answer {
			r := c.Request(op, in)
			c.Sign(r)
			note(r)
			return c.Send(op, r)
		}
		name := c.Dialect.String()
		call("CreateQueue", object{"QueueName": name})
		call("CreateQueue", object{"QueueName": name + ".fifo", "Attributes": object{"FifoQueue": "true"}})
		call("SendMessage", object{"QueueUrl": name, "MessageBody": body, "MessageAttributes": object{
			"a": text("confidential"), "b": object{"DataType": "Binary", "BinaryValue": "c2VjcmV0"}}})
		handle := call("ReceiveMessage", object{"QueueUrl": name})
		h := handle.Result["Messages"].(list)[0].(object)["ReceiptHandle"].(string)
		secrets = append(secrets, h)
		call("ChangeMessageVisibility", object{"QueueUrl": name, "ReceiptHandle": h, "VisibilityTimeout": 43201})
		call("DeleteMessage", object{"QueueUrl": name + ".fifo", "ReceiptHandle": h})
		call("DeleteMessage", object{"QueueUrl": name, "ReceiptHandle": h + "confidential"})
		call("DeleteMessage", object{"QueueUrl": name, "ReceiptHandle": h})
		call("ChangeMessageVisibility", object{"QueueUrl": name, "ReceiptHandle": h, "VisibilityTimeout": 0})
		call("SendMessage", object{
			"QueueUrl": name + ".fifo", "MessageBody": body, "MessageGroupId": "confidential group",
		})
		call("SendMessage", object{"QueueUrl": name, "MessageBody": body, "DelaySeconds": body})
		call("Confidential"+strings.Repeat("x", 1000), nil)

		unsigned := c.Request("PurgeQueue", object{"QueueUrl": c.URL(name)})
		note(unsigned)
		c.Send("PurgeQueue", unsigned)

		// Errors about signatures may quote them.
		r := c.Request("ListQueues", nil)
		c.Sign(r)
		note(r)
		r.Header.Set("Authorization",
			strings.Replace(r.Header.Get("Authorization"), "SignedHeaders=", "SignedHeaders", 1))
		c.Send("ListQueues", r)
		if c.Dialect == inURL {
			r := apitest.SignVersion2(t, c.NewRequest(http.MethodGet, "", ""),
				c.Form("SendMessage", object{"QueueUrl": name, "MessageBody": body}), c.Cred, apitest.Version2{})
			note(r)
			c.Send("SendMessage", r)
			r = apitest.SignVersion2(t, c.NewRequest(http.MethodGet, "", ""), c.Form("ListQueues", nil), c.Cred,
				apitest.Version2{Tamper: func(v url.Values) { v.Set("AWSAccessKeyId", "x") }})
			note(r)
			c.Send("ListQueues", r)
		}
	})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	text := log.String()
	for _, secret := range secrets {
		if i := strings.Index(text, secret); i >= 0 {
			t.Errorf("the log has %q: %.300s", secret, text[max(0, i-100):])
		}
	}
	lines := 0
	for line := range strings.Lines(text) {
		var entry struct {
			Msg, Operation, Protocol, Caller, Code string
			RequestID                              string `json:"request_id"`
			AccessKeyID                            string `json:"access_key_id"`
			DeniedBy                               string `json:"denied_by"`
			Status                                 int
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if entry.Msg != "request" {
			continue
		}
		lines++
		if want := map[bool]string{
			true: "no resource-based policy allows it",
		}[entry.Code == "AccessDenied"]; entry.DeniedBy != want {
			t.Errorf("denied by %q: %s", entry.DeniedBy, line)
		}
		if !uuidPattern.MatchString(entry.RequestID) || entry.Operation == "" || len(entry.Operation) > 100 ||
			entry.Protocol == "" || entry.Status == 0 ||
			(entry.Code == "") != (entry.Status == 200) ||
			(entry.Caller == identity.Root(account, "").ARN) != (entry.AccessKeyID == s.Root().AccessKeyID) {
			t.Errorf("%s", line)
		}
	}
	if lines != requests {
		t.Errorf("%d lines for %d requests", lines, requests)
	}
}

// brokenWriter is a connection that turns out to be gone while the answer is written.
type brokenWriter struct{ *httptest.ResponseRecorder }

func (brokenWriter) FlushError() error { return errors.New("broken pipe") }

// Messages that did not reach their consumer are available to the next at once, as if they had not been received.
func TestUndelivered(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		c.Make("CreateQueue", object{"QueueName": "q"})
		c.Make("CreateQueue", object{
			"QueueName": "q.fifo", "Attributes": object{"FifoQueue": "true", "ContentBasedDeduplication": "true"},
		})
		c.Make("SendMessage", object{"QueueUrl": "q", "MessageBody": "m"})
		c.Make("SendMessage", object{"QueueUrl": "q.fifo", "MessageBody": "m", "MessageGroupId": "g"})
		for _, queue := range []string{"q", "q.fifo"} {
			in := object{
				"QueueUrl": queue, "AttributeNames": list{"ApproximateReceiveCount"}, "ReceiveRequestAttemptId": "a",
			}
			for _, cancelled := range []bool{false, true} {
				r := c.Request("ReceiveMessage", in)
				c.Sign(r)
				r.Host, r.RequestURI = r.URL.Host, r.URL.RequestURI()
				if cancelled {
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					r = r.WithContext(ctx)
				}
				shared.entrance.http.Handler.ServeHTTP(brokenWriter{httptest.NewRecorder()}, r)
			}
			m := c.Make("ReceiveMessage", in)["Messages"].(list)[0].(object)
			if n := m["Attributes"].(object)["ApproximateReceiveCount"]; n != "1" {
				t.Errorf("%s: the receive count is %v", queue, n)
			}
		}
	})
}

// A queue whose creator did not wait for the answer is an ordinary queue.
func TestMakerGone(t *testing.T) {
	t.Parallel()
	inAll(t, func(t *testing.T, c *client) {
		r := c.Request("CreateQueue", object{"QueueName": "q"})
		c.Sign(r)
		r.Host, r.RequestURI = r.URL.Host, r.URL.RequestURI()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		shared.entrance.http.Handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
		c.Make("SendMessage", object{"QueueUrl": "q", "MessageBody": "m"})
		c.OK("ReceiveMessage", object{"QueueUrl": "q"}, object{"Messages": list{someMessage}})
	})
}
