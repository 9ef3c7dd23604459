package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/sluicemq/sluice/internal/tool/excerpt"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

const (
	// attempts is the maximum number of attempts of a request, as in AWS's SDKs.
	attempts = 3
	// firstPause is how long to wait before the second attempt. Each further pause is twice as long.
	firstPause = 200 * time.Millisecond
	// maxAnswer is the maximum size of an answer's body in bytes: many times the longest file of a trail.
	maxAnswer = 256 << 20
	// maxRefusal is the maximum size of a refusal's body in bytes.
	maxRefusal = 64 << 10
)

// s3Client sends signed requests to a service that speaks S3. The few requests that are needed here do not justify the
// SDK's client, which is a tenth of the program.
type s3Client struct {
	endpoint *url.URL
	region   string
	keys     aws.CredentialsProvider
	signer   *v4.Signer
	http     aws.HTTPClient
}

func newS3Client(endpoint *url.URL, c aws.Config) s3Client {
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // S3 escapes a path once
	s := s3Client{endpoint: endpoint, region: c.Region, keys: c.Credentials, signer: signer, http: c.HTTPClient}
	if s.http == nil {
		s.http = http.DefaultClient
	}
	return s
}

// s3Request is a request on a bucket or an object in it.
type s3Request struct {
	method, bucket, key string
	query               url.Values
	header              http.Header
	body                []byte
	content             *Content // instead of body
}

// s3Answer is the service's answer to a successful request.
type s3Answer struct {
	header http.Header
	body   []byte
}

// s3Error is a refusal of the service.
type s3Error struct {
	status  int
	Code    string // empty: the answer had no body with a reason
	Message string
}

func (e *s3Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("S3 answers with status %d", e.status)
	}
	return fmt.Sprintf("S3 answers with status %d, %s: %s", e.status, e.Code, e.Message)
}

// again reports whether the same request may succeed a moment later.
func (e *s3Error) again() bool {
	return e.status >= 500 && e.status != http.StatusNotImplemented || e.status == http.StatusTooManyRequests ||
		e.Code == "RequestTimeout" || e.Code == "ConditionalRequestConflict"
}

// isUnknown reports whether the service does not have the operation.
func (e *s3Error) isUnknown() bool {
	return e.status == http.StatusNotImplemented || e.status == http.StatusMethodNotAllowed ||
		e.Code == "NotImplemented"
}

// do sends a request, and retries it if necessary: all requests may be repeated.
func (c *s3Client) do(ctx context.Context, r *s3Request) (*s3Answer, error) {
	return repeatedly(ctx, func() (*s3Answer, error) { return c.send(ctx, r) })
}

// open sends a request as do does, and returns the answer's body unread.
func (c *s3Client) open(ctx context.Context, r *s3Request) (io.ReadCloser, error) {
	return repeatedly(ctx, func() (io.ReadCloser, error) {
		response, err := c.ask(ctx, r)
		if err != nil {
			return nil, err
		}
		return response.Body, nil
	})
}

// repeatedly calls send until it succeeds, is refused permanently, or has reached the limit of attempts.
func repeatedly[T any](ctx context.Context, send func() (T, error)) (T, error) {
	for attempt, pause := 1, firstPause; ; attempt, pause = attempt+1, 2*pause {
		answer, err := send()
		refused, ok := errors.AsType[*s3Error](err)
		if err == nil || ok && !refused.again() || attempt == attempts || ctx.Err() != nil {
			return answer, err
		}
		if wait.For(ctx, pause) != nil {
			return answer, err
		}
	}
}

// ask sends a request once. It returns only successful responses, with a body to close.
func (c *s3Client) ask(ctx context.Context, r *s3Request) (*http.Response, error) {
	request, err := c.signed(ctx, r)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask S3: %w", err)
	}
	if response.StatusCode/100 != 2 {
		defer func() { _ = response.Body.Close() }()
		return nil, refusal(response)
	}
	return response, nil
}

func (c *s3Client) send(ctx context.Context, r *s3Request) (*s3Answer, error) {
	response, err := c.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("it is longer than %d bytes", maxAnswer)
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer of S3: %w", err)
	}
	return &s3Answer{response.Header, body}, nil
}

// refusal reads the reason for the service's refusal.
func refusal(response *http.Response) error {
	e := &s3Error{status: response.StatusCode}
	_ = xml.NewDecoder(io.LimitReader(response.Body, maxRefusal)).Decode(e) // the status says enough
	e.Code, e.Message = excerpt.Line(e.Code, maxReason), excerpt.Line(e.Message, maxReason)
	return e
}

// maxReason limits the characters of a refusal that logs repeat.
const maxReason = 200

// signed makes the HTTP request.
func (c *s3Client) signed(ctx context.Context, r *s3Request) (*http.Request, error) {
	at := *c.endpoint
	at.Path = strings.TrimSuffix(at.Path, "/") + "/" + r.bucket
	if r.key != "" {
		at.Path += "/" + r.key
	}
	at.RawPath, at.RawQuery = escapePath(at.Path), r.query.Encode()
	body, length, sum, err := r.payload()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, r.method, at.String(), body)
	if err != nil {
		return nil, fmt.Errorf("ask S3: %w", err)
	}
	request.ContentLength = length
	for name, values := range r.header {
		request.Header[name] = values
	}
	hash := hex.EncodeToString(sum[:])
	request.Header.Set("X-Amz-Content-Sha256", hash)
	keys, err := c.keys.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("find the keys for S3: %w", err)
	}
	if err := c.signer.SignHTTP(ctx, keys, request, hash, "s3", c.region, time.Now()); err != nil {
		return nil, fmt.Errorf("sign a request to S3: %w", err)
	}
	return request, nil
}

// payload returns what the request sends, with its length and hash.
func (r *s3Request) payload() (body io.Reader, length int64, sum [sha256.Size]byte, err error) {
	if r.content == nil {
		return bytes.NewReader(r.body), int64(len(r.body)), sha256.Sum256(r.body), nil
	}
	if r.content.Size == 0 {
		return http.NoBody, 0, r.content.SHA256, nil
	}
	body, err = r.content.Open()
	return body, r.content.Size, r.content.SHA256, err
}

// escapePath escapes all characters except slashes and unreserved ones, like the canonical request of a signature.
// url.URL escapes fewer.
func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(part), "+", "%20")
	}
	return strings.Join(parts, "/")
}
