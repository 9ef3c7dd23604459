package workload

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
)

// topicARN returns the ARN of a topic.
func topicARN(topic string) string { return "arn:aws:sns:" + region + ":" + account + ":" + topic }

// fromTopics is a policy that lets topics of the account send to a queue.
func fromTopics(queue string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},`+
		`"Action":"sqs:SendMessage","Resource":%q,"Condition":{"StringEquals":{"aws:SourceAccount":%q}}}]}`, ARN(queue), account)
}

// CreateTopic is part of Service. The queues get the messages as they are.
func (c *Client) CreateTopic(t history.Topic) error {
	form := url.Values{"Name": {t.Name}}
	if history.IsFIFO(t.Name) {
		form.Set("Attributes.entry.1.key", "FifoTopic")
		form.Set("Attributes.entry.1.value", "true")
	}
	if err := c.notify("CreateTopic", form, nil); err != nil {
		return err
	}
	for _, queue := range t.Queues {
		in := Object{"QueueUrl": c.URL(queue), "Attributes": map[string]string{"Policy": fromTopics(queue)}}
		if err := c.Call("SetQueueAttributes", in, nil); err != nil {
			return err
		}
		err := c.notify("Subscribe", url.Values{
			"TopicArn": {topicARN(t.Name)}, "Protocol": {"sqs"}, "Endpoint": {ARN(queue)},
			"Attributes.entry.1.key": {"RawMessageDelivery"}, "Attributes.entry.1.value": {"true"},
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// Publish is part of Service.
func (c *Client) Publish(topic string, letters []Letter) ([]Sent, error) {
	form := url.Values{"TopicArn": {topicARN(topic)}}
	if len(letters) == 1 {
		addLetter(form, "", topic, letters[0])
		var out struct {
			One success `xml:"PublishResult"`
		}
		if err := c.notify("Publish", form, &out); err != nil {
			return nil, err
		}
		return []Sent{{ID: out.One.MessageId, Sequence: out.One.SequenceNumber}}, nil
	}
	for i, l := range letters {
		prefix := fmt.Sprintf("PublishBatchRequestEntries.member.%d.", i+1)
		form.Set(prefix+"Id", strconv.Itoa(i))
		addLetter(form, prefix, topic, l)
	}
	var out struct {
		Successful []success `xml:"PublishBatchResult>Successful>member"`
		Failed     []failure `xml:"PublishBatchResult>Failed>member"`
	}
	if err := c.notify("PublishBatch", form, &out); err != nil {
		return nil, err
	}
	b := batch(out)
	return b.sent(len(letters)), nil
}

func addLetter(form url.Values, prefix, topic string, l Letter) {
	form.Set(prefix+"Message", Body(l.Name))
	if history.IsFIFO(topic) {
		form.Set(prefix+"MessageGroupId", l.Group)
		form.Set(prefix+"MessageDeduplicationId", l.Name)
	}
}

// notify makes a call of SNS, in its Query protocol.
func (c *Client) notify(operation string, form url.Values, out any) error {
	form.Set("Action", operation)
	form.Set("Version", "2010-03-31")
	body := []byte(form.Encode())
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.Endpoint+"/", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	Root.Sign(r, "sns", body, time.Now())
	text, err := c.answer(r)
	if err != nil || out == nil {
		return err
	}
	return xml.Unmarshal(text, out)
}
