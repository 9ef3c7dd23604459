package admin_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/sluicemq/sluice/internal/api/apitest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/server"
	"github.com/sluicemq/sluice/internal/server/servertest"
)

// tenants is a server whose time only the test advances, with its operator, and the roots of a limited account and of
// an unlimited one.
type tenants struct {
	*testing.T
	server             *server.Server
	operator           *apitest.Actor
	limited, unlimited *apitest.Actor
	ahead              atomic.Int64
}

const third = "333333333333"

func newTenants(t *testing.T) *tenants {
	t.Helper()
	t.Parallel()
	r, began := &tenants{T: t}, time.Now()
	config := servertest.InMemory()
	config.Now = func() time.Time { return began.Add(time.Duration(r.ahead.Load())) }
	config.Accounts = append(config.Accounts, third)
	r.server, _ = servertest.Start(t, config)
	root := func(account string) *apitest.Actor {
		cred, _ := r.server.RootOf(account)
		return apitest.RootActor(r.server.Endpoint(), cred)
	}
	r.operator, r.limited, r.unlimited = root(apitest.Account), root(apitest.OtherAccount), root(third)
	return r
}

func (r *tenants) forward(d time.Duration) { r.ahead.Add(int64(d)) }

// limit sets limits of the limited account, or of its user of that name.
func (r *tenants) limit(user string, limits apitest.Object) {
	r.Helper()
	in := apitest.Object{"AccountId": apitest.OtherAccount, "Limits": limits}
	if user != "" {
		in["UserName"] = user
	}
	if status, answer := r.operator.Sluice(r.T, "SetLimits", in); status != http.StatusOK {
		r.Fatalf("%v: %d %v", limits, status, answer)
	}
}

func (r *tenants) queue(a *apitest.Actor, name string) string {
	r.Helper()
	out, err := a.SQS.CreateQueue(r.Context(), &sqs.CreateQueueInput{QueueName: &name})
	return *apitest.Must(r.T, out, err).QueueUrl
}

func (r *tenants) topic(a *apitest.Actor, name string) string {
	r.Helper()
	out, err := a.SNS.CreateTopic(r.Context(), &sns.CreateTopicInput{Name: &name})
	return *apitest.Must(r.T, out, err).TopicArn
}

func (r *tenants) batch(a *apitest.Actor, url string, n int) error {
	in := &sqs.SendMessageBatchInput{QueueUrl: &url}
	for i := range n {
		in.Entries = append(in.Entries, sqstypes.SendMessageBatchRequestEntry{
			Id: aws.String(fmt.Sprint(i)), MessageBody: aws.String("m"),
		})
	}
	_, err := a.SQS.SendMessageBatch(r.Context(), in)
	return err
}

func (r *tenants) receive(a *apitest.Actor, url string) ([]sqstypes.Message, error) {
	out, err := a.SQS.ReceiveMessage(r.Context(), &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10})
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

// want checks that a call is refused with that code, or succeeds if it is empty.
func (r *tenants) want(what string, err error, code string) {
	r.Helper()
	if got := apitest.Code(err); got != code {
		r.Errorf("%s: %q, want %q", what, got, code)
	}
}

const throttled = "RequestThrottled"

func TestSendsAreLimited(t *testing.T) {
	r := newTenants(t)
	url, free := r.queue(r.limited, "q"), r.queue(r.unlimited, "q")
	arn := r.topic(r.limited, "t")
	r.limit("", apitest.Object{"SendsPerSecond": 12})
	r.want("ten of twelve", r.batch(r.limited, url, 10), "")
	r.want("the eleventh", r.limited.Send(t, url), "")
	_, err := r.limited.SNS.Publish(t.Context(), &sns.PublishInput{TopicArn: &arn, Message: aws.String("m")})
	r.want("the twelfth", err, "")
	r.want("one more", r.limited.Send(t, url), throttled)
	apitest.Refused[*sqstypes.RequestThrottled](t, r.batch(r.limited, url, 2), throttled)
	_, err = r.limited.SNS.Publish(t.Context(), &sns.PublishInput{TopicArn: &arn, Message: aws.String("m")})
	r.want("a publication", err, "Throttling")
	_, err = r.limited.SNS.PublishBatch(t.Context(),
		&sns.PublishBatchInput{TopicArn: &arn, PublishBatchRequestEntries: []snstypes.PublishBatchRequestEntry{
			{Id: aws.String("a"), Message: aws.String("m")},
		}})
	r.want("a batch of publications", err, "Throttling")
	_, err = r.receive(r.limited, url)
	r.want("a receive", err, "")
	for range 30 {
		r.want("the other account", r.unlimited.Send(t, free), "")
	}
	r.forward(time.Second/12 + time.Millisecond)
	r.want("when there is one again", r.batch(r.limited, url, 10), "") // nine are owed
	r.forward(8 * time.Second / 12)
	r.want("while they are owed", r.limited.Send(t, url), throttled)
	r.forward(3 * time.Second / 12)
	r.want("when they are paid back", r.limited.Send(t, url), "")
}

