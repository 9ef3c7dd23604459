package sns_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// A topic sets the maximum size of its messages, with their attributes, and of all messages of a batch together.
func TestMessageSizeOfTopic(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	large := r.topic(r.root, "large", map[string]string{"MaximumMessageSize": "1048576"})
	small := r.topic(r.root, "small", map[string]string{"MaximumMessageSize": "1024"})
	url := r.queue(r.root, "q", "large", map[string]string{"MaximumMessageSize": "1048576"})
	r.subscribe(r.root, large, queueARN("q"), map[string]string{"RawMessageDelivery": "true"})
	r.publish(r.root, large, strings.Repeat("x", 1<<20))
	if got := r.bodies(r.root, url); len(got) != 1 || len(got[0]) != 1<<20 {
		t.Errorf("%d messages", len(got))
	}
	st := &apitest.Story{
		T: t, Endpoint: r.server.Endpoint(), Cred: r.server.Root(), Service: "sns", Version: "2010-03-31",
	}
	batch := func(topic string, size int) with {
		at, text := "PublishBatchRequestEntries.member.", strings.Repeat("x", size)
		return with{"TopicArn", topic, at + "1.Id", "a", at + "1.Message", text, at + "2.Id", "b", at + "2.Message",
			text}
	}
	st.Does("PublishBatch", batch(large, 1<<19))
	st.Does("PublishBatch", batch(small, 1<<9))
	for _, in := range []with{batch(large, 1<<19+1), batch(small, 1<<9+1)} {
		st.Refuses("PublishBatch", in, 400, "BatchRequestTooLong",
			"The length of all the messages put together is more than the limit.")
	}
	st.Does("Publish", with{"TopicArn", small, "Message", strings.Repeat("x", 1024)})
	st.Refuses("Publish", with{"TopicArn", small, "Message", strings.Repeat("x", 1025)}, 400, invalid,
		"Invalid parameter: Message too long")
}

// A topic that allows larger messages than usual has only queues as subscribers, and at most a hundred.
func TestSubscribersOfLargeMessages(t *testing.T) {
	stories(t, func(_ *testing.T, st *apitest.Story) {
		large := attributes("Name", "large", "MaximumMessageSize", "262145")
		st.Does("CreateTopic", large)
		st.Does("CreateTopic", large)
		st.Refuses("CreateTopic", attributes("Name", "large", "MaximumMessageSize", "262146"), 400, invalid,
			"Invalid parameter: Attributes Reason: Topic already exists with different attributes")
		st.Does("CreateTopic", with{"Name", "usual"})
		subscribe := func(topic, protocol, endpoint string) with {
			return with{"TopicArn", topicARN(topic), "Protocol", protocol, "Endpoint", endpoint}
		}
		size := func(topic, value string) with {
			return with{"TopicArn", topicARN(topic), "AttributeName", "MaximumMessageSize", "AttributeValue", value}
		}
		st.Refuses("Subscribe", subscribe("large", "http", "http://8.8.8.8/"), 400, invalid,
			"Invalid parameter: Protocol Reason: A topic whose MaximumMessageSize is above 262144 delivers to SQS queues only, and not by http.")
		for i := range 101 {
			st.Does("Subscribe", subscribe("usual", "sqs", queueARN(fmt.Sprint("q", i))))
		}
		for i := range 100 {
			st.Does("Subscribe", subscribe("large", "sqs", queueARN(fmt.Sprint("q", i))))
		}
		st.Refuses("Subscribe", subscribe("large", "sqs", queueARN("one-more")), 400, invalid,
			"Invalid parameter: TopicArn Reason: A topic whose MaximumMessageSize is above 262144 can have at most 100 subscriptions.")
		st.Does("SetTopicAttributes", size("large", "262144"))
		st.Does("Subscribe", subscribe("large", "sqs", queueARN("one-more")))
		for _, topic := range []string{"large", "usual"} {
			st.Refuses("SetTopicAttributes", size(topic, "262145"), 400, invalid,
				"Invalid parameter: MaximumMessageSize: Above 262144, the topic can have at most 100 subscriptions, all of them of SQS queues.")
		}
	})
}

// The text for a protocol may be empty. A queue with raw delivery does not accept it.
func TestEmptyTextForProtocol(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	urls := make(map[string]string)
	for _, name := range []string{"raw", "wrapped", "dlq"} {
		urls[name] = r.queue(r.root, name, "news", nil)
	}
	r.subscribe(r.root, topic, queueARN("raw"), map[string]string{
		"RawMessageDelivery": "true", "RedrivePolicy": `{"deadLetterTargetArn":"` + queueARN("dlq") + `"}`,
	})
	r.subscribe(r.root, topic, queueARN("wrapped"), nil)
	r.publish(r.root, topic, `{"default":"x","sqs":""}`,
		func(in *sns.PublishInput) { in.MessageStructure = aws.String("json") })
	apitest.Equal(t, r.bodies(r.root, urls["raw"]), nil)
	apitest.Equal(t, r.bodies(r.root, urls["dlq"]), nil)
	if got := r.bodies(r.root, urls["wrapped"]); len(got) != 1 || !strings.Contains(got[0], `"Message" : ""`) {
		t.Errorf("%q", got)
	}
}
