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

	"github.com/sluicemq/sluice/internal/aws/signature"
	"github.com/sluicemq/sluice/internal/proof/history"
)

// TopicARN returns the ARN of a topic.
func TopicARN(topic string) string { return "arn:aws:sns:" + region + ":" + account + ":" + topic }

// fromTopics is a policy that lets topics of the account send to a queue.
func fromTopics(queue string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"sns.amazonaws.com"},`+
		`"Action":"sqs:SendMessage","Resource":%q,"Condition":{"StringEquals":{"aws:SourceAccount":%q}}}]}`, ARN(queue), account)
}

// CreateTopic is part of Service. The queues get the messages unchanged.
func (c *Client) CreateTopic(t history.Topic) error {
	form := url.Values{"Name": {t.Name}}
	if history.IsFIFO(t.Name) {
		form.Set("Attributes.entry.1.key", "FifoTopic")
		form.Set("Attributes.entry.1.value", "true")
	}
	if err := c.Notify("CreateTopic", form, nil); err != nil {
		return err
	}
	for _, queue := range t.Queues {
		if err := c.Admit(queue); err != nil {
			return err
		}
		if err := c.Subscribe(t.Name, queue, true); err != nil {
			return err
		}
	}
	return nil
}

// Admit lets topics of the account send to a queue.
func (c *Client) Admit(queue string) error {
	return c.Call(
		"SetQueueAttributes",
		Object{"QueueUrl": c.URL(queue), "Attributes": map[string]string{"Policy": fromTopics(queue)}}, nil,
	)
}

// Subscribe subscribes a queue to a topic, with raw messages or envelopes.
func (c *Client) Subscribe(topic, queue string, raw bool) error {
	return c.Notify("Subscribe", url.Values{
		"TopicArn": {TopicARN(topic)}, "Protocol": {"sqs"}, "Endpoint": {ARN(queue)},
		"Attributes.entry.1.key": {"RawMessageDelivery"}, "Attributes.entry.1.value": {strconv.FormatBool(raw)},
	}, nil)
}

// Subscribed returns how many queues get the messages of a topic, as far as the node knows.
func (c *Client) Subscribed(topic string) (int, error) {
	var out struct {
		ARNs []string `xml:"ListSubscriptionsByTopicResult>Subscriptions>member>SubscriptionArn"`
	}
	err := c.Notify("ListSubscriptionsByTopic", url.Values{"TopicArn": {TopicARN(topic)}}, &out)
	return len(out.ARNs), err
}

// Publish is part of Service.
func (c *Client) Publish(topic string, letters []Letter) ([]Sent, error) {
	form := url.Values{"TopicArn": {TopicARN(topic)}}
	if len(letters) == 1 {
		addLetter(form, "", topic, letters[0])
		var out struct {
			One success `xml:"PublishResult"`
		}
		if err := c.Notify("Publish", form, &out); err != nil {
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
	if err := c.Notify("PublishBatch", form, &out); err != nil {
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

// Notify makes a call of SNS, in its Query protocol.
func (c *Client) Notify(operation string, form url.Values, out any) error {
	return c.query(&Root, "sns", snsVersion, operation, form, out)
}

// query makes a call in the Query protocol.
func (c *Client) query(who *signature.Signer, service, version, operation string, form url.Values, out any) error {
	form.Set("Action", operation)
	form.Set("Version", version)
	body := []byte(form.Encode())
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.Endpoint+"/", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	who.Sign(r, service, body, time.Now())
	text, err := c.answer(r)
	if err != nil || out == nil {
		return err
	}
	return xml.Unmarshal(text, out)
}
