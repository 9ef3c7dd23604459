package sqsbuffer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/sluicemq/sluice/sqsbuffer"
)

const (
	standard = "http://fake/000000000000/jobs"
	fifo     = "http://fake/000000000000/jobs.fifo"
)

// A service is a simple model of SQS: a list of messages for each queue. It replaces the network of an SDK client, so
// that tests run in the time of a bubble.
type service struct {
	latency    time.Duration // on the way to the service
	back       time.Duration // and of its answers
	visibility time.Duration // of the queues
	maxBatch   int           // bytes
	// lingers is the delay after which the service executes a request whose client has left; 0: it does not.
	lingers time.Duration
	// refuse returns the error code for a message, or "".
	refuse func(body string) string
	// broken returns the error code for a whole request, or "".
	broken func(operation string) string
	// lost reports whether the answer to a request is lost.
	lost func(operation string) bool
	// corrupt reports whether the service claims to have stored other data.
	corrupt func(body string) bool

	mu       sync.Mutex
	changed  chan struct{} // closed when messages have become visible
	queues   map[string][]*message
	calls    map[string]int
	busy     map[string]int // requests under way, by operation and queue
	busiest  map[string]int
	sizes    []int    // sizes of the batches of messages
	order    []string // bodies as they were stored
	names    []string // attributes that the last receive requested
	receipts int
}

type message struct {
	id, body, group, receipt string
	attributes               map[string]any
	visible                  time.Time
	received                 int
}

// entry has the fields that the operations share.
type entry struct {
	ID                string `json:"Id"`
	MessageBody       string
	MessageAttributes map[string]any
	MessageGroupID    string `json:"MessageGroupId"`
	ReceiptHandle     string
	VisibilityTimeout *int
}

type request struct {
	entry
	QueueURL              string `json:"QueueUrl"`
	Entries               []entry
	MaxNumberOfMessages   int
	MessageAttributeNames []string
	WaitTimeSeconds       int
}

type result map[string]any

func newService() *service {
	return &service{
		visibility: 30 * time.Second, maxBatch: 1 << 20, changed: make(chan struct{}),
		queues: make(map[string][]*message), calls: make(map[string]int), busy: make(map[string]int),
		busiest: make(map[string]int),
	}
}

// client is an SDK client of the service.
func (s *service) client() *sqs.Client {
	return sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://fake"), HTTPClient: s,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "A", SecretAccessKey: "S"}, nil
		}),
	})
}

