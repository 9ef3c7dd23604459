package sqsbuffer

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// A recorder keeps the last request and answers none.
type recorder struct {
	header http.Header
	length int64
	body   []byte
}

func (r *recorder) Do(request *http.Request) (*http.Response, error) {
	r.header, r.length = request.Header, request.ContentLength
	var err error
	if r.body, err = io.ReadAll(request.Body); err == nil {
		err = errors.New("no answer")
	}
	return nil, err
}

// sent sends a batch, and returns the headers that describe it, and its body as JSON.
func sent(t testing.TB, batch *sqs.SendMessageBatchInput, options ...func(*sqs.Options)) (http.Header, any) {
	t.Helper()
	var r recorder
	client := sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String("http://localhost"), HTTPClient: &r, Retryer: aws.NopRetryer{},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "A", SecretAccessKey: "S"}, nil
		}),
	})
	if _, err := client.SendMessageBatch(t.Context(), batch, options...); !strings.Contains(err.Error(), "no answer") {
		t.Fatal(err)
	}
	var body any
	if err := json.Unmarshal(r.body, &body); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	if r.length != int64(len(r.body)) {
		t.Errorf("the length of the body is %d, the request says %d", len(r.body), r.length)
	}
	for _, name := range []string{"Amz-Sdk-Invocation-Id", "Authorization", "X-Amz-Date"} {
		delete(r.header, name)
	}
	return r.header, body
}

// A batch is the same request that the SDK would send.
func TestRequestIsTheSDKs(t *testing.T) {
	text, queue := aws.String, aws.String("http://localhost/0/q.fifo")
	attributes := map[string]types.MessageAttributeValue{
		"plain":  {DataType: text("String"), StringValue: text("a \"quoted\"\ntext")},
		"binary": {DataType: text("Binary.x"), BinaryValue: []byte{0, 255, 34}},
		"empty":  {DataType: text("Binary"), BinaryValue: []byte{}},
		"k\"ey":  {DataType: text("Number"), StringValue: text("1")},
	}
	lists := map[string]types.MessageAttributeValue{
		"list": {DataType: text("String"), StringListValues: []string{"a"}, BinaryListValues: [][]byte{{1}}},
	}
	trace := map[string]types.MessageSystemAttributeValue{
		"AWSTraceHeader": {DataType: text("String"), StringValue: text("Root=1")},
	}
	batches := map[string][]types.SendMessageBatchRequestEntry{
		"one": {{Id: text("0"), MessageBody: text("body")}},
		"all members": {
			{Id: text("0"), MessageBody: text(""), MessageAttributes: attributes, MessageSystemAttributes: trace},
			{
				Id: text("1"), MessageBody: text(`{"a":"\\"}`), DelaySeconds: 900, MessageGroupId: text("gr\"oup"),
				MessageDeduplicationId: text("id"), MessageAttributes: map[string]types.MessageAttributeValue{},
			},
		},
		"lists": {{Id: text("0"), MessageBody: text("body"), MessageAttributes: lists}},
	}
	for name, entries := range batches {
		batch := &sqs.SendMessageBatchInput{QueueUrl: queue, Entries: entries}
		wantHeader, want := sent(t, batch)
		gotHeader, got := sent(t, batch, func(o *sqs.Options) { o.Protocol = encoded(o.Protocol) })
		if !reflect.DeepEqual(gotHeader, wantHeader) {
			t.Errorf("%s: the headers are\n%v, not\n%v", name, gotHeader, wantHeader)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the body is\n%v, not\n%v", name, got, want)
		}
	}
}

// A body fits the space that was reserved for it, so it is written without a copy.
func TestRequestIsWrittenOnce(t *testing.T) {
	body := aws.String(strings.Repeat(`{"name":"value","path":"a\\b"}`, 1000))
	batch := &sqs.SendMessageBatchInput{QueueUrl: aws.String("http://localhost/0/q")}
	for i := range 10 {
		batch.Entries = append(batch.Entries, types.SendMessageBatchRequestEntry{Id: entryID(i), MessageBody: body})
	}
	space := batchSpace(batch)
	written := appendBatch(make([]byte, 0, space), batch)
	if len(written) > space || len(written) < space-1000 {
		t.Errorf("%d bytes were reserved for %d", space, len(written))
	}
}

// FuzzText compares appended strings with those of encoding/json.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"", "plain", "12345678", "1234567\"", "\\2345678", "1234567\x1f", "12345678\n", "\x7f1234567", "1234567é",
		"日本語のテキスト", "\xff1234567", "ab\xe6\x97", "\u2028\u2029", "<&>", "\x00\b\f\r\t",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		reference, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		written := appendText([]byte("{"), s)[1:]
		if err := errors.Join(json.Unmarshal(reference, &want), json.Unmarshal(written, &got)); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%q becomes %q, want %q", s, got, want)
		}
	})
}
