// Package scenario does what applications do with SQS and SNS, with the Go Cloud Development Kit against a running
// server: its topics and subscriptions batch what they send, receive and acknowledge.
//
// The server is found by AWS_ENDPOINT_URL, the keys and the region as the SDK finds them.
package scenario

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"gocloud.dev/pubsub"
	"gocloud.dev/pubsub/awssnssqs"
)

const body = "naïve ☃ 𝄞 <&\"'>\r\nsecond line\rthird\tend \n"

func newConfig(t *testing.T) aws.Config {
	t.Helper()
	if os.Getenv("AWS_ENDPOINT_URL") == "" {
		t.Skip("AWS_ENDPOINT_URL is not set")
	}
	c, err := config.LoadDefaultConfig(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// queue creates a queue that is deleted with its test.
type queue struct {
	*sqs.Client
	url, arn string
	sends    *pubsub.Topic
	receives *pubsub.Subscription
}

func newQueue(t *testing.T, suffix string, attributes map[string]string) *queue {
	t.Helper()
	q := &queue{Client: sqs.NewFromConfig(newConfig(t))}
	name := fmt.Sprintf("%s-%d%s", t.Name(), time.Now().UnixNano(), suffix)
	out, err := q.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		t.Fatal(err)
	}
	q.url = *out.QueueUrl
	known, err := q.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &q.url, AttributeNames: []types.QueueAttributeName{"QueueArn"},
	})
	if err != nil {
		t.Fatal(err)
	}
	q.arn = known.Attributes["QueueArn"]
	q.sends = awssnssqs.OpenSQSTopic(t.Context(), q.Client, q.url, nil)
	q.receives = awssnssqs.OpenSubscription(t.Context(), q.Client, q.url, &awssnssqs.SubscriptionOptions{
		WaitTime: time.Second,
	})
	t.Cleanup(func() {
		ctx := context.Background()
		for _, err := range []error{q.sends.Shutdown(ctx), q.receives.Shutdown(ctx)} {
			if err != nil {
				t.Error(err)
			}
		}
		if _, err := q.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &q.url}); err != nil {
			t.Error(err)
		}
	})
	return q
}

func send(t *testing.T, to *pubsub.Topic, m *pubsub.Message) {
	t.Helper()
	if err := to.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, from *pubsub.Subscription) *pubsub.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m, err := from.Receive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// empty waits until the queue has no messages, in flight or not: acknowledgements are sent a moment later.
func (q *queue) empty(t *testing.T) {
	t.Helper()
	for range 50 {
		out, err := q.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
			QueueUrl: &q.url, AttributeNames: []types.QueueAttributeName{"All"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if out.Attributes["ApproximateNumberOfMessages"] == "0" &&
			out.Attributes["ApproximateNumberOfMessagesNotVisible"] == "0" {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Error("messages are left")
}

func TestSendReceiveAcknowledge(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "", nil)
	for _, want := range []*pubsub.Message{
		{Body: []byte(body), Metadata: map[string]string{"colour": "blå <&>", "with space/ünd": "1"}},
		{Body: []byte{0, 0x89, 0xff}}, // which is sent as Base64
	} {
		send(t, q.sends, want)
		got := receive(t, q.receives)
		if !bytes.Equal(got.Body, want.Body) || !maps.Equal(got.Metadata, want.Metadata) {
			t.Errorf("%q %v, want %q %v", got.Body, got.Metadata, want.Body, want.Metadata)
		}
		got.Ack()
	}
	q.empty(t)
}

func TestMany(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "", nil)
	const n = 200
	sent := make(chan error, n)
	for i := range n {
		go func() { sent <- q.sends.Send(t.Context(), &pubsub.Message{Body: fmt.Append(nil, i)}) }()
	}
	got := make(map[string]bool)
	for range n {
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
	}
	for len(got) < n {
		m := receive(t, q.receives)
		got[string(m.Body)] = true
		m.Ack()
	}
	q.empty(t)
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	dead := newQueue(t, "-dead", nil)
	q := newQueue(t, "", map[string]string{
		"RedrivePolicy": fmt.Sprintf(`{"maxReceiveCount":"2","deadLetterTargetArn":%q}`, dead.arn),
	})
	send(t, q.sends, &pubsub.Message{Body: []byte("poison"), Metadata: map[string]string{"k": "v"}})
	for range 2 {
		receive(t, q.receives).Nack()
	}
	go func() { // which moves it
		if m, err := q.receives.Receive(t.Context()); err == nil {
			t.Errorf("it returned: %s", m.Body)
		}
	}()
	m := receive(t, dead.receives)
	if string(m.Body) != "poison" || m.Metadata["k"] != "v" {
		t.Errorf("%s %v", m.Body, m.Metadata)
	}
	m.Ack()
}

// A consumer that works on a message for longer than its visibility timeout extends it through the SDK's types.
func TestVisibility(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "", map[string]string{"VisibilityTimeout": "1"})
	send(t, q.sends, &pubsub.Message{Body: []byte("a")})
	m := receive(t, q.receives)
	var raw types.Message
	if !m.As(&raw) {
		t.Fatal("the SDK's message is missing")
	}
	if _, err := q.ChangeMessageVisibility(t.Context(), &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &q.url, ReceiptHandle: raw.ReceiptHandle, VisibilityTimeout: 60,
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if again, err := q.receives.Receive(ctx); err == nil {
		t.Errorf("%s returned", again.Body)
	}
	m.Ack()
	q.empty(t)
}

func TestFIFO(t *testing.T) {
	t.Parallel()
	q := newQueue(t, ".fifo", map[string]string{"FifoQueue": "true"})
	for i := range 5 {
		for range 2 { // the second is a duplicate
			send(t, q.sends, &pubsub.Message{Body: fmt.Append(nil, i), Metadata: map[string]string{
				awssnssqs.MetadataKeyMessageGroupID: "g", awssnssqs.MetadataKeyDeduplicationID: fmt.Sprint(i),
			}})
		}
	}
	var order []string
	for range 5 {
		m := receive(t, q.receives)
		order = append(order, string(m.Body))
		m.Ack()
	}
	if !slices.IsSorted(order) || len(slices.Compact(order)) != 5 {
		t.Errorf("the order is %s", strings.Join(order, " "))
	}
	q.empty(t)
}

// A topic of SNS has a queue, whose subscription takes the message out of SNS's envelope.
func TestTopic(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "", nil)
	client := sns.NewFromConfig(newConfig(t))
	topic, err := client.CreateTopic(t.Context(), &sns.CreateTopicInput{
		Name: aws.String(fmt.Sprintf("topic-%d", time.Now().UnixNano())),
	})
	if err != nil {
		t.Fatal(err)
	}
	policy := fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":%q}]}`, q.arn)
	if _, err := q.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: &q.url, Attributes: map[string]string{"Policy": policy},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: &q.arn,
	}); err != nil {
		t.Fatal(err)
	}
	publishes := awssnssqs.OpenSNSTopic(t.Context(), client, *topic.TopicArn, nil)
	send(t, publishes, &pubsub.Message{Body: []byte(body), Metadata: map[string]string{"k": "v"}})
	m := receive(t, q.receives)
	if string(m.Body) != body || m.Metadata["k"] != "v" {
		t.Errorf("%q %v", m.Body, m.Metadata)
	}
	m.Ack()
	q.empty(t)
	if err := publishes.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := client.DeleteTopic(t.Context(), &sns.DeleteTopicInput{TopicArn: topic.TopicArn}); err != nil {
		t.Error(err)
	}
}