// The refusals are the same in all protocols.
func TestRefusalsOfLimits(t *testing.T) {
	r := newTenants(t)
	url := r.queue(r.limited, "q")
	cred, _ := r.server.RootOf(apitest.OtherAccount)
	stored := "The account stores as much as it may: it has a limit of 0 messages. Delete messages before you send others."
	queues := "The account has as many queues as this server allows, 0. Delete a queue before you create another."
	for _, tc := range []struct {
		limit, op string
		in        apitest.Object
		want      apitest.Refusal
	}{
		{"SendsPerSecond", "SendMessage", apitest.Object{"QueueUrl": url, "MessageBody": "m"},
			apitest.Modelled(throttled, throttled, 403, "Request is throttled.")},
		{"ReceivesPerSecond", "ReceiveMessage", apitest.Object{"QueueUrl": url},
			apitest.Modelled(throttled, throttled, 403, "Request is throttled.")},
		{"StoredMessages", "SendMessage", apitest.Object{"QueueUrl": url, "MessageBody": "m"},
			apitest.OverLimit(stored)},
		{"StoredBytes", "SendMessage", apitest.Object{"QueueUrl": url, "MessageBody": "m"},
			apitest.OverLimit(strings.Replace(stored, "messages.", "bytes.", 1))},
		{"Queues", "CreateQueue", apitest.Object{"QueueName": "another"}, apitest.OverLimit(queues)},
	} {
		r.limit("", apitest.Object{tc.limit: 0})
		for _, d := range apitest.Dialects {
			c := &apitest.Client{
				T: t, Dialect: d, Base: r.server.Endpoint(), Region: "us-east-1", Cred: cred, Version: "2012-11-05",
				Path: "/",
			}
			c.Fails(tc.op, tc.in, tc.want)
		}
		if status, answer := r.operator.Sluice(t, "DeleteLimits", apitest.Object{
			"AccountId": apitest.OtherAccount,
		}); status != http.StatusOK || len(answer["Limits"].(map[string]any)) > 0 {
			t.Errorf("%d %v", status, answer)
		}
	}
}

func TestReceivesAreLimited(t *testing.T) {
	r := newTenants(t)
	url, free := r.queue(r.limited, "q"), r.queue(r.unlimited, "q")
	for range 3 {
		r.want("a batch", r.batch(r.limited, url, 10), "")
	}
	r.limit("", apitest.Object{"ReceivesPerSecond": 11})
	first, err := r.receive(r.limited, url)
	if err != nil || len(first) != 10 {
		t.Fatal(len(first), err)
	}
	second, err := r.receive(r.limited, url) // one may pass, and ten do
	if err != nil || len(second) != 10 {
		t.Fatal(len(second), err)
	}
	_, err = r.receive(r.limited, url)
	r.want("one more", err, throttled)
	for range 30 {
		_, err = r.receive(r.unlimited, free)
		r.want("the other account", err, "")
	}
	r.forward(time.Second)
	if third, err := r.receive(r.limited, url); err != nil || len(third) != 10 {
		t.Error("after a second:", len(third), err)
	}
	r.forward(10 * time.Second)
	for range 11 { // an empty receive counts as one
		_, err = r.receive(r.limited, url)
		r.want("an empty receive", err, "")
	}
	_, err = r.receive(r.limited, url)
	r.want("the twelfth empty receive", err, throttled)
}

