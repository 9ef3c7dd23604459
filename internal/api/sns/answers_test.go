package sns_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// entry is an attribute in an answer.
func entry(name, value string) string {
	return "<entry><key>" + name + "</key><value>" + strings.ReplaceAll(value, `"`, "&quot;") + "</value></entry>"
}

// subscription subscribes a queue and returns the parameters that name the subscription.
func subscription(st *apitest.Story, topic, queue string, pairs ...string) with {
	st.T.Helper()
	in := append(attributes("TopicArn", topicARN(topic), pairs...), "Protocol", "sqs", "Endpoint", queueARN(queue))
	return with{"SubscriptionArn", apitest.Element(st.Does("Subscribe", in), "SubscriptionArn")}
}

// The request for a topic that exists may have fewer tags, but no additional ones.
func TestTopicIsCreatedAgainWithTags(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		tagged := func(pairs ...string) with {
			in := with{"Name", "a"}
			for i := 0; i < len(pairs); i += 2 {
				in = append(in, fmt.Sprintf("Tags.member.%d.Key", i/2+1), pairs[i],
					fmt.Sprintf("Tags.member.%d.Value", i/2+1), pairs[i+1])
			}
			return in
		}
		st.Does("CreateTopic", tagged("k", "1", "l", "2"))
		for _, in := range []with{tagged(), tagged("k", "1"), tagged("l", "2", "k", "1")} {
			st.Does("CreateTopic", in, "<TopicArn>"+topicARN("a")+"</TopicArn>")
		}
		for _, in := range []with{tagged("k", "2"), tagged("k", "1", "l", "2", "m", "3")} {
			st.Refuses("CreateTopic", in, 400, invalid,
				"Invalid parameter: Tags Reason: Topic already exists with different tags")
		}
	})
}

// An existing subscription is compared with the request and with the defaults.
func TestSubscribedAgain(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		st.Does("CreateTopic", with{"Name", "a"})
		sub := subscription(st, "a", "q", "RawMessageDelivery", "TrUe")
		st.Does("GetSubscriptionAttributes", sub, entry("RawMessageDelivery", "true"))
		for _, pairs := range [][]string{
			nil, {"RawMessageDelivery", "true"}, {"RawMessageDelivery", "True"},
			{"FilterPolicyScope", "MessageAttributes"},
			{"FilterPolicyScope", "MessageAttributes", "RawMessageDelivery", "true"}, {"FilterPolicy", "{}"},
		} {
			if again := subscription(st, "a", "q", pairs...); again[1] != sub[1] {
				t.Errorf("%q: %s", pairs, again[1])
			}
		}
		for _, pairs := range [][]string{
			{"RawMessageDelivery", "false"}, {"FilterPolicy", `{"a":["b"]}`}, {"FilterPolicyScope", "MessageBody"},
		} {
			in := append(attributes("TopicArn", topicARN("a"), pairs...), "Protocol", "sqs", "Endpoint", queueARN("q"))
			st.Refuses("Subscribe", in, 400, invalid,
				"Invalid parameter: Attributes Reason: Subscription already exists with different attributes")
		}
	})
}

// The scope of a filter policy is shown as long as there is one.
func TestScopeIsShownWithItsPolicy(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		st.Does("CreateTopic", with{"Name", "a"})
		sub := subscription(st, "a", "q", "FilterPolicyScope", "MessageBody")
		set := func(value string) with {
			return with{sub[0], sub[1], "AttributeName", "FilterPolicy", "AttributeValue", value}
		}
		none := func() {
			t.Helper()
			if got := st.Does("GetSubscriptionAttributes", sub); strings.Contains(got, "Filter") {
				t.Errorf("%s", got)
			}
		}
		none()
		st.Does("SetSubscriptionAttributes", set(`{"a":{"b":["c"]}}`))
		st.Does("GetSubscriptionAttributes", sub, entry("FilterPolicy", `{"a":{"b":["c"]}}`),
			entry("FilterPolicyScope", "MessageBody"))
		st.Does("SetSubscriptionAttributes", set("{}"))
		none()
		plain := subscription(st, "a", "r", "FilterPolicy", `{"a":["b"]}`)
		st.Does("GetSubscriptionAttributes", plain, entry("FilterPolicyScope", "MessageAttributes"))
	})
}