// buffered is a buffered client of the service, which the test closes.
func (s *service) buffered(t *testing.T, change ...func(*sqsbuffer.Settings)) *sqsbuffer.Client {
	t.Helper()
	c, err := sqsbuffer.New(s.client(), change...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Do implements sqs.HTTPClient.
func (s *service) Do(r *http.Request) (*http.Response, error) {
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")
	var in request
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	s.enter(operation, in.QueueURL)
	defer s.leave(operation, in.QueueURL)
	if err := s.travel(r.Context(), s.latency); err != nil {
		if s.lingers > 0 {
			time.AfterFunc(s.lingers, func() { _, _ = s.answer(context.Background(), operation, in) })
		}
		return nil, err
	}
	code := ""
	if s.broken != nil {
		code = s.broken(operation)
	}
	var out any
	if code == "" {
		out, code = s.answer(r.Context(), operation, in)
	}
	if err := s.travel(r.Context(), s.back); err != nil {
		return nil, err
	}
	if s.lost != nil && s.lost(operation) {
		return nil, errors.New("connection reset by peer")
	}
	status := http.StatusOK
	if code != "" {
		status, out = http.StatusBadRequest, result{"__type": "com.amazonaws.sqs#" + code, "message": "it is " + code}
		if code == "InternalError" {
			status = http.StatusInternalServerError
		}
	}
	body, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body: io.NopCloser(bytes.NewReader(body)), Request: r,
	}, nil
}

// travel waits for the latency, unless the client leaves.
func (s *service) travel(ctx context.Context, d time.Duration) error {
	if d > 0 {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

func (s *service) enter(operation, queue string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[operation]++
	key := operation + " " + queue
	s.busy[key]++
	s.busiest[key] = max(s.busiest[key], s.busy[key])
}

func (s *service) leave(operation, queue string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[operation+" "+queue]--
}

func (s *service) answer(ctx context.Context, operation string, in request) (out any, code string) {
	single, isBatch := strings.CutSuffix(operation, "Batch")
	if !isBatch {
		switch operation {
		case "GetQueueAttributes":
			return result{
				"Attributes": map[string]string{"VisibilityTimeout": fmt.Sprint(int(s.visibility.Seconds()))},
			}, ""
		case "ReceiveMessage":
			return s.receive(ctx, in), ""
		case "PurgeQueue":
			s.mu.Lock()
			defer s.mu.Unlock()
			s.queues[in.QueueURL] = nil
			return result{}, ""
		}
		return s.apply(operation, in.QueueURL, in.entry)
	}
	bytes := 0
	for _, e := range in.Entries {
		bytes += len(e.MessageBody)
		if single == "SendMessage" && strings.HasSuffix(in.QueueURL, ".fifo") && e.MessageGroupID == "" {
			return nil, "InvalidParameterValue"
		}
	}
	if bytes > s.maxBatch {
		return nil, "BatchRequestTooLong"
	}
	if single == "SendMessage" {
		s.mu.Lock()
		s.sizes = append(s.sizes, len(in.Entries))
		s.mu.Unlock()
	}
	var successful, failed []result
	for _, e := range in.Entries {
		out, code := s.apply(single, in.QueueURL, e)
		if code != "" {
			failed = append(failed, result{
				"Id": e.ID, "Code": code, "Message": "it is " + code, "SenderFault": code != "InternalError",
			})
			continue
		}
		out["Id"] = e.ID
		successful = append(successful, out)
	}
	return result{"Successful": successful, "Failed": failed}, ""
}

// apply carries out one entry or single call.
func (s *service) apply(operation, queue string, e entry) (out result, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if operation == "SendMessage" {
		return s.send(queue, e)
	}
	i := slices.IndexFunc(s.queues[queue], func(m *message) bool { return m.receipt == e.ReceiptHandle })
	if i < 0 {
		return nil, "ReceiptHandleIsInvalid"
	}
	switch operation {
	case "DeleteMessage":
		s.queues[queue] = slices.Delete(s.queues[queue], i, i+1)
	case "ChangeMessageVisibility":
		s.queues[queue][i].visible = time.Now().Add(time.Duration(*e.VisibilityTimeout) * time.Second)
	}
	s.wake()
	return result{}, ""
}

func (s *service) send(queue string, e entry) (result, string) {
	if s.refuse != nil {
		if code := s.refuse(e.MessageBody); code != "" {
			return nil, code
		}
	}
	s.receipts++
	m := &message{
		id: fmt.Sprint("id-", s.receipts), body: e.MessageBody, group: e.MessageGroupID,
		attributes: e.MessageAttributes,
	}
	s.queues[queue] = append(s.queues[queue], m)
	s.order = append(s.order, m.body)
	s.wake()
	stored := m.body
	if s.corrupt != nil && s.corrupt(m.body) {
		stored += "?"
	}
	return result{"MessageId": m.id, "MD5OfMessageBody": digest(stored)}, ""
}

func (s *service) receive(ctx context.Context, in request) result {
	timeout := s.visibility
	if in.VisibilityTimeout != nil {
		timeout = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	enough := time.NewTimer(time.Duration(in.WaitTimeSeconds) * time.Second)
	defer enough.Stop()
	for {
		s.mu.Lock()
		s.names = in.MessageAttributeNames
		messages, next := s.deliver(in.QueueURL, max(1, in.MaxNumberOfMessages), timeout)
		changed := s.changed
		s.mu.Unlock()
		if len(messages) > 0 {
			return result{"Messages": messages}
		}
		select {
		case <-changed:
		case <-time.After(next):
		case <-enough.C:
			return result{}
		case <-ctx.Done():
			return result{}
		}
	}
}

// deliver takes up to n messages, or returns when the next becomes visible.
func (s *service) deliver(queue string, n int, timeout time.Duration) (out []result, next time.Duration) {
	now, next := time.Now(), time.Hour
	locked := make(map[string]bool) // groups with a message in flight
	for _, m := range s.queues[queue] {
		if m.visible.After(now) {
			next = min(next, m.visible.Sub(now))
			locked[m.group] = true
		}
	}
	isFIFO := strings.HasSuffix(queue, ".fifo")
	for _, m := range s.queues[queue] {
		if len(out) == n || m.visible.After(now) || isFIFO && locked[m.group] {
			continue
		}
		s.receipts++
		m.receipt, m.visible = fmt.Sprint("receipt-", s.receipts), now.Add(timeout)
		m.received++
		out = append(out, result{
			"MessageId": m.id, "ReceiptHandle": m.receipt, "Body": m.body, "MD5OfBody": digest(m.body),
			"MessageAttributes": m.attributes,
			"Attributes": map[string]string{
				"ApproximateReceiveCount": fmt.Sprint(m.received), "MessageGroupId": m.group,
			},
		})
	}
	return out, next
}

func (s *service) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// put stores messages.
func (s *service) put(queue string, bodies ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range bodies {
		group, _, _ := strings.Cut(body, ":")
		s.send(queue, entry{MessageBody: body, MessageGroupID: group})
	}
}

// count returns the number of calls of an operation.
func (s *service) count(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[operation]
}

// underWay returns the number of calls under way, and most their maximum.
func (s *service) underWay(operation, queue string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy[operation+" "+queue]
}

func (s *service) most(operation, queue string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busiest[operation+" "+queue]
}

func (s *service) askedNames() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names
}

// stored returns the bodies of a queue's messages, or only of the visible ones.
func (s *service) stored(queue string) (all, visible []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.queues[queue] {
		all = append(all, m.body)
		if !m.visible.After(time.Now()) {
			visible = append(visible, m.body)
		}
	}
	return all, visible
}
