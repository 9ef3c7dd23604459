package upgrade

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// Fill makes queues, messages, users, topics and all other resources of a server, as far as its version has them.
func Fill(ctx context.Context, c *Client) (*Content, error) {
	f := &filler{Client: c, ctx: ctx, content: &Content{RootID: c.ID, Secret: c.Secret, Counted: true}}
	for _, step := range []func() error{f.standard, f.deadLetters, f.fifo, f.moved} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for _, step := range []func() error{
		f.users, f.topics, f.alarms, f.composites, f.trails, f.insights, f.redrives, f.logins, f.limits, f.deleted,
		f.purged, f.shelved, f.mutes,
	} {
		if err := step(); err != nil && !isUnknown(err) {
			return nil, err
		}
	}
	return f.content, nil
}

// isUnknown reports whether the server does not have an operation yet.
func isUnknown(err error) bool {
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		return false
	}
	for _, word := range []string{
		"InvalidAction", "UnknownOperation", "UnsupportedOperation", "UnrecognizedClient", "NoSuchVersion",
		"not valid for this endpoint", "NotFoundException", "scoped to correct service",
	} {
		if strings.Contains(refusal.Body, word) {
			return true
		}
	}
	return refusal.Status == http.StatusNotFound
}

type filler struct {
	*Client
	ctx     context.Context
	content *Content
}

func (f *filler) sqs(action string, in map[string]any, out any) error {
	return f.SQS(f.ctx, action, in, out)
}

// create makes a queue.
func (f *filler) create(name string, attributes map[string]string) (*Queue, error) {
	q := &Queue{Name: name, Attributes: attributes}
	var made struct{ QueueUrl string }
	if err := f.sqs("CreateQueue", map[string]any{"QueueName": name, "Attributes": attributes}, &made); err != nil {
		return nil, err
	}
	q.URL = made.QueueUrl
	f.content.Queues = append(f.content.Queues, q)
	return q, nil
}

// send sends a message, with more members of the input.
func (f *filler) send(q *Queue, m *Message, more map[string]any) (*Message, error) {
	in := map[string]any{"QueueUrl": q.URL, "MessageBody": m.Body}
	if m.Group != "" {
		in["MessageGroupId"], in["MessageDeduplicationId"] = m.Group, m.Dedup
	}
	if m.Attribute != "" {
		in["MessageAttributes"] = map[string]any{
			"kind": map[string]string{"DataType": "String", "StringValue": m.Attribute},
		}
	}
	for key, value := range more {
		in[key] = value
	}
	var sent struct{ MessageId string }
	err := f.sqs("SendMessage", in, &sent)
	m.ID = sent.MessageId
	return m, err
}

// received is a message as it is received.
type received struct {
	MessageId, Body, ReceiptHandle string
	Attributes                     map[string]string
	MessageAttributes              map[string]struct{ StringValue string }
}

// receive receives at most one message for a time.
func (f *filler) receive(q *Queue, seconds int) (*received, error) {
	var got struct{ Messages []*received }
	err := f.sqs("ReceiveMessage", map[string]any{
		"QueueUrl": q.URL, "MaxNumberOfMessages": 1, "VisibilityTimeout": seconds, "WaitTimeSeconds": 1,
	}, &got)
	if err == nil && len(got.Messages) != 1 {
		err = fmt.Errorf("%s gave %d messages", q.Name, len(got.Messages))
	}
	if err != nil {
		return nil, err
	}
	return got.Messages[0], nil
}

// hold receives a message and leaves it in flight for as long as possible.
func (f *filler) hold(q *Queue) error {
	got, err := f.receive(q, 43_200)
	if err != nil {
		return err
	}
	for i, m := range q.Visible {
		if m.ID == got.MessageId {
			m.Handle = got.ReceiptHandle
			q.Visible = append(q.Visible[:i:i], q.Visible[i+1:]...)
			q.InFlight = append(q.InFlight, m)
			return nil
		}
	}
	return fmt.Errorf("%s gave a message that was not sent: %s", q.Name, got.MessageId)
}

const longest = "1209600" // seconds that a message can be kept

