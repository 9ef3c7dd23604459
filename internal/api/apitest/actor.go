package apitest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"github.com/sluicemq/sluice/internal/auth/identity"
)

// Actor is a caller with keys, and the SDK's clients of all services, which do not retry.
type Actor struct {
	IAM *iam.Client
	STS *sts.Client
	SQS *sqs.Client
	SNS *sns.Client
	CW  *cloudwatch.Client

	Keys aws.Credentials

	endpoint string
	now      func() time.Time
}

// NewActor returns the clients of a caller with these keys, which sign by the clock now; nil is time.Now.
func NewActor(endpoint, keyID, secret, token string, now func() time.Time) *Actor {
	if now == nil {
		now = time.Now
	}
	own := aws.Credentials{AccessKeyID: keyID, SecretAccessKey: secret, SessionToken: token}
	keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return own, nil })
	const region = "us-east-1"
	url, signer, no := aws.String(endpoint), clocked{now, v4.NewSigner()}, aws.NopRetryer{}
	return &Actor{
		IAM: iam.New(iam.Options{
			Region: region, BaseEndpoint: url, Credentials: keys, Retryer: no, HTTPSignerV4: signer,
			HTTPClient: HTTPClient(),
		}),
		STS: sts.New(sts.Options{
			Region: region, BaseEndpoint: url, Credentials: keys, Retryer: no, HTTPSignerV4: signer,
			HTTPClient: HTTPClient(),
		}),
		SNS: sns.New(sns.Options{
			Region: region, BaseEndpoint: url, Credentials: keys, Retryer: no, HTTPSignerV4: signer,
			HTTPClient: HTTPClient(),
		}),
		CW: cloudwatch.New(cloudwatch.Options{
			Region: region, BaseEndpoint: url, Credentials: keys, Retryer: no, HTTPSignerV4: signer,
			HTTPClient: HTTPClient(),
		}),
		SQS: sqs.New(sqs.Options{
			Region: region, BaseEndpoint: url, Credentials: keys, Retryer: no, HTTPSignerV4: signer,
			HTTPClient: HTTPClient(),
		}),
		Keys:     own,
		endpoint: endpoint, now: now,
	}
}

// RootActor returns the clients of an account's root.
func RootActor(endpoint string, root identity.Credential) *Actor {
	return NewActor(endpoint, root.AccessKeyID, root.Secret, "", nil)
}

// clocked signs requests by a clock that a test may have moved.
type clocked struct {
	now    func() time.Time
	signer *v4.Signer
}

// SignerAt returns a signer of requests that uses a clock.
func SignerAt(now func() time.Time) interface {
	SignHTTP(
		context.Context, aws.Credentials, *http.Request, string, string, string, time.Time, ...func(*v4.SignerOptions),
	) error
} {
	return clocked{now, v4.NewSigner()}
}

// SignHTTP signs by the clock.
func (c clocked) SignHTTP(
	ctx context.Context, keys aws.Credentials, r *http.Request, hash, service, region string, _ time.Time,
	o ...func(*v4.SignerOptions),
) error {
	return c.signer.SignHTTP(ctx, keys, r, hash, service, region, c.now(), o...)
}

// Temporary returns the clients of a caller with temporary keys.
func (a *Actor) Temporary(c *ststypes.Credentials) *Actor {
	return NewActor(a.endpoint, *c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken, a.now)
}

// User creates a user with a key, and with the document as an inline policy if it is not empty.
func (a *Actor) User(t *testing.T, name, document string) (user *Actor, keyID string) {
	t.Helper()
	u, err := a.IAM.CreateUser(t.Context(), &iam.CreateUserInput{UserName: &name})
	Must(t, u, err)
	if document != "" {
		out, err := a.IAM.PutUserPolicy(
			t.Context(),
			&iam.PutUserPolicyInput{UserName: &name, PolicyName: aws.String("own"), PolicyDocument: &document},
		)
		Must(t, out, err)
	}
	k, err := a.IAM.CreateAccessKey(t.Context(), &iam.CreateAccessKeyInput{UserName: &name})
	key := Must(t, k, err).AccessKey
	return NewActor(a.endpoint, *key.AccessKeyId, *key.SecretAccessKey, "", a.now), *key.AccessKeyId
}

// Send sends a message to the queue with that URL.
func (a *Actor) Send(t *testing.T, url string) error {
	_, err := a.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("m")})
	return err
}

// Code returns the code of an SDK's refusal, or "" if there was none.
func Code(err error) string {
	if e, ok := errors.AsType[interface {
		error
		ErrorCode() string // as all refusals that the SDKs know
	}](err); ok {
		return e.ErrorCode()
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// Allow is a policy with one statement.
func Allow(actions, resource string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":[%q],"Resource":%q}]}`, actions, resource)
}

// Trusting is a role's trust policy with one statement.
func Trusting(principal string) string {
	return fmt.Sprintf(
		`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":%q},"Action":"sts:AssumeRole"}]}`,
		principal,
	)
}
