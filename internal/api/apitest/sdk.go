package apitest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/sluicemq/sluice/internal/auth/identity"
)

// SDK is a client as most users have it, which makes a test fail rather than
// return errors.
type SDK struct {
	*sqs.Client
	T   *testing.T
	Ctx context.Context
}

// NewSDK returns a client of the server at an endpoint. It does not retry.
func NewSDK(
	t *testing.T, endpoint string, cred identity.Credential, region string, options ...func(*sqs.Options),
) *SDK {
	client := sqs.New(sqs.Options{
		Region: region, BaseEndpoint: aws.String(endpoint),
		Retryer: aws.NopRetryer{}, HTTPClient: HTTPClient(),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: cred.AccessKeyID, SecretAccessKey: cred.Secret}, nil
		}),
	}, options...)
	return &SDK{Client: client, T: t, Ctx: t.Context()}
}

func Must[T any](t *testing.T, out T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (c *SDK) Create(name string, attributes map[string]string) *string {
	c.T.Helper()
	out, err := c.CreateQueue(c.Ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	return Must(c.T, out, err).QueueUrl
}

func (c *SDK) Send(u *string, body string) *sqs.SendMessageOutput {
	c.T.Helper()
	out, err := c.SendMessage(c.Ctx, &sqs.SendMessageInput{QueueUrl: u, MessageBody: &body})
	return Must(c.T, out, err)
}

// Receive returns up to ten messages that are available now.
func (c *SDK) Receive(u *string, options ...func(*sqs.ReceiveMessageInput)) []types.Message {
	c.T.Helper()
	in := &sqs.ReceiveMessageInput{
		QueueUrl:                    u,
		MaxNumberOfMessages:         10,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"},
		MessageAttributeNames:       []string{"All"},
	}
	for _, o := range options {
		o(in)
	}
	out, err := c.ReceiveMessage(c.Ctx, in)
	return Must(c.T, out, err).Messages
}

// Bodies receives messages and returns their bodies.
func (c *SDK) Bodies(u *string, options ...func(*sqs.ReceiveMessageInput)) []string {
	c.T.Helper()
	var out []string
	for _, m := range c.Receive(u, options...) {
		out = append(out, *m.Body)
	}
	return out
}

func Visible(seconds int32) func(*sqs.ReceiveMessageInput) {
	return func(in *sqs.ReceiveMessageInput) { in.VisibilityTimeout = seconds }
}

// ComesBack is an attribute of queues whose messages stay visible when they are
// received. The SDK cannot request that in a receive: it omits a timeout of 0.
var ComesBack = map[string]string{"VisibilityTimeout": "0"}

func (c *SDK) Delete(u *string, messages ...types.Message) {
	c.T.Helper()
	for _, m := range messages {
		_, err := c.DeleteMessage(c.Ctx, &sqs.DeleteMessageInput{QueueUrl: u, ReceiptHandle: m.ReceiptHandle})
		Must(c.T, 0, err)
	}
}

func (c *SDK) Attributes(u *string) map[string]string {
	c.T.Helper()
	out, err := c.GetQueueAttributes(c.Ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: u, AttributeNames: []types.QueueAttributeName{"All"},
	})
	return Must(c.T, out, err).Attributes
}

// Counts compares the three counters of a queue, which are exact.
func (c *SDK) Counts(u *string, visible, notVisible, delayed int) {
	c.T.Helper()
	a := c.Attributes(u)
	got := fmt.Sprint(
		a["ApproximateNumberOfMessages"], a["ApproximateNumberOfMessagesNotVisible"],
		a["ApproximateNumberOfMessagesDelayed"],
	)
	if want := fmt.Sprint(fmt.Sprint(visible), fmt.Sprint(notVisible), fmt.Sprint(delayed)); got != want {
		c.T.Errorf("visible, not visible and delayed are %s, want %s", got, want)
	}
}

func (c *SDK) ARN(u *string) string {
	c.T.Helper()
	return c.Attributes(u)["QueueArn"]
}

func Equal[T comparable](t *testing.T, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Refused checks that err has the SDK's type for one of SQS's errors, and the code of the Query protocol.
func Refused[E error](t *testing.T, err error, code string) {
	t.Helper()
	var typed E
	if !errors.As(err, &typed) || Code(err) != code {
		t.Errorf("got %v, want a %T with the code %s", err, typed, code)
	}
}

func (c *SDK) SendFIFO(u *string, group, dedup, body string) *sqs.SendMessageOutput {
	c.T.Helper()
	in := &sqs.SendMessageInput{QueueUrl: u, MessageBody: &body, MessageGroupId: &group}
	if dedup != "" {
		in.MessageDeduplicationId = &dedup
	}
	out, err := c.SendMessage(c.Ctx, in)
	return Must(c.T, out, err)
}

// SetPolicy gives a queue a policy of these statements.
func (c *SDK) SetPolicy(u *string, statements ...string) {
	c.T.Helper()
	text := `{"Version":"2012-10-17","Statement":[` + strings.Join(statements, ",") + `]}`
	if len(statements) == 0 {
		text = ""
	}
	_, err := c.SetQueueAttributes(c.Ctx, &sqs.SetQueueAttributesInput{
		QueueUrl: u, Attributes: map[string]string{"Policy": text},
	})
	Must(c.T, 0, err)
}

// TrySend sends a message and returns the error code, or "".
func (c *SDK) TrySend(u *string) string {
	c.T.Helper()
	_, err := c.SendMessage(c.Ctx, &sqs.SendMessageInput{QueueUrl: u, MessageBody: aws.String("m")})
	return c.Why(err)
}

// Why is how a refusal of access ends. Another error ends the test.
func (c *SDK) Why(err error) string {
	c.T.Helper()
	if err == nil {
		return ""
	}
	_, text, ok := strings.Cut(err.Error(), "AccessDenied: User: ")
	if !ok {
		c.T.Fatal(err)
	}
	for _, mark := range []string{" because ", " with "} {
		if i := strings.LastIndex(text, mark); i >= 0 {
			return text[i+1:]
		}
	}
	return text
}

func Second[T any](_ T, err error) error { return err }
