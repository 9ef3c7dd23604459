// Package scenario does what applications do with SQS, with version 1 of the AWS SDK for Go
// against a running server. The SDK checks the MD5 digests of bodies by itself.
//
// The server is found by AWS_ENDPOINT_URL, the keys and the region as the SDK finds them.
// With the versions in query.mod the SDK speaks the Query protocol instead of JSON:
//
//	go test -modfile=query.mod .
package scenario

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/awserr"
	"github.com/aws/aws-sdk-go/aws/session"
	"github.com/aws/aws-sdk-go/service/sqs"
	"github.com/aws/aws-sdk-go/service/sqs/sqsiface"
)

const body = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n"

// queue creates a queue that is deleted with its test.
type queue struct {
	sqsiface.SQSAPI
	t   *testing.T
	url *string
}

func newQueue(t *testing.T, suffix string, attributes map[string]*string) *queue {
	t.Helper()
	endpoint := os.Getenv("AWS_ENDPOINT_URL")
	if endpoint == "" {
		t.Skip("AWS_ENDPOINT_URL is not set")
	}
	s, err := session.NewSession(&aws.Config{Endpoint: &endpoint})
	if err != nil {
		t.Fatal(err)
	}
	q := &queue{SQSAPI: sqs.New(s), t: t}
	name := fmt.Sprintf("%s-%d%s", t.Name(), time.Now().UnixNano(), suffix)
	out, err := q.CreateQueue(&sqs.CreateQueueInput{
		QueueName: &name, Attributes: attributes, Tags: map[string]*string{"made-by": aws.String("SDK 1")},
	})
	if err != nil {
		t.Fatal(err)
	}
	q.url = out.QueueUrl
	t.Cleanup(func() {
		if _, err := q.DeleteQueue(&sqs.DeleteQueueInput{QueueUrl: q.url}); err != nil {
			t.Error(err)
		}
	})
	return q
}

func (q *queue) send(in sqs.SendMessageInput) *sqs.SendMessageOutput {
	q.t.Helper()
	in.QueueUrl = q.url
	out, err := q.SendMessage(&in)
	if err != nil {
		q.t.Fatal(err)
	}
	return out
}

func (q *queue) receive(seconds int64) []*sqs.Message {
	q.t.Helper()
	out, err := q.ReceiveMessage(&sqs.ReceiveMessageInput{
		QueueUrl: q.url, MaxNumberOfMessages: aws.Int64(10), WaitTimeSeconds: &seconds,
		AttributeNames: aws.StringSlice([]string{"All"}), MessageAttributeNames: aws.StringSlice([]string{"All"}),
	})
	if err != nil {
		q.t.Fatal(err)
	}
	return out.Messages
}

func (q *queue) attributes() map[string]*string {
	q.t.Helper()
	out, err := q.GetQueueAttributes(&sqs.GetQueueAttributesInput{
		QueueUrl: q.url, AttributeNames: aws.StringSlice([]string{"All"}),
	})
	if err != nil {
		q.t.Fatal(err)
	}
	return out.Attributes
}

func (q *queue) delete(m *sqs.Message) {
	q.t.Helper()
	if _, err := q.DeleteMessage(&sqs.DeleteMessageInput{QueueUrl: q.url, ReceiptHandle: m.ReceiptHandle}); err != nil {
		q.t.Fatal(err)
	}
}

func TestSendReceiveDelete(t *testing.T) {
	q := newQueue(t, "", nil)
	sent := q.send(sqs.SendMessageInput{MessageBody: aws.String(body),
		MessageAttributes: map[string]*sqs.MessageAttributeValue{
			"colour": {DataType: aws.String("String"), StringValue: aws.String("blå <&> \r\n")},
			"count":  {DataType: aws.String("Number"), StringValue: aws.String("-12.50")},
			"blob":   {DataType: aws.String("Binary.png"), BinaryValue: []byte{0, 0x89, 0xff}},
		}})
	messages := q.receive(5)
	if len(messages) != 1 || *messages[0].Body != body || *messages[0].MessageId != *sent.MessageId ||
		len(messages[0].MessageAttributes) != 3 {
		t.Fatalf("%v", messages)
	}
	if got := messages[0].MessageAttributes["blob"].BinaryValue; string(got) != "\x00\x89\xff" {
		t.Errorf("%x", got)
	}
	q.delete(messages[0])
	if left := q.attributes(); *left["ApproximateNumberOfMessagesNotVisible"] != "0" ||
		*left["ApproximateNumberOfMessages"] != "0" {
		t.Errorf("%v", left)
	}
}

