package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/observe/spans"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// otlpCollector accepts spans as a collector does, by HTTP and in protobuf.
type otlpCollector struct {
	t *testing.T
	*httptest.Server
	mu       sync.Mutex
	got      []*otlp.Span
	resource map[string]string
	raw      bytes.Buffer // all received spans
}

func newCollector(t *testing.T) *otlpCollector {
	c := &otlpCollector{t: t}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *otlpCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			c.t.Error(err)
			return
		}
		body = z
	}
	b, err := io.ReadAll(body)
	var in otlp.TracesData // the answer is encoded like the request
	if err == nil {
		err = proto.Unmarshal(b, &in)
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" ||
		r.Header.Get("Authorization") != "Bearer t" {
		c.t.Errorf("%s, %v: %v", r.URL.Path, r.Header, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw.Write(b)
	for _, of := range in.ResourceSpans {
		c.resource = attributesIn(of.Resource.Attributes)
		for _, scope := range of.ScopeSpans {
			c.got = append(c.got, scope.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func attributesIn(list []*common.KeyValue) map[string]string {
	out := make(map[string]string)
	for _, kv := range list {
		switch v := kv.Value.Value.(type) {
		case *common.AnyValue_StringValue:
			out[kv.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			out[kv.Key] = fmt.Sprint(v.IntValue)
		}
	}
	return out
}

// waitFor waits until spans of these names have arrived, and returns the last of each in their order.
func (c *otlpCollector) waitFor(names ...string) []*otlp.Span {
	c.t.Helper()
	out := make([]*otlp.Span, len(names))
	eventually.Succeeds(c.t, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		var known []string
		for _, s := range c.got {
			known = append(known, s.Name)
		}
		for i, name := range names {
			if out[i] = nil; slices.Contains(known, name) {
				for _, s := range c.got {
					if s.Name == name {
						out[i] = s
					}
				}
			} else {
				return fmt.Errorf("no span %q; there are %q", name, known)
			}
		}
		return nil
	})
	return out
}

// tracedServer runs a server that sends its spans to c.
func tracedServer(t *testing.T, c *otlpCollector, config Config) *Server {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer t")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	tracer, err := spans.Open(spans.Options{Version: "v9"})
	if err != nil || tracer == nil {
		t.Fatal(tracer, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := tracer.Close(ctx); err != nil && c.Config.Handler == c {
			t.Error(err)
		}
	})
	config.Spans = tracer
	s, _ := start(t, config)
	return s
}

func sqsClient(s *Server, options ...func(*sqs.Options)) *sqs.Client {
	o := sqs.Options{Region: "us-east-1", BaseEndpoint: aws.String(s.Endpoint()),
		Credentials: aws.CredentialsProviderFunc(
			func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: s.Root().AccessKeyID, SecretAccessKey: s.Root().Secret}, nil
			})}
	return sqs.New(o, options...)
}

// The trace of a producer shows how long its message has waited, who had it for how long, and that it became a dead
// letter.
func TestSpansOfAMessage(t *testing.T) {
	c := newCollector(t)
	client := sqsClient(tracedServer(t, c, inMemory()))
	ctx := t.Context()
	makeQueue := func(name string, attributes map[string]string) string {
		q, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		apitest.Must(t, q, err)
		return *q.QueueUrl
	}
	dead := makeQueue("dead", nil)
	orders := makeQueue("orders", map[string]string{
		"RedrivePolicy": `{"maxReceiveCount":"2","deadLetterTargetArn":"arn:aws:sqs:us-east-1:` + account + `:dead"}`,
	})
	const traceID, parentID = "5759e988bd862e3fe1be46a994272793", "53995c3f42cd8ad8"
	const header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled="
	send := func(sampled string) string {
		m, err := client.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl: &orders, MessageBody: aws.String("secret body"),
			MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
				"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String(header + sampled)},
			},
		})
		apitest.Must(t, m, err)
		return *m.MessageId
	}
	receive := func(from string, timeout int32) types.Message {
		t.Helper()
		m, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &from, VisibilityTimeout: timeout})
		apitest.Must(t, m, err)
		if len(m.Messages) != 1 {
			t.Fatal("received nothing")
		}
		return m.Messages[0]
	}
	giveBack := func(m types.Message) {
		out, err := client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
			QueueUrl: &orders, ReceiptHandle: m.ReceiptHandle,
		})
		apitest.Must(t, out, err)
	}
	unsampled := send("0")
	giveBack(receive(orders, 60))
	m := receive(orders, 60)
	out, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &orders, ReceiptHandle: m.ReceiptHandle})
	apitest.Must(t, out, err)

	id := send("1")
	giveBack(receive(orders, 60))
	giveBack(receive(orders, 60))
	if m, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &orders,
	}); err != nil || len(m.Messages) > 0 {
		t.Fatal(m, err)
	}
	m = receive(dead, 60)
	out, err = client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &dead, ReceiptHandle: m.ReceiptHandle})
	apitest.Must(t, out, err)

	list := c.waitFor("queued orders", "redelivered orders", "in flight orders", "dead-lettered orders",
		"in flight dead")
	want := []map[string]string{
		{"sluice.message.receive_count": "1"},
		{"sluice.message.receive_count": "2"},
		{"sluice.message.receive_count": "2", "sluice.message.in_flight.end": "returned"},
		{"sluice.message.receive_count": "2", "sluice.dead_letter_queue.name": "dead", "error.type": "dead_letter"},
		{"sluice.message.receive_count": "1", "sluice.message.in_flight.end": "deleted",
			"messaging.destination.name": "dead"},
	}
	for i, s := range list {
		if hex.EncodeToString(s.TraceId) != traceID || hex.EncodeToString(s.ParentSpanId) != parentID ||
			s.StartTimeUnixNano > s.EndTimeUnixNano {
			t.Errorf("%s: trace %x, parent %x, from %d to %d", s.Name, s.TraceId, s.ParentSpanId, s.StartTimeUnixNano,
				s.EndTimeUnixNano)
		}
		got := attributesIn(s.Attributes)
		all := map[string]string{
			"messaging.system": "aws_sqs", "messaging.message.id": id, "cloud.account.id": account,
			"cloud.region": "us-east-1",
		}
		for _, m := range []map[string]string{all, want[i]} {
			for key, value := range m {
				if got[key] != value {
					t.Errorf("%s: %s is %q, want %q", s.Name, key, got[key], value)
				}
			}
		}
	}
	if n := c.resource; n["service.name"] != "sluice" || n["service.version"] != "v9" ||
		n["deployment.environment.name"] != "test" {
		t.Errorf("the resource is %v", n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.got {
		if a := attributesIn(s.Attributes); a["messaging.message.id"] == unsampled &&
			s.Kind == otlp.Span_SPAN_KIND_INTERNAL {
			t.Errorf("a message whose producer does not sample has the span %s", s.Name)
		}
	}
	for _, secret := range []string{"secret body", *m.ReceiptHandle, "AWS4-HMAC"} {
		if bytes.Contains(c.raw.Bytes(), []byte(secret)) {
			t.Errorf("the spans have %.20q", secret)
		}
	}
}

// A request has a span that continues the trace of its client.
func TestSpansOfRequests(t *testing.T) {
	c := newCollector(t)
	s := tracedServer(t, c, inMemory())
	port := s.Endpoint()[strings.LastIndex(s.Endpoint(), ":")+1:]
	var traceparent string
	client := sqsClient(s, func(o *sqs.Options) {
		o.HTTPClient = headerClient(func(h http.Header) {
			if traceparent != "" {
				h.Set("traceparent", traceparent)
			}
		})
	})
	ctx := t.Context()
	q, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	apitest.Must(t, q, err)
	entries := []types.SendMessageBatchRequestEntry{
		{Id: aws.String("a"), MessageBody: aws.String("secret body")},
		{Id: aws.String("b"), MessageBody: aws.String("secret body")},
	}
	const trace = "0af7651916cd43dd8448eb211c80319c"
	traceparent = "00-" + trace + "-b7ad6b7169203331-01"
	sent, err := client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: q.QueueUrl, Entries: entries})
	apitest.Must(t, sent, err)
	if _, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{
		QueueUrl: q.QueueUrl, ReceiptHandle: aws.String("x"),
	}); err == nil {
		t.Fatal("deleted by a handle that is none")
	}
	traceparent = "00-" + trace + "-b7ad6b7169203331-00"
	attributes, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: q.QueueUrl})
	apitest.Must(t, attributes, err)
	traceparent = ""
	m, err := client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: q.QueueUrl, MessageBody: aws.String("secret body"),
	})
	apitest.Must(t, m, err)

	list := c.waitFor("CreateQueue orders", "SendMessageBatch orders", "DeleteMessage orders", "SendMessage orders")
	want := []map[string]string{
		{"messaging.operation.type": ""},
		{"messaging.operation.type": "send", "messaging.batch.message_count": "2", "messaging.message.id": ""},
		{"messaging.operation.type": "settle", "error.type": "ReceiptHandleIsInvalid",
			"http.response.status_code": "404"},
		{"messaging.operation.type": "send", "messaging.batch.message_count": "", "messaging.message.id": *m.MessageId},
	}
	for i, s := range list {
		if traced := i == 1 || i == 2; (hex.EncodeToString(s.TraceId) == trace) != traced ||
			s.Kind != otlp.Span_SPAN_KIND_SERVER {
			t.Errorf("%s: trace %x, kind %v", s.Name, s.TraceId, s.Kind)
		}
		got := attributesIn(s.Attributes)
		operation, _, _ := strings.Cut(s.Name, " ")
		all := map[string]string{
			"messaging.system": "aws_sqs", "messaging.destination.name": "orders",
			"messaging.operation.name": operation, "rpc.service": "sqs",
			"rpc.method": operation, "cloud.account.id": account, "cloud.region": "us-east-1",
			"server.address": "127.0.0.1", "server.port": port,
		}
		for _, m := range []map[string]string{all, want[i]} {
			for key, value := range m {
				if got[key] != value {
					t.Errorf("%s: %s is %q, want %q", s.Name, key, got[key], value)
				}
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.got {
		if strings.HasPrefix(s.Name, "GetQueueAttributes") {
			t.Error("a request whose client does not sample has a span")
		}
	}
	if bytes.Contains(c.raw.Bytes(), []byte("secret body")) {
		t.Error("the spans have a body")
	}
}

// headerClient is an HTTP client that changes the headers of requests.
type headerClient func(http.Header)

// Do implements sqs.HTTPClient.
func (f headerClient) Do(r *http.Request) (*http.Response, error) {
	f(r.Header)
	return http.DefaultClient.Do(r)
}

// A collector that does not answer, or is not there, delays no request.
func TestCollectorThatHangs(t *testing.T) {
	hangs := make(chan struct{})
	c := &otlpCollector{
		t: t, Server: httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hangs })),
	}
	t.Cleanup(c.Close)
	t.Cleanup(func() { close(hangs) })
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "8")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	client := sqsClient(tracedServer(t, c, inMemory()))
	q, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("orders")})
	apitest.Must(t, q, err)
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		m, err := client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: q.QueueUrl, MessageBody: aws.String("m")})
		apitest.Must(t, m, err)
		cancel()
	}
}