// A user has limits in addition to the account's, even with temporary keys.
func TestUsersAreLimited(t *testing.T) {
	r := newTenants(t)
	url := r.queue(r.limited, "q")
	bob, _ := r.limited.User(t, "bob", apitest.Allow("*", "*"))
	eve, _ := r.limited.User(t, "eve", apitest.Allow("*", "*"))
	r.limit("bob", apitest.Object{"SendsPerSecond": 2})
	r.want("bob", bob.Send(t, url), "")
	keys, err := bob.STS.GetSessionToken(t.Context(), &sts.GetSessionTokenInput{})
	session := r.limited.Temporary(apitest.Must(t, keys, err).Credentials)
	r.want("bob's session", session.Send(t, url), "")
	for _, a := range []*apitest.Actor{bob, session} {
		r.want("bob once more", a.Send(t, url), throttled)
	}
	r.want("eve", eve.Send(t, url), "")
	r.want("the root", r.limited.Send(t, url), "")
	if status, answer := r.operator.Sluice(t, "SetLimits", apitest.Object{
		"AccountId": apitest.OtherAccount, "UserName": "bob", "Limits": apitest.Object{"Queues": 1},
	}); status != http.StatusBadRequest || !strings.Contains(fmt.Sprint(answer), "Queues") {
		t.Errorf("a limit that users cannot have: %d %v", status, answer)
	}
	if got := r.listed(); !slices.Equal(got, []string{apitest.OtherAccount + "/bob map[SendsPerSecond:2]"}) {
		t.Errorf("the list is %q", got)
	}
	_, err = r.limited.IAM.DeleteUserPolicy(t.Context(), &iam.DeleteUserPolicyInput{
		UserName: aws.String("bob"), PolicyName: aws.String("own"),
	})
	apitest.Must(t, 0, err)
	for _, id := range []string{bob.Keys.AccessKeyID} {
		_, err = r.limited.IAM.DeleteAccessKey(t.Context(), &iam.DeleteAccessKeyInput{
			UserName: aws.String("bob"), AccessKeyId: &id,
		})
		apitest.Must(t, 0, err)
	}
	_, err = r.limited.IAM.DeleteUser(t.Context(), &iam.DeleteUserInput{UserName: aws.String("bob")})
	apitest.Must(t, 0, err)
	again, _ := r.limited.User(t, "bob", apitest.Allow("*", "*"))
	for range 5 {
		r.want("another user of the name", again.Send(t, url), "")
	}
	if got := r.listed(); len(got) != 0 {
		t.Errorf("when bob is deleted the list is %q", got)
	}
}

// listed returns the accounts and users with limits, and the limits.
func (r *tenants) listed() (out []string) {
	r.Helper()
	_, answer := r.operator.Sluice(r.T, "ListLimits", apitest.Object{})
	for _, one := range answer["Limits"].([]any) {
		o := one.(map[string]any)
		name, _ := o["UserName"].(string)
		out = append(out, fmt.Sprintf("%s/%s %v", o["AccountId"], name, o["Limits"]))
	}
	return out
}

// used returns the limited account's use of a limit.
func (r *tenants) used(what string) float64 {
	r.Helper()
	_, answer := r.operator.Sluice(r.T, "GetLimits", apitest.Object{"AccountId": apitest.OtherAccount})
	n, _ := answer["Used"].(map[string]any)[what].(float64)
	return n
}