func (f *filler) standard() error {
	q, err := f.create("jobs", map[string]string{
		"MessageRetentionPeriod": longest, "VisibilityTimeout": "77", "ReceiveMessageWaitTimeSeconds": "0",
	})
	if err != nil {
		return err
	}
	q.Tags = map[string]string{"team": "red", "über": "ß 1"}
	if err := f.sqs("TagQueue", map[string]any{"QueueUrl": q.URL, "Tags": q.Tags}, nil); err != nil {
		return err
	}
	for i := range 25 {
		m, err := f.send(
			q,
			&Message{Body: fmt.Sprint("job ", i, " ", strings.Repeat("x", i*20)), Attribute: fmt.Sprint("kind ", i%3)},
			nil,
		)
		if err != nil {
			return err
		}
		q.Visible = append(q.Visible, m)
	}
	for range 3 {
		if err := f.hold(q); err != nil {
			return err
		}
	}
	got, err := f.receive(q, 100) // and deletes one
	if err != nil {
		return err
	}
	if err := f.sqs(
		"DeleteMessage", map[string]any{"QueueUrl": q.URL, "ReceiptHandle": got.ReceiptHandle}, nil,
	); err != nil {
		return err
	}
	for i, m := range q.Visible {
		if m.ID == got.MessageId {
			q.Visible = append(q.Visible[:i:i], q.Visible[i+1:]...)
			break
		}
	}
	late, err := f.send(q, &Message{Body: "late"}, map[string]any{"DelaySeconds": 900})
	q.Delayed = append(q.Delayed, late)
	// Each job is about 20 bytes longer than the previous one. The median is the size of the thirteenth.
	f.content.Median = &Range{Least: 11 * 20, Most: 16 * 20}
	return err
}

// deadLetters has a message that was received too often.
func (f *filler) deadLetters() error {
	dead, err := f.create("dead", map[string]string{"MessageRetentionPeriod": longest})
	if err != nil {
		return err
	}
	q, err := f.create("risky", map[string]string{
		"MessageRetentionPeriod": longest, "RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:dead","maxReceiveCount":1}`,
	})
	if err != nil {
		return err
	}
	m, err := f.send(q, &Message{Body: "poison"}, nil)
	if err != nil {
		return err
	}
	if _, err := f.receive(q, 0); err != nil {
		return err
	}
	if err := f.sqs("ReceiveMessage", map[string]any{"QueueUrl": q.URL}, nil); err != nil {
		return err
	}
	dead.Visible = []*Message{m}
	fine, err := f.send(q, &Message{Body: "fine"}, nil)
	q.Visible = []*Message{fine}
	return err
}

func (f *filler) fifo() error {
	q, err := f.create("orders.fifo", map[string]string{"FifoQueue": "true", "MessageRetentionPeriod": longest})
	if err != nil {
		return err
	}
	for i := range 12 {
		m, err := f.send(
			q,
			&Message{Body: fmt.Sprint("order ", i), Group: []string{"a", "b", "c"}[i%3], Dedup: fmt.Sprint("id-", i)},
			nil,
		)
		if err != nil {
			return err
		}
		q.Visible = append(q.Visible, m)
	}
	return f.hold(q) // its group waits
}

// moved has messages that a move task has brought back: such tasks are records of their own.
func (f *filler) moved() error {
	dead, err := f.create("moved-dead", map[string]string{"MessageRetentionPeriod": longest})
	if err != nil {
		return err
	}
	q, err := f.create("moved", map[string]string{
		"MessageRetentionPeriod": longest, "RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:moved-dead","maxReceiveCount":1}`,
	})
	if err != nil {
		return err
	}
	if _, err := f.send(q, &Message{Body: "again"}, nil); err != nil {
		return err
	}
	if _, err := f.receive(q, 0); err != nil {
		return err
	}
	if err := f.sqs("ReceiveMessage", map[string]any{"QueueUrl": q.URL}, nil); err != nil {
		return err
	}
	task := map[string]any{"SourceArn": "arn:aws:sqs:us-east-1:000000000000:moved-dead"}
	if err := f.sqs("StartMessageMoveTask", task, nil); err != nil && !isUnknown(err) {
		return err
	}
	// The task sends the message again, so only its body is known. A task that has not moved it yet is on the disk.
	where := &received{}
	for range 20 {
		var got struct{ Messages []*received }
		if err := f.sqs("ReceiveMessage", map[string]any{
			"QueueUrl": q.URL, "WaitTimeSeconds": 1, "VisibilityTimeout": 0, "AttributeNames": []string{"All"},
		}, &got); err != nil {
			return err
		}
		if len(got.Messages) == 1 {
			where = got.Messages[0]
			break
		}
	}
	if where.Body != "again" {
		return errors.New("the message was not moved back")
	}
	// It was received once more, so the next check removes it.
	dead.Visible = []*Message{{ID: where.MessageId, Body: "again"}}
	return f.sqs("ReceiveMessage", map[string]any{"QueueUrl": q.URL}, nil)
}