// A dead-letter queue has the type of the subscribed queue.
func TestDeadLetterQueuesOfFIFOTopics(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		st.Does("CreateTopic", attributes("Name", "a.fifo", "FifoTopic", "true"))
		to := func(queue string) string { return `{"deadLetterTargetArn":"` + queueARN(queue) + `"}` }
		standard, fifo := subscription(st, "a.fifo", "q", "RedrivePolicy", to("d")),
			subscription(st, "a.fifo", "q.fifo", "RedrivePolicy", to("d.fifo"))
		st.Does("GetSubscriptionAttributes", standard, entry("RedrivePolicy", to("d")))
		for _, tc := range []struct {
			sub         with
			queue, want string
		}{
			{standard, "d.fifo",
				"Invalid parameter: RedrivePolicy: must use a standard queue as DLQ for a standard Subscription."},
			{fifo, "d",
				"Invalid parameter: RedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic."},
		} {
			st.Refuses("SetSubscriptionAttributes",
				append(tc.sub, "AttributeName", "RedrivePolicy", "AttributeValue", to(tc.queue)), 400, invalid, tc.want)
		}
	})
}

// Delivery policies of topics are shown with the defaults of their parts, those of subscriptions as they were set.
// Those of queues have no effect.
func TestDeliveryPoliciesAsShown(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		st.Does("CreateTopic", with{"Name", "a"})
		for value, want := range map[string]string{
			`{"http":{"defaultHealthyRetryPolicy":null}}`: `{"http":{"disableSubscriptionOverrides":false}}`,
			`{"http": {"defaultHealthyRetryPolicy": {"minDelayTarget": 5, "maxDelayTarget": 6, "numRetries": 1}}}`: `{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":5,"maxDelayTarget":6,"numRetries":1,` +
				`"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"},"disableSubscriptionOverrides":false}}`,
		} {
			st.Does("SetTopicAttributes",
				with{"TopicArn", topicARN("a"), "AttributeName", "DeliveryPolicy", "AttributeValue", value})
			st.Does("GetTopicAttributes", with{"TopicArn", topicARN("a")}, entry("DeliveryPolicy", want))
		}
		sub := subscription(st, "a", "q", "DeliveryPolicy",
			`{"requestPolicy":{"headerContentType":"application/json"}}`)
		st.Does("GetSubscriptionAttributes", sub, entry("DeliveryPolicy",
			`{"healthyRetryPolicy":null,"sicklyRetryPolicy":null,"throttlePolicy":null,"requestPolicy":{"headerContentType":"application/json"},"guaranteed":false}`))
		sub = subscription(st, "a", "r", "DeliveryPolicy",
			`{"guaranteed": true, "healthyRetryPolicy": {"numRetries": 5, "minDelayTarget": 5, "maxDelayTarget": 20}}`)
		st.Does("GetSubscriptionAttributes", sub, entry("DeliveryPolicy",
			`{"healthyRetryPolicy":{"minDelayTarget":5,"maxDelayTarget":20,"numRetries":5,"numMaxDelayRetries":null,"numNoDelayRetries":null,`+
				`"numMinDelayRetries":null,"backoffFunction":null},"sicklyRetryPolicy":null,"throttlePolicy":null,"requestPolicy":null,"guaranteed":true}`))
	})
}