func TestStoredMessagesAreLimited(t *testing.T) {
	r := newTenants(t)
	url, other, free := r.queue(r.limited, "q"), r.queue(r.limited, "p"), r.queue(r.unlimited, "q")
	r.want("before there is a limit", r.batch(r.limited, url, 4), "")
	r.limit("", apitest.Object{"StoredMessages": 6})
	r.forward(time.Second)
	eventually.Succeeds(t, func() error {
		if n := r.used("StoredMessages"); n != 4 {
			return fmt.Errorf("%v messages are known", n)
		}
		return nil
	})
	r.want("the fifth", r.limited.Send(t, other), "")
	r.want("two more", r.batch(r.limited, url, 2), "OverLimit")
	r.want("the sixth", r.limited.Send(t, url), "")
	r.want("the seventh", r.limited.Send(t, other), "OverLimit")
	r.want("the other account", r.batch(r.unlimited, free, 10), "")
	got, err := r.receive(r.limited, url)
	if err != nil || len(got) == 0 {
		t.Fatal(len(got), err)
	}
	r.want("while they are in flight", r.limited.Send(t, other), "OverLimit")
	_, err = r.limited.SQS.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
		QueueUrl: &url, ReceiptHandle: got[0].ReceiptHandle,
	})
	apitest.Must(t, 0, err)
	r.forward(time.Second) // the shards are not read again at once
	r.want("when one is deleted", r.limited.Send(t, other), "")
	r.want("one more", r.limited.Send(t, other), "OverLimit")
}

func TestStoredBytesAreLimited(t *testing.T) {
	r := newTenants(t)
	url, free := r.queue(r.limited, "q"), r.queue(r.unlimited, "q")
	r.limit("", apitest.Object{"StoredBytes": 100_000})
	send := func(a *apitest.Actor, url string, size int) error {
		_, err := a.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: &url, MessageBody: aws.String(strings.Repeat("x", size)),
		})
		return err
	}
	for range 9 {
		r.want("90,000 of 100,000 bytes", send(r.limited, url, 10_000), "")
	}
	r.want("one that is too large", send(r.limited, url, 20_000), "OverLimit")
	r.want("a small one", send(r.limited, url, 5_000), "")
	r.want("the other account", send(r.unlimited, free, 200_000), "")
	got, err := r.receive(r.limited, url)
	if err != nil || len(got) == 0 || len(*got[0].Body) != 10_000 {
		t.Fatal(len(got), err)
	}
	_, err = r.limited.SQS.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
		QueueUrl: &url, ReceiptHandle: got[0].ReceiptHandle,
	})
	apitest.Must(t, 0, err)
	r.forward(time.Second)
	eventually.Succeeds(t, func() error { // the messages are weighed once a second
		if n := r.used("StoredBytes"); n < 85_000 || n > 87_000 {
			return fmt.Errorf("%v bytes are known, of 85,000 and some for each message", n)
		}
		return nil
	})
	r.want("when one is deleted", send(r.limited, url, 10_000), "")
	r.want("one more", send(r.limited, url, 10_000), "OverLimit")
}

// Undone purges do not add up to more than an account may store.
func TestUndoneBytesAreLimited(t *testing.T) {
	r := newTenants(t)
	url := r.queue(r.limited, "q")
	r.limit("", apitest.Object{"StoredBytes": 100_000})
	send := func() error {
		body := strings.Repeat("x", 40_000)
		_, err := r.limited.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
		return err
	}
	r.want("40,000 of 100,000 bytes", send(), "")
	r.want("80,000", send(), "")
	got, err := r.receive(r.limited, url)
	if err != nil || len(got) == 0 {
		t.Fatal(len(got), err)
	}
	_, err = r.limited.SQS.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
		QueueUrl: &url, ReceiptHandle: got[0].ReceiptHandle,
	})
	apitest.Must(t, 0, err)
	weighed := func(least, most float64) {
		t.Helper()
		r.forward(time.Second)
		eventually.Succeeds(t, func() error {
			if n := r.used("StoredBytes"); n < least || n > most {
				return fmt.Errorf("%v bytes are known, want %v to %v", n, least, most)
			}
			return nil
		})
	}
	weighed(40_000, 41_000)
	_, err = r.limited.SQS.PurgeQueue(t.Context(), &sqs.PurgeQueueInput{QueueUrl: &url})
	apitest.Must(t, 0, err)
	weighed(0, 0)
	r.want("40,000 beside those that are kept", send(), "")
	r.want("80,000 beside those that are kept", send(), "")
	undo := apitest.Object{"QueueUrl": url}
	if status, answer := r.limited.Sluice(t, "UndoPurge", undo); status != http.StatusBadRequest ||
		!strings.Contains(fmt.Sprint(answer), "it has a limit of 100000 bytes") {
		t.Errorf("an undo beyond the limit: %d %v", status, answer)
	}
	r.limit("", apitest.Object{"StoredBytes": 130_000})
	if status, answer := r.limited.Sluice(t, "UndoPurge", undo); status != http.StatusOK {
		t.Errorf("an undo within the limit: %d %v", status, answer)
	}
}

