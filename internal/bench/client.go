package bench

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Target is a service and the keys to use with it.
type Target struct {
	// Endpoints are http or https URLs of the service. The connections are spread over them; an unreachable one is
	// skipped for the next.
	Endpoints []string
	Roots     *x509.CertPool // whose certificates are accepted; nil: the system's
	Region    string
	KeyID     string
	Secret    string
	Token     string // session token, empty for long-term keys
}

// client makes calls over one connection, which it opens on demand. It belongs to one goroutine.
type client struct {
	target    Target
	endpoints []place // to be tried in turn
	place             // that of conn

	readBuffer int // bytes

	conn net.Conn
	in   *bufio.Reader
	out  []byte
	body bytes.Buffer

	day string // of the signing key
	key []byte
}

const (
	dialTimeout = 10 * time.Second
	callTimeout = 40 * time.Second // a long poll takes 20
	maxAnswer   = 64 << 20
)

// place is the address of an endpoint.
type place struct {
	host string // as in the Host header
	path string
	dial func(context.Context) (net.Conn, error)
}

// newClient returns a client that begins with any of the endpoints.
func newClient(t Target) (*client, error) {
	c := &client{target: t, readBuffer: 32 << 10}
	for _, endpoint := range t.Endpoints {
		p, err := newPlace(endpoint, t.Roots)
		if err != nil {
			return nil, err
		}
		c.endpoints = append(c.endpoints, p)
	}
	if len(c.endpoints) == 0 {
		return nil, errors.New("no endpoint is given")
	}
	first := rand.IntN(len(c.endpoints))
	c.endpoints = slices.Concat(c.endpoints[first:], c.endpoints[:first])
	return c, nil
}

func newPlace(endpoint string, roots *x509.CertPool) (place, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return place{}, fmt.Errorf("endpoint %q: want an http or https URL", endpoint)
	}
	addr := u.Host
	if u.Port() == "" {
		addr = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	dialer := &net.Dialer{Timeout: dialTimeout}
	dial := dialer.DialContext
	if u.Scheme == "https" {
		dial = (&tls.Dialer{
			NetDialer: dialer, Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		}).DialContext
	}
	return place{
		host: u.Host, path: "/" + strings.Trim(u.Path, "/"),
		dial: func(ctx context.Context) (net.Conn, error) { return dial(ctx, "tcp", addr) },
	}, nil
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close() // the connection is not used again
		c.conn = nil
	}
}

// apiError is a refusal of a call by the service.
type apiError struct {
	status int
	code   string
	body   string
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s: %s", e.status, e.code, e.body) }

// open opens the connection, unless it is open, to the first endpoint that can be reached.
func (c *client) open(ctx context.Context) error {
	if c.conn != nil {
		return nil
	}
	var failures []error
	for i, p := range c.endpoints {
		conn, err := p.dial(ctx)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		c.endpoints = slices.Concat(c.endpoints[i:], c.endpoints[:i])
		c.place, c.conn = p, conn
		c.in = bufio.NewReaderSize(conn, c.readBuffer)
		return nil
	}
	return errors.Join(failures...)
}

// call makes one signed call of AWS JSON 1.0 and returns the body of the answer, which is valid until the next call.
// After an error of the connection it is unknown whether the call was executed.
func (c *client) call(ctx context.Context, operation string, body []byte) ([]byte, error) {
	if err := c.open(ctx); err != nil {
		return nil, err
	}
	answer, status, code, err := c.exchange(ctx, operation, body)
	if err != nil {
		c.close()
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	if status != 200 {
		return nil, fmt.Errorf("%s: %w", operation, &apiError{status, code, string(answer)})
	}
	return answer, nil
}

func (c *client) exchange(
	ctx context.Context, operation string, body []byte,
) (answer []byte, status int, code string, err error) {
	// The end of ctx ends the call at once, even in the middle of a long poll.
	conn := c.conn // c may have given it up when ctx ends
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := c.conn.SetDeadline(time.Now().Add(callTimeout)); err != nil {
		return nil, 0, "", err
	}
	if ctx.Err() != nil {
		return nil, 0, "", ctx.Err()
	}
	c.out = c.appendRequest(c.out[:0], operation, body, time.Now().UTC())
	if _, err := c.conn.Write(c.out); err != nil {
		return nil, 0, "", err
	}
	return c.readAnswer()
}

const contentType = "application/x-amz-json-1.0"

// appendRequest appends a whole request, signed with Signature Version 4.
func (c *client) appendRequest(b []byte, operation string, body []byte, now time.Time) []byte {
	date := now.Format("20060102T150405Z")
	day := date[:8]
	scope := day + "/" + c.target.Region + "/sqs/aws4_request"
	if c.day != day {
		key := []byte("AWS4" + c.target.Secret)
		for _, part := range []string{day, c.target.Region, "sqs", "aws4_request"} {
			key = sum(key, part)
		}
		c.day, c.key = day, key
	}
	signed, token := "content-type;host;x-amz-date;x-amz-target", ""
	if c.target.Token != "" {
		signed = "content-type;host;x-amz-date;x-amz-security-token;x-amz-target"
		token = "x-amz-security-token:" + c.target.Token + "\n"
	}
	bodySum := sha256.Sum256(body)
	canonical := "POST\n" + c.path + "\n\ncontent-type:" + contentType + "\nhost:" + c.host + "\nx-amz-date:" + date +
		"\n" + token + "x-amz-target:AmazonSQS." + operation + "\n\n" + signed + "\n" + hex.EncodeToString(bodySum[:])
	canonicalSum := sha256.Sum256([]byte(canonical))
	signature := sum(c.key, "AWS4-HMAC-SHA256\n"+date+"\n"+scope+"\n"+hex.EncodeToString(canonicalSum[:]))

	b = append(b, "POST "+c.path+" HTTP/1.1\r\nHost: "+c.host+"\r\nContent-Type: "+contentType+
		"\r\nX-Amz-Target: AmazonSQS."+operation+"\r\nX-Amz-Date: "+date+"\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	if c.target.Token != "" {
		b = append(b, "\r\nX-Amz-Security-Token: "+c.target.Token...)
	}
	b = append(b, "\r\nAuthorization: AWS4-HMAC-SHA256 Credential="+c.target.KeyID+"/"+scope+
		", SignedHeaders="+signed+", Signature="...)
	b = hex.AppendEncode(b, signature)
	b = append(b, "\r\n\r\n"...)
	return append(b, body...)
}

func sum(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func (c *client) readAnswer() (answer []byte, status int, code string, err error) {
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, 0, "", err
	}
	defer r.Body.Close()
	c.body.Reset()
	if _, err := c.body.ReadFrom(io.LimitReader(r.Body, maxAnswer)); err != nil {
		return nil, 0, "", err
	}
	if r.Close {
		c.close()
	}
	code, _, _ = strings.Cut(r.Header.Get("X-Amzn-Query-Error"), ";")
	return c.body.Bytes(), r.StatusCode, code, nil
}
