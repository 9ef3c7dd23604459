package command

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/aws/signature"
)

// client calls a running server as the owner of an access key.
type client struct {
	endpoints []endpoint // the one that answered last comes first
	signer    signature.Signer
	keys      string // of the signer
	http      *http.Client
}

// apiError is a refusal by the server.
type apiError struct{ Code, Message string }

func (e *apiError) Error() string { return e.Code + ": " + e.Message }

// ErrorCode returns the code of the refusal.
func (e *apiError) ErrorCode() string { return e.Code }

const (
	callTimeout = 60 * time.Second // a long poll takes 20
	maxAnswer   = 64 << 20
)

// iam calls an operation of IAM; see query.
func (c *client) iam(ctx context.Context, action string, out any, params ...string) error {
	return c.query(ctx, "iam", "2010-05-08", action, out, params...)
}

// sts calls an operation of STS; see query.
func (c *client) sts(ctx context.Context, action string, out any, params ...string) error {
	return c.query(ctx, "sts", "2011-06-15", action, out, params...)
}

// sns calls an operation of SNS; see query.
func (c *client) sns(ctx context.Context, action string, out any, params ...string) error {
	return c.query(ctx, "sns", "2010-03-31", action, out, params...)
}

// query calls an operation in the Query protocol. params are alternating names and values; out receives the result, by
// the rules of encoding/xml, and may be nil.
func (c *client) query(ctx context.Context, service, version, action string, out any, params ...string) error {
	form := url.Values{"Action": {action}, "Version": {version}}
	for i := 0; i < len(params); i += 2 {
		form.Set(params[i], params[i+1])
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}
	body, err := c.call(ctx, service, header, []byte(form.Encode()), xmlRefusal)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	if out == nil {
		return nil
	}
	return xml.Unmarshal(body, out)
}

// sluice calls one of Sluice's own operations. out may be nil.
func (c *client) sluice(ctx context.Context, action string, in, out any) error {
	return c.callJSON(ctx, "sluice", "Sluice", action, in, out)
}

// sqs calls an operation of SQS. out may be nil.
func (c *client) sqs(ctx context.Context, action string, in, out any) error {
	return c.callJSON(ctx, "sqs", "AmazonSQS", action, in, out)
}

func (c *client) callJSON(ctx context.Context, service, target, action string, in, out any) error {
	text, err := json.Marshal(in)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"application/x-amz-json-1.0"}, "X-Amz-Target": {target + "." + action}}
	body, err := c.call(ctx, service, header, text, jsonRefusal)
	if err != nil {
		return fmt.Errorf("%s: %w", action, err)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(body, out)
}

func (c *client) call(
	ctx context.Context,
	service string,
	header http.Header,
	body []byte,
	refusal func([]byte) *apiError,
) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := c.send(ctx, http.MethodPost, "/", service, header, body)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return answer, nil
	}
	return nil, c.refused(response, answer, refusal)
}

// download writes the server's answer at a path, without a time limit.
func (c *client) download(ctx context.Context, path string, w io.Writer) (n int64, err error) {
	response, err := c.send(ctx, http.MethodGet, path, "sluice", make(http.Header), nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		if err != nil {
			return 0, err
		}
		return 0, c.refused(response, answer, jsonRefusal)
	}
	return io.Copy(w, response.Body)
}

// send sends a signed request to the first reachable endpoint. A request that may have arrived at one endpoint is not
// sent to another.
func (c *client) send(
	ctx context.Context, method, path, service string, header http.Header, body []byte,
) (*http.Response, error) {
	var failures []error
	for i, e := range c.endpoints {
		connected := false
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
			connected = true
		}})
		r, err := http.NewRequestWithContext(traced, method, e.url+path, bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e, err)
		}
		r.Header = header.Clone()
		r.Header.Set("User-Agent", "sluice") // which operators see: in the list of consumers, and in the trail
		c.signer.Sign(r, service, body, time.Now())
		response, err := c.http.Do(r)
		if err == nil {
			c.endpoints = slices.Concat(c.endpoints[i:], c.endpoints[:i])
			return response, nil
		}
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // without the method and the URL, which e names
		}
		failures = append(failures, fmt.Errorf("%s: %w", e, err))
		if connected || ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failures...)
}

// refused returns the error in an answer.
func (c *client) refused(r *http.Response, answer []byte, refusal func([]byte) *apiError) error {
	e := refusal(answer)
	switch {
	case e.Code == "":
		return fmt.Errorf("the server answers %s: %.200q", r.Status, answer)
	case slices.Contains(wrongKeys, e.Code):
		return fmt.Errorf("%w (the keys are from %s)", e, c.keys)
	}
	return e
}

// wrongKeys are the error codes that concern the keys of a request.
var wrongKeys = []string{
	"InvalidClientTokenId", "InvalidAccessKeyId", "SignatureDoesNotMatch", "UnrecognizedClientException",
	"InvalidSignatureException", "ExpiredToken", "InvalidSecurity", "MissingAuthenticationToken",
}

// xmlRefusal parses an error of the Query protocol. It needs a code.
func xmlRefusal(body []byte) *apiError {
	var e struct{ Error apiError }
	if xml.Unmarshal(body, &e) != nil {
		return new(apiError)
	}
	return &e.Error
}

// jsonRefusal parses an error of AWS JSON. It needs a code.
func jsonRefusal(body []byte) *apiError {
	var e struct {
		Type    string `json:"__type"`
		Message string // also as "message"
	}
	if json.Unmarshal(body, &e) != nil {
		return new(apiError)
	}
	return &apiError{e.Type[strings.IndexByte(e.Type, '#')+1:], e.Message}
}