// An undone deletion does not restore more than an account may store: the kept messages always count.
func TestBytesOfADeletedQueueAreLimited(t *testing.T) {
	r := newTenants(t)
	url, other := r.queue(r.limited, "q"), r.queue(r.limited, "other")
	r.limit("", apitest.Object{"StoredBytes": 100_000})
	send := func(url string) error {
		body := strings.Repeat("x", 40_000)
		_, err := r.limited.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
		return err
	}
	r.want("40,000 of 100,000 bytes", send(url), "")
	_, err := r.limited.SQS.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: &url})
	apitest.Must(t, 0, err)
	r.want("80,000", send(other), "")
	r.forward(time.Second)
	eventually.Succeeds(t, func() error {
		if n := r.used("StoredBytes"); n < 80_000 || n > 81_000 {
			return fmt.Errorf("%v bytes are known, want 80,000 and some", n)
		}
		return nil
	})
	r.want("120,000", send(other), "OverLimit")
	if status, answer := r.limited.Sluice(t, "UndoDelete", apitest.Object{"QueueName": "q"}); status != http.StatusOK {
		t.Errorf("%d %v", status, answer)
	}
	r.want("120,000 after the undo", send(other), "OverLimit")
}

// policyForAll lets everyone send to a queue, topics included.
const policyForAll = `{"Statement":[{"Effect":"Allow","Principal":"*","Action":"sqs:SendMessage","Resource":"*"}]}`

// openQueue creates a queue that everyone may send to, and returns its URL and ARN.
func (r *tenants) openQueue(a *apitest.Actor, account, name string) (url, arn string) {
	r.Helper()
	url = r.queue(a, name)
	_, err := a.SQS.SetQueueAttributes(r.Context(), &sqs.SetQueueAttributesInput{
		QueueUrl: &url, Attributes: map[string]string{"Policy": policyForAll},
	})
	apitest.Must(r.T, 0, err)
	return url, "arn:aws:sqs:us-east-1:" + account + ":" + name
}

func (r *tenants) subscribe(a *apitest.Actor, topic, queue, dead string) {
	r.Helper()
	in := &sns.SubscribeInput{
		TopicArn: &topic, Protocol: aws.String("sqs"), Endpoint: &queue,
		Attributes: map[string]string{"RawMessageDelivery": "true"},
	}
	if dead != "" {
		in.Attributes["RedrivePolicy"] = `{"deadLetterTargetArn":"` + dead + `"}`
	}
	_, err := a.SNS.Subscribe(r.Context(), in)
	apitest.Must(r.T, 0, err)
}

func (r *tenants) publish(a *apitest.Actor, topic string) error {
	_, err := a.SNS.Publish(r.Context(), &sns.PublishInput{TopicArn: &topic, Message: aws.String("m")})
	return err
}

// has checks that a queue has this many messages, and leaves them there.
func (r *tenants) has(a *apitest.Actor, url string, want int) {
	r.Helper()
	out, err := a.SQS.GetQueueAttributes(r.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []sqstypes.QueueAttributeName{"All"},
	})
	if got := apitest.Must(r.T, out, err).Attributes["ApproximateNumberOfMessages"]; got != fmt.Sprint(want) {
		r.Errorf("%s has %s messages, want %d", url, got, want)
	}
}

