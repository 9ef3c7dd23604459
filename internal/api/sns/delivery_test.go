package sns_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// publish publishes a message.
func (r *rig) publish(a *apitest.Actor, topic, message string, options ...func(*sns.PublishInput)) {
	r.Helper()
	in := &sns.PublishInput{TopicArn: &topic, Message: &message}
	for _, o := range options {
		o(in)
	}
	out, err := a.SNS.Publish(r.Context(), in)
	apitest.Must(r.T, out, err)
}

// bodies returns the texts of the messages in a queue, in alphabetical order, and deletes the messages.
func (r *rig) bodies(a *apitest.Actor, url string) (all []string) {
	r.Helper()
	for _, m := range r.receive(a, url) {
		all = append(all, *m.Body)
	}
	slices.Sort(all)
	return all
}

// A queue gets the messages that its own policy lets the topic send, evaluated at each publish. The account of the
// queue makes no difference.
func TestQueuePolicies(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	raw := map[string]string{"RawMessageDelivery": "true"}
	const statement = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":%s,"Action":%s,"Resource":"*","Condition":{%s}}]}`
	from := `"ArnEquals":{"aws:SourceArn":"` + topic + `"}`
	policies := map[string]struct {
		policy  string
		allowed bool
	}{
		"none":    {"", false},
		"guide":   {fmt.Sprintf(statement, `"*"`, `"sqs:*"`, `"StringEquals":{"aws:SourceArn":"`+topic+`"}`), true},
		"service": {fmt.Sprintf(statement, `{"Service":"sns.amazonaws.com"}`, `"sqs:SendMessage"`, from), true},
		"like": {fmt.Sprintf(statement, `{"Service":"sns.amazonaws.com"}`, `"sqs:SendMessage"`,
			`"ArnLike":{"aws:SourceArn":"arn:aws:sns:*:`+account+`:*"}`), true},
		"account": {fmt.Sprintf(statement, `{"Service":"sns.amazonaws.com"}`, `"sqs:SendMessage"`,
			`"StringEquals":{"aws:SourceAccount":"`+account+`"}`), true},
		"encrypted": {fmt.Sprintf(statement, `{"Service":"sns.amazonaws.com"}`, `"sqs:SendMessage"`,
			`"Bool":{"aws:SecureTransport":"true"}`), true},
		"other-topic": {fmt.Sprintf(statement, `{"Service":"sns.amazonaws.com"}`, `"sqs:SendMessage"`,
			`"ArnEquals":{"aws:SourceArn":"`+topic+`s"}`), false},
		"stranger": {fmt.Sprintf(statement, `{"Service":"sns.amazonaws.com"}`, `"sqs:SendMessage"`,
			`"StringEquals":{"aws:SourceAccount":"`+otherAccount+`"}`), false},
		"receive":     {fmt.Sprintf(statement, `{"Service":"sns.amazonaws.com"}`, `"sqs:ReceiveMessage"`, from), false},
		"events":      {fmt.Sprintf(statement, `{"Service":"events.amazonaws.com"}`, `"sqs:SendMessage"`, from), false},
		"own-account": {fmt.Sprintf(statement, `{"AWS":"`+account+`"}`, `"sqs:SendMessage"`, from), false},
		"address": {fmt.Sprintf(statement, `"*"`, `"sqs:SendMessage"`, `"IpAddress":{"aws:SourceIp":"0.0.0.0/0"}`),
			false},
	}
	urls := make(map[string]string)
	for name, tc := range policies {
		urls[name] = r.queue(r.root, name, "news", map[string]string{"Policy": tc.policy})
		r.subscribe(r.root, topic, queueARN(name), raw)
	}
	r.subscribe(r.root, topic, queueARN("missing"), raw)
	r.publish(r.root, topic, "m")
	for name, tc := range policies {
		if got := r.bodies(r.root, urls[name]); (len(got) == 1) != tc.allowed {
			t.Errorf("%s: %q", name, got)
		}
	}
	_, err := r.root.SQS.SetQueueAttributes(t.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: aws.String(urls["none"]), Attributes: map[string]string{"Policy": policies["service"].policy},
	})
	apitest.Must(t, 0, err)
	r.publish(r.root, topic, "again")
	apitest.Equal(t, r.bodies(r.root, urls["none"]), []string{"again"})
}