func TestBatches(t *testing.T) {
	q := newQueue(t, "", nil)
	out, err := q.SendMessageBatch(&sqs.SendMessageBatchInput{QueueUrl: q.url,
		Entries: []*sqs.SendMessageBatchRequestEntry{
			{Id: aws.String("good"), MessageBody: aws.String(body)},
			{Id: aws.String("bad"), MessageBody: aws.String("\x01")},
		}})
	if err != nil || len(out.Successful) != 1 || len(out.Failed) != 1 ||
		*out.Failed[0].Code != sqs.ErrCodeInvalidMessageContents {
		t.Fatalf("%v, %v", out, err)
	}
	m := q.receive(5)[0]
	changed, err := q.ChangeMessageVisibilityBatch(&sqs.ChangeMessageVisibilityBatchInput{QueueUrl: q.url,
		Entries: []*sqs.ChangeMessageVisibilityBatchRequestEntry{
			{Id: aws.String("a"), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: aws.Int64(0)},
		}})
	if err != nil || len(changed.Successful) != 1 {
		t.Fatalf("%v, %v", changed, err)
	}
	m = q.receive(5)[0]
	deleted, err := q.DeleteMessageBatch(&sqs.DeleteMessageBatchInput{QueueUrl: q.url,
		Entries: []*sqs.DeleteMessageBatchRequestEntry{
			{Id: aws.String("a"), ReceiptHandle: m.ReceiptHandle},
			{Id: aws.String("b"), ReceiptHandle: aws.String("garbage")},
		}})
	if err != nil || len(deleted.Successful) != 1 || *deleted.Failed[0].Code != sqs.ErrCodeReceiptHandleIsInvalid {
		t.Fatalf("%v, %v", deleted, err)
	}
}

func TestVisibility(t *testing.T) {
	q := newQueue(t, "", map[string]*string{"VisibilityTimeout": aws.String("1")})
	q.send(sqs.SendMessageInput{MessageBody: aws.String("a")})
	m := q.receive(5)[0]
	if _, err := q.ChangeMessageVisibility(&sqs.ChangeMessageVisibilityInput{
		QueueUrl: q.url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: aws.Int64(60),
	}); err != nil {
		t.Fatal(err)
	}
	if again := q.receive(2); len(again) > 0 {
		t.Errorf("it returned although its timeout was extended")
	}
	q.delete(m)
}

func TestDeadLetters(t *testing.T) {
	dead := newQueue(t, "-dead", nil)
	q := newQueue(t, "", map[string]*string{
		"VisibilityTimeout": aws.String("0"),
		"RedrivePolicy": aws.String(fmt.Sprintf(`{"maxReceiveCount":"2","deadLetterTargetArn":%q}`,
			*dead.attributes()["QueueArn"])),
	})
	q.send(sqs.SendMessageInput{MessageBody: aws.String("poison")})
	for range 2 {
		if got := q.receive(5); len(got) != 1 {
			t.Fatalf("%v", got)
		}
	}
	if got := q.receive(0); len(got) > 0 {
		t.Errorf("%v", got)
	}
	got := dead.receive(5)
	if len(got) != 1 || *got[0].Body != "poison" || *got[0].Attributes["ApproximateReceiveCount"] != "3" {
		t.Errorf("%v", got)
	}
}

func TestFIFO(t *testing.T) {
	q := newQueue(t, ".fifo", map[string]*string{
		"FifoQueue": aws.String("true"), "ContentBasedDeduplication": aws.String("true"),
	})
	for i := range 5 {
		for range 2 { // the second is a duplicate
			q.send(sqs.SendMessageInput{MessageBody: aws.String(fmt.Sprint(i)), MessageGroupId: aws.String("g")})
		}
	}
	var order []string
	for len(order) < 5 {
		messages := q.receive(5)
		if len(messages) == 0 {
			t.Fatalf("only %v", order)
		}
		for _, m := range messages {
			order = append(order, *m.Body)
			q.delete(m)
		}
	}
	if got := strings.Join(order, " "); got != "0 1 2 3 4" {
		t.Errorf("the order is %s", got)
	}
	if more := q.receive(0); len(more) > 0 {
		t.Errorf("%v", more)
	}
}

func TestErrors(t *testing.T) {
	q := newQueue(t, "", nil)
	_, err := q.GetQueueUrl(&sqs.GetQueueUrlInput{QueueName: aws.String("missing")})
	var failure awserr.RequestFailure
	if !errors.As(err, &failure) || failure.Code() != sqs.ErrCodeQueueDoesNotExist || failure.StatusCode() != 400 {
		t.Errorf("%v", err)
	}
	_, err = q.DeleteMessage(&sqs.DeleteMessageInput{QueueUrl: q.url, ReceiptHandle: aws.String("garbage")})
	if !errors.As(err, &failure) || failure.Code() != sqs.ErrCodeReceiptHandleIsInvalid {
		t.Errorf("%v", err)
	}
}