// When a topic sends to a queue of another account that is at its storage limit, the message goes to the dead-letter
// queue of the subscription, or is dropped if there is none. The publisher and the queues of other accounts are not
// affected.
func TestTopicsDoNotFillAnotherAccount(t *testing.T) {
	r := newTenants(t)
	topic := r.topic(r.unlimited, "t")
	_, err := r.unlimited.SNS.AddPermission(t.Context(), &sns.AddPermissionInput{
		TopicArn: &topic, Label: aws.String("all"), AWSAccountId: []string{apitest.OtherAccount},
		ActionName: []string{"Subscribe"},
	})
	apitest.Must(t, 0, err)
	full, fullARN := r.openQueue(r.limited, apitest.OtherAccount, "full")
	asked, askedARN := r.openQueue(r.limited, apitest.OtherAccount, "asked")
	fine, fineARN := r.openQueue(r.unlimited, third, "fine")
	dead, deadARN := r.openQueue(r.unlimited, third, "dead")
	r.subscribe(r.limited, topic, fullARN, "")
	r.subscribe(r.unlimited, topic, fineARN, "")
	r.subscribe(r.unlimited, topic, askedARN, deadARN) // which the other account must confirm
	got, err := r.receive(r.limited, asked)
	if err != nil || len(got) != 1 {
		t.Fatal(len(got), err)
	}
	var request struct{ Token string }
	apitest.Must(t, 0, json.Unmarshal([]byte(*got[0].Body), &request))
	_, err = r.limited.SNS.ConfirmSubscription(t.Context(), &sns.ConfirmSubscriptionInput{
		TopicArn: &topic, Token: &request.Token,
	})
	apitest.Must(t, 0, err)
	_, err = r.limited.SQS.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{
		QueueUrl: &asked, ReceiptHandle: got[0].ReceiptHandle,
	})
	apitest.Must(t, 0, err)

	r.limit("", apitest.Object{"StoredMessages": 4})
	for range 5 {
		r.want("a publication", r.publish(r.unlimited, topic), "")
	}
	r.has(r.limited, full, 2)
	r.has(r.limited, asked, 2)
	r.has(r.unlimited, fine, 5)
	r.has(r.unlimited, dead, 3)
}

// If the topic's own account has reached its storage limit, the publisher is refused, and no queue gets the message.
func TestTopicsDoNotFillTheirOwnAccount(t *testing.T) {
	r := newTenants(t)
	topic := r.topic(r.limited, "t")
	own, ownARN := r.openQueue(r.limited, apitest.OtherAccount, "own")
	another, anotherARN := r.openQueue(r.limited, apitest.OtherAccount, "another")
	r.subscribe(r.limited, topic, ownARN, anotherARN)
	r.subscribe(r.limited, topic, anotherARN, "")
	r.limit("", apitest.Object{"StoredMessages": 5})
	for range 2 {
		r.want("a publication", r.publish(r.limited, topic), "")
	}
	for range 3 {
		r.want("one for which there is no room", r.publish(r.limited, topic), "Throttling")
	}
	r.has(r.limited, own, 2)
	r.has(r.limited, another, 2)
	r.want("the last place", r.limited.Send(t, own), "")
	r.want("one more", r.limited.Send(t, own), "OverLimit")
}

func TestQueuesTopicsAndSubscriptionsAreLimited(t *testing.T) {
	r := newTenants(t)
	r.limit("", apitest.Object{"Queues": 2, "Topics": 1, "Subscriptions": 1})
	create := func(a *apitest.Actor, name string) error {
		_, err := a.SQS.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
		return err
	}
	topic := func(a *apitest.Actor, name string) error {
		_, err := a.SNS.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: &name})
		return err
	}
	subscribe := func(a *apitest.Actor, account, queue string) error {
		_, err := a.SNS.Subscribe(t.Context(), &sns.SubscribeInput{
			TopicArn: aws.String("arn:aws:sns:us-east-1:" + account + ":a"), Protocol: aws.String("sqs"),
			Endpoint: aws.String("arn:aws:sqs:us-east-1:" + account + ":" + queue),
		})
		return err
	}
	for _, name := range []string{"a", "b", "a"} {
		r.want("a queue", create(r.limited, name), "")
	}
	r.want("the third queue", create(r.limited, "c"), "OverLimit")
	r.want("a topic", topic(r.limited, "a"), "")
	r.want("the same topic", topic(r.limited, "a"), "")
	r.want("the second topic", topic(r.limited, "b"), "TopicLimitExceeded")
	r.want("a subscription", subscribe(r.limited, apitest.OtherAccount, "a"), "")
	r.want("the second subscription", subscribe(r.limited, apitest.OtherAccount, "b"), "SubscriptionLimitExceeded")
	for _, name := range []string{"a", "b", "c"} {
		r.want("a queue of the other account", create(r.unlimited, name), "")
		r.want("a topic of the other account", topic(r.unlimited, name), "")
		r.want("a subscription of the other account", subscribe(r.unlimited, third, name), "")
	}
	_, answer := r.operator.Sluice(t, "GetLimits", apitest.Object{"AccountId": apitest.OtherAccount})
	if want := (map[string]any{
		"Queues": 2.0, "Topics": 1.0, "Subscriptions": 1.0,
	}); !maps.Equal(answer["Used"].(map[string]any), want) {
		t.Errorf("used: %v", answer["Used"])
	}
	if want := (map[string]any{
		"Queues": 1.0, "Topics": 1.0, "Subscriptions": 1.0,
	}); !maps.Equal(answer["Refused"].(map[string]any), want) {
		t.Errorf("refused: %v", answer["Refused"])
	}
}