// A message that the queue refuses goes to the subscription's dead-letter queue, if that queue lets the topic send.
func TestSubscriptionDeadLetters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	dlq := r.queue(r.root, "dlq", "news", nil)
	closed := r.queue(r.root, "closed", "news", map[string]string{"Policy": ""})
	small := r.queue(r.root, "small", "news", map[string]string{"MaximumMessageSize": "1024"})
	to := func(name string) map[string]string {
		return map[string]string{
			"RawMessageDelivery": "true", "RedrivePolicy": `{"deadLetterTargetArn":"` + queueARN(name) + `"}`,
		}
	}
	r.subscribe(r.root, topic, queueARN("missing"), to("dlq"))
	r.subscribe(r.root, topic, queueARN("closed"), to("dlq"))
	r.subscribe(r.root, topic, queueARN("small"), to("dlq"))
	r.subscribe(r.root, topic, queueARN("missing-too"), to("closed")) // which accepts nothing
	r.publish(r.root, topic, "m")
	apitest.Equal(t, r.bodies(r.root, dlq), []string{"m", "m"})
	apitest.Equal(t, r.bodies(r.root, closed), nil)
	apitest.Equal(t, r.bodies(r.root, small), []string{"m"})
	long := strings.Repeat("x", 1025)
	r.publish(r.root, topic, long)
	apitest.Equal(t, r.bodies(r.root, dlq), []string{long, long, long})
	r.publish(r.root, topic, "many", func(in *sns.PublishInput) {
		in.MessageAttributes = make(map[string]snstypes.MessageAttributeValue)
		for i := range 11 {
			in.MessageAttributes[fmt.Sprint("a", i)] = snstypes.MessageAttributeValue{
				DataType: aws.String("String"), StringValue: aws.String("v"),
			}
		}
	})
	apitest.Equal(t, r.bodies(r.root, small), nil)
}

// Filter policies decide which subscriptions get a message.
func TestFilters(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	urls := make(map[string]string)
	for name, attributes := range map[string]map[string]string{
		"all": {}, "red": {"FilterPolicy": `{"color":["red"]}`},
		"not-red": {"FilterPolicy": `{"color":[{"anything-but":"red"}]}`},
		"large":   {"FilterPolicy": `{"size":[{"numeric":[">",5]}]}`, "FilterPolicyScope": "MessageBody"},
		"array":   {"FilterPolicy": `{"tags":["b"]}`},
	} {
		attributes["RawMessageDelivery"] = "true"
		urls[name] = r.queue(r.root, name, "news", nil)
		r.subscribe(r.root, topic, queueARN(name), attributes)
	}
	with := func(name, dataType, value string) func(*sns.PublishInput) {
		return func(in *sns.PublishInput) {
			in.MessageAttributes = map[string]snstypes.MessageAttributeValue{
				name: {DataType: &dataType, StringValue: &value},
			}
		}
	}
	for _, tc := range []struct {
		message string
		option  func(*sns.PublishInput)
		want    string
	}{
		{"plain", func(*sns.PublishInput) {}, "all"},
		{"red", with("color", "String", "red"), "all red"},
		{"blue", with("color", "String", "blue"), "all not-red"},
		{`{"size":6}`, func(*sns.PublishInput) {}, "all large"},
		{`{"size":5}`, func(*sns.PublishInput) {}, "all"},
		{"tags", with("tags", "String.Array", `["a","b"]`), "all array"},
	} {
		r.publish(r.root, topic, tc.message, tc.option)
		var got []string
		for name, url := range urls {
			if len(r.bodies(r.root, url)) == 1 {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %v, want %s", tc.message, got, tc.want)
		}
	}
}

// A message may have a different text for each protocol. It carries its group and its trace header to queues.
func TestWhatGoesAlong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	raw, wrapped := r.queue(r.root, "raw", "news", nil), r.queue(r.root, "wrapped", "news", nil)
	r.subscribe(r.root, topic, queueARN("raw"), map[string]string{"RawMessageDelivery": "true"})
	r.subscribe(r.root, topic, queueARN("wrapped"), nil)
	r.publish(r.root, topic, `{"default":"d","sqs":"for queues"}`, func(in *sns.PublishInput) {
		in.MessageStructure, in.MessageGroupId = aws.String("json"), aws.String("g")
	})
	got := r.receive(r.root, raw)
	if len(got) != 1 || *got[0].Body != "for queues" || got[0].Attributes["MessageGroupId"] != "g" ||
		got[0].Attributes["SenderId"] != "sns.amazonaws.com" {
		t.Errorf("%+v", got)
	}
	var e struct{ Message string }
	if got = r.receive(r.root, wrapped); len(got) != 1 || json.Unmarshal([]byte(*got[0].Body), &e) != nil ||
		e.Message != "for queues" {
		t.Errorf("%+v", got)
	}
	out, err := r.root.SNS.PublishBatch(t.Context(),
		&sns.PublishBatchInput{TopicArn: &topic, PublishBatchRequestEntries: []snstypes.PublishBatchRequestEntry{
			{Id: aws.String("1"), Message: aws.String("one")}, {Id: aws.String("3"), Message: aws.String("three")},
		}})
	if apitest.Must(t, out, err); len(out.Successful) != 2 || len(out.Failed) != 0 {
		t.Errorf("%+v", out)
	}
	apitest.Equal(t, r.bodies(r.root, raw), []string{"one", "three"})
}