func (f *filler) users() error {
	if err := f.Query(f.ctx, "iam", "CreateUser", nil, "UserName", "ann"); err != nil {
		return err
	}
	const document = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sqs:*","Resource":"arn:aws:sqs:*:*:jobs"}}`
	if err := f.Query(
		f.ctx, "iam", "PutUserPolicy", nil, "UserName", "ann", "PolicyName", "jobs", "PolicyDocument", document,
	); err != nil {
		return err
	}
	var key struct {
		ID     string `xml:"CreateAccessKeyResult>AccessKey>AccessKeyId"`
		Secret string `xml:"CreateAccessKeyResult>AccessKey>SecretAccessKey"`
	}
	err := f.Query(f.ctx, "iam", "CreateAccessKey", &key, "UserName", "ann")
	f.content.Users = append(f.content.Users, User{"ann", key.ID, key.Secret})
	return err
}

func (f *filler) topics() error {
	var made struct {
		ARN string `xml:"CreateTopicResult>TopicArn"`
	}
	if err := f.Query(f.ctx, "sns", "CreateTopic", &made, "Name", "news"); err != nil {
		return err
	}
	if made.ARN == "" {
		return nil
	}
	q, err := f.create("news", map[string]string{
		"MessageRetentionPeriod": longest,
		"Policy":                 `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},"Action":"sqs:SendMessage","Resource":"*"}]}`,
	})
	if err != nil {
		return err
	}
	if err := f.Query(f.ctx, "sns", "Subscribe", nil,
		"TopicArn", made.ARN, "Protocol", "sqs", "Endpoint", "arn:aws:sqs:us-east-1:000000000000:news",
		"Attributes.entry.1.key", "RawMessageDelivery", "Attributes.entry.1.value", "true"); err != nil {
		return err
	}
	if err := f.Query(f.ctx, "sns", "Publish", nil, "TopicArn", made.ARN, "Message", "first news"); err != nil {
		return err
	}
	got, err := f.receive(q, 0)
	if err != nil {
		return err
	}
	q.Visible = []*Message{{ID: got.MessageId, Body: "first news"}}
	f.content.Topics = append(f.content.Topics, Topic{made.ARN, "news"})
	return nil
}

func (f *filler) alarms() error {
	if err := f.CloudWatch(f.ctx, "PutMetricAlarm", map[string]any{
		"AlarmName": "many jobs", "Namespace": "AWS/SQS", "MetricName": "ApproximateNumberOfMessagesVisible",
		"Statistic": "Maximum", "Period": 60, "EvaluationPeriods": 1, "Threshold": 1000,
		"ComparisonOperator": "GreaterThanThreshold",
		"Dimensions":         []map[string]string{{"Name": "QueueName", "Value": "jobs"}},
	}, nil); err != nil {
		return err
	}
	f.content.Alarms = append(f.content.Alarms, "many jobs")
	return nil
}

// composites makes an alarm of another one.
func (f *filler) composites() error {
	const name = "anything"
	in := map[string]any{"AlarmName": name, "AlarmRule": `ALARM("many jobs")`}
	if err := f.CloudWatch(f.ctx, "PutCompositeAlarm", in, nil); err != nil {
		return err
	}
	f.content.Composites = append(f.content.Composites, name)
	return nil
}