func TestRequestsUnderWayAreLimited(t *testing.T) {
	r := newTenants(t)
	url, free := r.queue(r.limited, "q"), r.queue(r.unlimited, "q")
	r.limit("", apitest.Object{"ConcurrentRequests": 1})
	done := make(chan error, 1)
	go func() {
		_, err := r.limited.SQS.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{
			QueueUrl: &url, WaitTimeSeconds: 20,
		})
		done <- err
	}()
	eventually.Succeeds(t, func() error {
		if n := r.used("ConcurrentRequests"); n != 1 {
			return fmt.Errorf("%v requests are under way", n)
		}
		return nil
	})
	_, err := r.receive(r.limited, url)
	r.want("SQS", err, throttled)
	_, err = r.limited.SNS.ListTopics(t.Context(), &sns.ListTopicsInput{})
	r.want("SNS", err, "Throttling")
	_, err = r.limited.CW.ListMetrics(t.Context(), &cloudwatch.ListMetricsInput{})
	if code := apitest.Code(err); code != "Throttling" && code != "ThrottlingException" {
		t.Errorf("CloudWatch: %q", code)
	}
	r.want("the other account", r.batch(r.unlimited, free, 1), "")
	r.want("a message by the other account", r.unlimitedTo(url), "AccessDenied")
	if status, answer := r.operator.Sluice(t, "DeleteLimits", apitest.Object{
		"AccountId": apitest.OtherAccount, "Names": []string{"ConcurrentRequests"},
	}); status != http.StatusOK {
		t.Errorf("%d %v", status, answer)
	}
	r.want("when there is no limit", r.limited.Send(t, url), "")
	r.want("the long poll", <-done, "")
}

// unlimitedTo sends to a queue of the limited account, which does not allow it.
func (r *tenants) unlimitedTo(url string) error { return r.unlimited.Send(r.T, url) }

