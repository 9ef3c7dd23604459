package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// The service of these tests has SQS's peculiarities, and the features that other services need.

type attributeValue struct {
	StringValue      *string  `max:"1M"`
	BinaryValue      []byte   `max:"1M"`
	StringListValues []string `query:"StringListValue" max:"1000,1M"`
	BinaryListValues [][]byte `query:"BinaryListValue" max:"1000,1M"`
	DataType         string   `max:"256"`
}

type sendInput struct {
	QueueUrl          string  `max:"2048"`
	MessageBody       *string `max:"1M"`
	DelaySeconds      *int32
	Priority          int64
	Urgent            *bool
	MessageAttributes map[string]attributeValue `query:"MessageAttribute" max:"1000,256"`
	Note              *attributeValue
}

type sendOutput struct {
	MessageId              string
	MD5OfMessageAttributes *string
	SequenceNumber         string `json:",omitempty"`
}

type sendBatchInput struct {
	QueueUrl string           `max:"2048"`
	Entries  []sendBatchEntry `query:"SendMessageBatchRequestEntry" max:"1000"`
}

type sendBatchEntry struct {
	Id                string `max:"80"`
	MessageBody       string `max:"1M"`
	DelaySeconds      *int
	MessageAttributes map[string]*attributeValue `query:"MessageAttribute" max:"1000,256"`
}

type createInput struct {
	QueueName  string            `max:"80"`
	Attributes map[string]string `query:"Attribute" max:"1000,256,8K"`
	Tags       map[string]string `json:"tags" query:"Tag,Tags" entry:"Key,Value" max:"1000,128,256"`
	Legacy     *string           `json:"-" query:"DefaultVisibilityTimeout" max:"256"`
	JSONOnly   *string           `query:"-" max:"256"`
}

type receiveInput struct {
	AttributeNames []string `query:"AttributeName" max:"1000,256"`
}

type receiveOutput struct {
	Messages []message `query:"Message" wrapper:"messages"`
}

type message struct {
	MessageId         string
	Body              string
	Attributes        map[string]string         `query:"Attribute"`
	MessageAttributes map[string]attributeValue `query:"MessageAttribute"`
	Padding           []byte
	Hidden            string `json:",omitempty" query:"-"`
}

type wrappedInput struct {
	Names []string          `wrap:"member" max:"1000,256"`
	Pairs map[string]string `wrap:"entry" entry:"key,value" max:"1000,256,256"`
	Tags  []tag             `wrap:"member" max:"1000"`
}

type tag struct {
	Key   string `max:"128"`
	Value string `max:"256"`
}

type wrappedOutput struct {
	Names []string          `wrap:"member" json:",always"`
	Pairs map[string]string `wrap:"entry" entry:"key,value"`
	Flat  []string          `json:"flat,always"`
	Count int
	Done  bool
}

type measureInput struct {
	Value  *float64
	Values []float64 `wrap:"member" max:"1000"`
	At     *time.Time
}

type measureOutput struct {
	Value  float64
	Values []float64 `wrap:"member"`
	At     time.Time
}

type nothing struct{}

func handle[In, Out any](context.Context, *protocol.Call, *In) (*Out, error) { return new(Out), nil }

func newService() *protocol.Service {
	s := protocol.NewService(protocol.Service{
		Name:           "sqs",
		Target:         "AmazonSQS",
		Versions:       []string{"2008-01-01", "2009-02-01", "2012-11-05"},
		Namespace:      "http://queue.amazonaws.com/doc/%s/",
		ErrorNamespace: "com.amazonaws.sqs",
		ErrorDetail:    true,
		TooLong: func(e *protocol.Excess) *protocol.Error {
			return &protocol.Error{
				Code: "TooLong", Status: 400, Message: fmt.Sprintf("%s: at most %d %s", e.Member, e.Max, e.Unit),
			}
		},
	})
	protocol.Register(s, "SendMessage", handle[sendInput, sendOutput])
	protocol.Register(s, "SendMessageBatch", handle[sendBatchInput, nothing])
	protocol.Register(s, "CreateQueue", handle[createInput, nothing], protocol.RootOnly)
	protocol.Register(s, "ReceiveMessage", handle[receiveInput, receiveOutput])
	protocol.Register(s, "Wrapped", handle[wrappedInput, wrappedOutput])
	protocol.Register(s, "Measure", handle[measureInput, measureOutput])
	protocol.Register(s, "DeleteQueue", handle[nothing, nothing])
	return s
}

// post returns a JSON request for an operation of the service.
func post(operation, body string) *http.Request {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "AmazonSQS."+operation)
	return r
}

// form returns a Query request.
func form(body string) *http.Request {
	r := httptest.NewRequest("POST", "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	return r
}

// decode processes a request up to its input.
func decode(s *protocol.Service, r *http.Request, body string) (*protocol.Request, any, *protocol.Error) {
	req, err := protocol.Recognise(r, []byte(body))
	if err != nil {
		return req, nil, refusal(err)
	}
	op, err := s.Lookup(req)
	if err != nil {
		return req, nil, refusal(err)
	}
	in, err := op.Decode(req)
	return req, in, refusal(err)
}

// refusal returns err as the *Error that a client gets, or nil. Any other type fails the test.
func refusal(err error) *protocol.Error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		panic(err)
	}
	return e
}

func decodeJSON(operation, body string) (any, *protocol.Error) {
	_, in, err := decode(newService(), post(operation, body), body)
	return in, err
}

func decodeQuery(operation, parameters string) (any, *protocol.Error) {
	body := "Action=" + operation + "&Version=2012-11-05&" + parameters
	_, in, err := decode(newService(), form(body), body)
	return in, err
}

// operation returns the operation of s called name.
func operation(t testing.TB, s *protocol.Service, name string) *protocol.Operation {
	t.Helper()
	op, err := s.Lookup(&protocol.Request{Kind: protocol.JSON, Target: "AmazonSQS", Operation: name})
	if err != nil {
		t.Fatal(err)
	}
	return op
}

func p[T any](v T) *T { return &v }