// A queue of another account must confirm its subscription; a queue of the caller's account need not.
func TestSubscribeAcrossAccounts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	theirs := strings.Replace(queueARN("q"), account, otherAccount, 1)
	url := r.queue(r.other, "q", "news", nil)
	out, err := r.root.SNS.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: &topic, Protocol: aws.String("sqs"), Endpoint: &theirs,
	})
	if apitest.Must(t, out, err); *out.SubscriptionArn != "pending confirmation" {
		t.Fatalf("the subscription is %s", *out.SubscriptionArn)
	}
	r.publish(r.root, topic, "too early")
	got := r.receive(r.other, url)
	var e struct{ Type, Token, TopicArn, SubscribeURL, Message string }
	if len(got) != 1 || json.Unmarshal([]byte(*got[0].Body), &e) != nil || e.Type != "SubscriptionConfirmation" ||
		e.TopicArn != topic ||
		!strings.HasSuffix(e.SubscribeURL, "/?Action=ConfirmSubscription&TopicArn="+topic+"&Token="+e.Token) {
		t.Fatalf("%+v", got)
	}
	_, err = r.other.SNS.ConfirmSubscription(t.Context(), &sns.ConfirmSubscriptionInput{
		TopicArn: &topic, Token: aws.String(e.Token[:90] + "000000"),
	})
	if apitest.Code(err) != "InvalidParameter" {
		t.Errorf("another token: %v", err)
	}
	var arns []string
	for range 2 {
		confirmed, err := r.other.SNS.ConfirmSubscription(t.Context(), &sns.ConfirmSubscriptionInput{
			TopicArn: &topic, Token: &e.Token,
		})
		arns = append(arns, *apitest.Must(t, confirmed, err).SubscriptionArn)
	}
	if arns[0] != arns[1] || !strings.HasPrefix(arns[0], topic+":") {
		t.Errorf("confirmed: %q", arns)
	}
	r.publish(r.root, topic, "m")
	if got := r.receive(r.other, url); len(got) != 1 {
		t.Errorf("%d messages", len(got))
	}
	// The subscription belongs to the account that requested it.
	_, err = r.other.SNS.GetSubscriptionAttributes(t.Context(), &sns.GetSubscriptionAttributesInput{
		SubscriptionArn: &arns[0],
	})
	if apitest.Code(err) != "AuthorizationError" {
		t.Errorf("of another account: %v", err)
	}
	// An account with permission to subscribe its own queue need not confirm, and may end the subscription.
	_, err = r.root.SNS.AddPermission(t.Context(), &sns.AddPermissionInput{
		TopicArn: &topic, Label: aws.String("l"), AWSAccountId: []string{otherAccount},
		ActionName: []string{"Subscribe"},
	})
	apitest.Must(t, 0, err)
	mine := strings.Replace(queueARN("mine"), account, otherAccount, 1)
	sub := r.subscribe(r.other, topic, mine, nil)
	for _, a := range []*apitest.Actor{r.root, r.other} { // the topic's owner, and the subscription's
		_, err := a.SNS.GetSubscriptionAttributes(t.Context(), &sns.GetSubscriptionAttributesInput{
			SubscriptionArn: &sub,
		})
		apitest.Must(t, 0, err)
	}
	_, err = r.other.SNS.Unsubscribe(t.Context(), &sns.UnsubscribeInput{SubscriptionArn: &sub})
	apitest.Must(t, 0, err)
}

// The link in a queue's messages does not end a subscription by the queue's own account, because every consumer of the
// queue sees the link.
func TestUnsignedUnsubscribe(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	queue := r.queue(r.root, "q", "news", nil)
	r.subscribe(r.root, topic, queueARN("q"), nil)
	r.publish(r.root, topic, "m")
	var e struct{ UnsubscribeURL string }
	if got := r.receive(r.root, queue); len(got) != 1 || json.Unmarshal([]byte(*got[0].Body), &e) != nil {
		t.Fatalf("%+v", got)
	}
	if status, body := r.follow(e.UnsubscribeURL); status != 403 ||
		!strings.Contains(body, "<Code>MissingAuthenticationToken</Code>") {
		t.Errorf("%d %s", status, body)
	}
	r.publish(r.root, topic, "m")
	if got := r.receive(r.root, queue); len(got) != 1 {
		t.Errorf("%d messages", len(got))
	}
}

// The trace header of the publishing request applies to the message.
func TestTraceHeader(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	topic := r.topic(r.root, "news", nil)
	url := r.queue(r.root, "q", "news", nil)
	r.subscribe(r.root, topic, queueARN("q"), nil)
	const header = "Root=1-5759e988-bd862e3fe1be46a994272793"
	request := traced(t, r, topic, header)
	if status, body := apitest.Exchange(t, request); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	got := r.receive(r.root, url)
	if len(got) != 1 || got[0].Attributes[string(sqstypes.MessageSystemAttributeNameAWSTraceHeader)] != header {
		t.Errorf("%+v", got)
	}
}
