package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/sluicemq/sluice/internal/aws/signature"
)

// Client calls a server of any version, at a time that need not be that of the machine.
type Client struct {
	Endpoint string
	ID       string // of the access key
	Secret   string
	Ahead    time.Duration // how far the server's clock is ahead of the machine's
}

// Refusal is what a server has refused a call with.
type Refusal struct {
	Status int
	Body   string
}

// Error implements error.
func (r *Refusal) Error() string { return fmt.Sprintf("status %d: %.500s", r.Status, r.Body) }

// SQS calls an operation of SQS.
func (c *Client) SQS(ctx context.Context, action string, in, out any) error {
	return c.json(ctx, "sqs", "AmazonSQS."+action, in, out)
}

// CloudWatch calls an operation of CloudWatch.
func (c *Client) CloudWatch(ctx context.Context, action string, in, out any) error {
	return c.json(ctx, "monitoring", "GraniteServiceVersion20100801."+action, in, out)
}

// CloudTrail calls an operation of CloudTrail.
func (c *Client) CloudTrail(ctx context.Context, action string, in, out any) error {
	return c.json(ctx, "cloudtrail", "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101."+action, in, out)
}

// Sluice calls an operation of Sluice's own.
func (c *Client) Sluice(ctx context.Context, action string, in, out any) error {
	return c.json(ctx, "sluice", "Sluice."+action, in, out)
}

func (c *Client) json(ctx context.Context, service, target string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer, err := c.call(
		ctx, service, http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {target}}, body,
	)
	if err != nil {
		return fmt.Errorf("%s: %w", target, err)
	}
	if out == nil || len(answer) == 0 {
		return nil
	}
	return json.Unmarshal(answer, out)
}

// versions are the API versions of the services that speak only the Query protocol.
var versions = map[string]string{"iam": "2010-05-08", "sns": "2010-03-31", "sts": "2011-06-15"}

// Query calls an operation of IAM, SNS or STS.
func (c *Client) Query(ctx context.Context, service, action string, out any, params ...string) error {
	form := url.Values{"Action": {action}, "Version": {versions[service]}}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	answer, err := c.call(
		ctx, service, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()),
	)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	if out == nil {
		return nil
	}
	return xml.Unmarshal(answer, out)
}

func (c *Client) call(ctx context.Context, service string, header http.Header, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint+"/", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	signer := signature.Signer{AccessKeyID: c.ID, Secret: c.Secret, Region: "us-east-1"}
	signer.Sign(r, service, body, time.Now().Add(c.Ahead))
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, &Refusal{response.StatusCode, string(answer)}
	}
	return answer, nil
}