// The error for an invalid filter policy quotes the policy, without spaces, and gives the place; the error for a CIDR
// quotes nothing.
func TestFilterPolicyRefusals(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		st.Does("CreateTopic", with{"Name", "a"})
		sub := subscription(st, "a", "q")
		many := `{"k":[` + strings.TrimSuffix(strings.Repeat(`"v",`, 151), ",") + `]}`
		for _, tc := range []struct{ policy, several, one string }{
			{`{"key": {"suffix": "v"}}`, "",
				"FilterPolicy: \"suffix\" must be an object or an array\n at [Source: (String)\"{\"key\":{\"suffix\":\"v\"}}\"; line: 1, column: 19]"},
			{`{"a": [{"numeric": [">", 20, 30]}]}`, "",
				"FilterPolicy: Bad value in numeric range: 30\n at [Source: (String)\"{\"a\":[{\"numeric\":[\">\",20,30]}]}\"; line: 1, column: 28]"},
			{`{"a": [{"cidr": "xx.11.xx/8"}]}`, "", "FilterPolicy: Nonstandard IP address: xx.11.xx"},
			{`{"a": {"b": ["c"]}}`,
				"FilterPolicy: Filter policy scope MessageAttributes does not support nested filter policy",
				"Filter policy scope MessageAttributes does not support nested filter policy"},
			{many, "", "FilterPolicy: Filter policy is too complex"},
			{`{"a":[1],"b":[1],"c":[1],"d":[1],"e":[1],"f":[1]}`, "",
				"FilterPolicy: Filter policy can not have more than 5 keys"},
		} {
			if tc.several == "" {
				tc.several = tc.one
			}
			st.Refuses("SetSubscriptionAttributes",
				append(sub, "AttributeName", "FilterPolicy", "AttributeValue", tc.policy), 400, invalid,
				"Invalid parameter: "+tc.one)
			in := append(attributes("TopicArn", topicARN("a"), "FilterPolicy", tc.policy), "Protocol", "sqs",
				"Endpoint", queueARN("r"))
			st.Refuses("Subscribe", in, 400, invalid, "Invalid parameter: Attributes Reason: "+tc.several)
		}
	})
}

// A batch with an invalid entry publishes nothing. Only an invalid subject fails its entry alone.
func TestBadEntriesOfBatches(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	url := r.queue(r.root, "q", "news", nil)
	r.subscribe(r.root, topic, queueARN("q"), nil)
	st := &apitest.Story{
		T: t, Endpoint: r.server.Endpoint(), Cred: r.server.Root(), Service: "sns", Version: "2010-03-31",
	}
	at := "PublishBatchRequestEntries.member."
	in := with{"TopicArn", topic, at + "1.Id", "a", at + "1.Message", "m", at + "2.Id", "b", at + "2.Message", "m",
		at + "2.Subject", "\n"}
	failed := "<Failed><member><Id>b</Id><Code>InvalidParameter</Code>" +
		"<Message>Invalid parameter: Subject</Message><SenderFault>true</SenderFault></member>"
	st.Refuses("PublishBatch", append(in, at+"2.MessageStructure", "json"), 400, invalid,
		"Invalid parameter: Message Structure - JSON message body failed to parse")
	if got := r.receive(r.root, url); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	st.Does("PublishBatch", in, "<Successful><member><Id>a</Id><MessageId>", failed+"</Failed>")
	if got := r.receive(r.root, url); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	st.Does("PublishBatch", append(in, at+"1.Subject", ""),
		"<PublishBatchResult><Successful/><Failed><member><Id>a</Id>", "<Id>b</Id>")
	if got := r.receive(r.root, url); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

// The token of a page is base64 with padding. Tokens of earlier versions, without padding, stay valid.
func TestTokensOfPages(t *testing.T) {
	stories(t, func(t *testing.T, st *apitest.Story) {
		for i := range 102 {
			st.Does("CreateTopic", with{"Name", fmt.Sprintf("t%03d", i)})
		}
		token := apitest.Element(st.Does("ListTopics", nil), "NextToken")
		text, err := base64.StdEncoding.Strict().DecodeString(token)
		if err != nil {
			t.Fatalf("%q: %v", token, err)
		}
		for _, token := range []string{token, base64.RawURLEncoding.EncodeToString(text)} {
			if got := st.Does("ListTopics", with{"NextToken", token}); strings.Count(got, "<member>") != 2 {
				t.Errorf("%s", got)
			}
		}
	})
}