// Invalid limits are refused as a whole and change nothing.
func TestLimitsThatMakeNoSense(t *testing.T) {
	r := newTenants(t)
	r.limit("", apitest.Object{"Queues": 7})
	for _, tc := range []struct {
		op     string
		in     apitest.Object
		status int
		words  string
	}{
		{"SetLimits", apitest.Object{"Limits": apitest.Object{"Queues": 1}}, 400, "accountId"},
		{"SetLimits", apitest.Object{"AccountId": "bob", "Limits": apitest.Object{"Queues": 1}}, 400, "12 digits"},
		{"SetLimits", apitest.Object{"AccountId": "444444444444", "Limits": apitest.Object{"Queues": 1}}, 404,
			"does not exist"},
		{"SetLimits",
			apitest.Object{
				"AccountId": apitest.OtherAccount, "UserName": "nobody", "Limits": apitest.Object{"SendsPerSecond": 1},
			}, 404, "has no user"},
		{"SetLimits", apitest.Object{"AccountId": apitest.OtherAccount}, 400, "Limits is empty"},
		{"SetLimits",
			apitest.Object{"AccountId": apitest.OtherAccount, "Limits": apitest.Object{"Queues": 1, "Dogs": 1}}, 400,
			"is no limit; there are SendsPerSecond, "},
		{"SetLimits",
			apitest.Object{"AccountId": apitest.OtherAccount, "Limits": apitest.Object{"Queues": 1, "Topics": -1}}, 400,
			"Topics is -1; it must be between 0 and"},
		{"SetLimits",
			apitest.Object{"AccountId": apitest.OtherAccount, "Limits": apitest.Object{"ConcurrentRequests": 0}}, 400,
			"it must be between 1 and"},
		{"SetLimits",
			apitest.Object{"AccountId": apitest.OtherAccount, "Limits": apitest.Object{"StoredBytes": 1 << 51}}, 400,
			"it must be between 0 and"},
		{"DeleteLimits", apitest.Object{"AccountId": apitest.OtherAccount, "Names": []string{"Queues", "Dogs"}}, 400,
			"is no limit"},
		{"GetLimits", apitest.Object{"AccountId": "444444444444"}, 404, "does not exist"},
		{"ListLimits", apitest.Object{"NextToken": "x"}, 400, "NextToken"},
	} {
		status, answer := r.operator.Sluice(t, tc.op, tc.in)
		if status != tc.status || !strings.Contains(fmt.Sprint(answer), tc.words) {
			t.Errorf("%s %v: %d %v; want %d and %q", tc.op, tc.in, status, answer, tc.status, tc.words)
		}
	}
	if got := r.listed(); !slices.Equal(got, []string{apitest.OtherAccount + "/ map[Queues:7]"}) {
		t.Errorf("afterwards: %q", got)
	}
}

// Only the operator sets limits. Users of the limited account cannot, not even with a policy that allows everything.
func TestTenantsCannotChangeTheirLimits(t *testing.T) {
	r := newTenants(t)
	r.limit("", apitest.Object{"Queues": 7})
	admin, _ := r.limited.User(t, "admin", apitest.Allow("*", "*"))
	operators, _ := r.operator.User(t, "ops", apitest.Allow("sluice:*Limits", "*"))
	for _, op := range []string{"SetLimits", "DeleteLimits", "GetLimits", "ListLimits"} {
		in := apitest.Object{"AccountId": apitest.OtherAccount, "Limits": apitest.Object{"Queues": 100}}
		for name, a := range map[string]*apitest.Actor{
			"the root": r.limited, "an administrator": admin, "a stranger": apitest.Stranger(r.server.Endpoint()),
		} {
			if status, answer := a.Sluice(t, op, in); status != http.StatusForbidden {
				t.Errorf("%s: %s: %d %v", op, name, status, answer)
			}
		}
	}
	if got := r.listed(); !slices.Equal(got, []string{apitest.OtherAccount + "/ map[Queues:7]"}) {
		t.Errorf("afterwards: %q", got)
	}
	if status, answer := operators.Sluice(t, "GetLimits", apitest.Object{
		"AccountId": apitest.OtherAccount,
	}); status != http.StatusOK {
		t.Errorf("a user of the operator's account who may: %d %v", status, answer)
	}
}

// The limits of an account are deleted with it, and recorded in the trail like every change.
func TestLimitsOfADeletedAccount(t *testing.T) {
	r := newTenants(t)
	const short = "444444444444"
	account := apitest.Object{"AccountId": short}
	for range 2 {
		if status, answer := r.operator.Sluice(t, "CreateAccount", account); status != http.StatusOK {
			t.Fatalf("%d %v", status, answer)
		}
		if status, answer := r.operator.Sluice(t, "GetLimits", account); status != http.StatusOK ||
			len(answer["Limits"].(map[string]any)) != 0 {
			t.Errorf("a new account: %d %v", status, answer)
		}
		in := apitest.Object{"AccountId": short, "Limits": apitest.Object{"Queues": 1}}
		if status, answer := r.operator.Sluice(t, "SetLimits", in); status != http.StatusOK {
			t.Errorf("%d %v", status, answer)
		}
		if status, body := call(t, r.server, r.operator, "DeleteAccount",
			`{"AccountId":"`+short+`"}`); status != http.StatusOK {
			t.Errorf("%d %s", status, body)
		}
	}
	if got := r.listed(); len(got) != 0 {
		t.Errorf("afterwards: %q", got)
	}
}
