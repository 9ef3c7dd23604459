package sns_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// queue creates a queue to which a topic of that name may send, and returns its URL.
func (r *rig) queue(a *apitest.Actor, name, topic string, attributes map[string]string) string {
	r.Helper()
	all := map[string]string{"Policy": fmt.Sprintf(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},`+
		`"Action":"sqs:SendMessage","Resource":"*","Condition":{"ArnEquals":{"aws:SourceArn":%q},"StringEquals":{"aws:SourceAccount":%q}}}}`, topicARN(topic), account)}
	for k, v := range attributes {
		all[k] = v
	}
	out, err := a.SQS.CreateQueue(r.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: all})
	return *apitest.Must(r.T, out, err).QueueUrl
}

// topic creates a topic and returns its ARN.
func (r *rig) topic(a *apitest.Actor, name string, attributes map[string]string) string {
	r.Helper()
	out, err := a.SNS.CreateTopic(r.Context(), &sns.CreateTopicInput{Name: &name, Attributes: attributes})
	return *apitest.Must(r.T, out, err).TopicArn
}

// subscribe subscribes a queue and returns the subscription's ARN.
func (r *rig) subscribe(a *apitest.Actor, topic, queue string, attributes map[string]string) string {
	r.Helper()
	out, err := a.SNS.Subscribe(r.Context(), &sns.SubscribeInput{
		TopicArn: &topic, Protocol: aws.String("sqs"), Endpoint: &queue, Attributes: attributes,
		ReturnSubscriptionArn: true,
	})
	return *apitest.Must(r.T, out, err).SubscriptionArn
}

// receive receives and deletes the messages in a queue, and returns them.
func (r *rig) receive(a *apitest.Actor, url string) (all []sqstypes.Message) {
	r.Helper()
	for {
		out, err := a.SQS.ReceiveMessage(r.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &url, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
			MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"All"},
		})
		apitest.Must(r.T, out, err)
		if len(out.Messages) == 0 {
			return all
		}
		for _, m := range out.Messages {
			all = append(all, m)
			_, err := a.SQS.DeleteMessage(r.Context(), &sqs.DeleteMessageInput{
				QueueUrl: &url, ReceiptHandle: m.ReceiptHandle,
			})
			apitest.Must(r.T, 0, err)
		}
	}
}

// A published message arrives in the subscribed queues: in its envelope, or unchanged.
func TestPublish(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	wrapped, raw := r.queue(r.root, "wrapped", "news", nil), r.queue(r.root, "raw", "news", nil)
	sub := r.subscribe(r.root, topic, queueARN("wrapped"), nil)
	r.subscribe(r.root, topic, queueARN("raw"), map[string]string{"RawMessageDelivery": "true"})
	out, err := r.root.SNS.Publish(t.Context(), &sns.PublishInput{
		TopicArn: &topic, Message: aws.String("hello"), Subject: aws.String("greeting"),
		MessageAttributes: map[string]snstypes.MessageAttributeValue{
			"color": {DataType: aws.String("String"), StringValue: aws.String("red")},
			"data":  {DataType: aws.String("Binary"), BinaryValue: []byte{1, 2}},
		},
	})
	apitest.Must(t, out, err)
	got := r.receive(r.root, wrapped)
	if len(got) != 1 {
		t.Fatalf("%d messages in the queue", len(got))
	}
	var e struct {
		Type, MessageId, TopicArn, Subject, Message, Timestamp      string
		SignatureVersion, Signature, SigningCertURL, UnsubscribeURL string

		MessageAttributes map[string]struct{ Type, Value string }
	}
	if err := json.Unmarshal([]byte(*got[0].Body), &e); err != nil {
		t.Fatal(err)
	}
	switch {
	case e.Type != "Notification" || e.MessageId != *out.MessageId || e.TopicArn != topic || e.Subject != "greeting" ||
		e.Message != "hello":
		t.Errorf("%+v", e)
	case e.MessageAttributes["color"].Value != "red" || e.MessageAttributes["data"].Value != "AQI=" ||
		e.MessageAttributes["data"].Type != "Binary":
		t.Errorf("%+v", e.MessageAttributes)
	case e.SignatureVersion != "1" || e.Signature == "" || e.SigningCertURL == "":
		t.Errorf("%+v", e)
	case e.UnsubscribeURL != r.server.Endpoint()+"/?Action=Unsubscribe&SubscriptionArn="+sub:
		t.Errorf("%s", e.UnsubscribeURL)
	case len(got[0].MessageAttributes) > 0:
		t.Errorf("the envelope has attributes: %v", got[0].MessageAttributes)
	}
	got = r.receive(r.root, raw)
	if len(got) != 1 || *got[0].Body != "hello" || *got[0].MessageAttributes["color"].StringValue != "red" ||
		string(got[0].MessageAttributes["data"].BinaryValue) != "\x01\x02" {
		t.Errorf("raw: %+v", got)
	}
}

// A FIFO topic keeps order and drops duplicates on the way to its FIFO queues.
func TestPublishFIFO(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news.fifo", map[string]string{"FifoTopic": "true", "ContentBasedDeduplication": "true"})
	fifo := r.queue(r.root, "q.fifo", "news.fifo", map[string]string{"FifoQueue": "true"})
	standard := r.queue(r.root, "q", "news.fifo", nil)
	r.subscribe(r.root, topic, queueARN("q.fifo"), map[string]string{"RawMessageDelivery": "true"})
	r.subscribe(r.root, topic, queueARN("q"), nil)
	last := ""
	for i, body := range []string{"a", "b", "a", "c"} {
		out, err := r.root.SNS.Publish(t.Context(), &sns.PublishInput{
			TopicArn: &topic, Message: &body, MessageGroupId: aws.String("g"),
		})
		apitest.Must(t, out, err)
		if len(*out.SequenceNumber) != 20 || i != 2 && *out.SequenceNumber <= last {
			t.Errorf("%s after %s", *out.SequenceNumber, last)
		}
		last = max(last, *out.SequenceNumber)
	}
	var bodies []string
	for _, m := range r.receive(r.root, fifo) {
		bodies = append(bodies, *m.Body+m.Attributes["MessageGroupId"])
	}
	apitest.Equal(t, bodies, []string{"ag", "bg", "cg"})
	got := r.receive(r.root, standard)
	if len(got) != 3 {
		t.Fatalf("%d messages in the standard queue", len(got))
	}
	for _, m := range got {
		if group, ok := m.Attributes["MessageGroupId"]; ok {
			t.Errorf("the copy in a standard queue has the group %s", group)
		}
		var e map[string]string
		if err := json.Unmarshal([]byte(*m.Body), &e); err != nil || len(e["SequenceNumber"]) != 20 ||
			e["SequenceNumber"] == "00000000000000000000" || e["Signature"] != "" {
			t.Errorf("%v: %s", err, *m.Body)
		}
	}
}
