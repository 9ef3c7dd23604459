package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/topic/egress"
	"github.com/sluicemq/sluice/internal/topic/envelope"
)

const (
	// httpTimeout is how long an endpoint has to answer, as on AWS.
	httpTimeout = 15 * time.Second
	// maxAnswer is how much of an answer's body is read, so that the connection can be reused.
	maxAnswer = 64 << 10
	// maxAnswerHeader limits how much of an answer is read before its body.
	maxAnswerHeader = 64 << 10
	agent           = "Amazon Simple Notification Service Agent"
)

var errNoAnswer = errors.New("the endpoint has not answered in time")

// HTTP delivers by HTTP and HTTPS.
type HTTP struct {
	rules   *egress.Rules
	client  *http.Client
	timeout time.Duration // httpTimeout, except in tests
}

// NewHTTP returns a sender that connects only to addresses that are open. It uses no proxy, not even one from the
// environment: a proxy would connect to unchecked addresses.
func NewHTTP(rules *egress.Rules) *HTTP {
	return &HTTP{rules: rules, timeout: httpTimeout, client: &http.Client{
		Transport: &http.Transport{
			DialContext: rules.DialContext, ForceAttemptHTTP2: true, DisableCompression: true,
			TLSHandshakeTimeout: httpTimeout, ResponseHeaderTimeout: httpTimeout, ExpectContinueTimeout: time.Second,
			MaxResponseHeaderBytes: maxAnswerHeader, MaxIdleConns: 256, MaxIdleConnsPerHost: atOnce,
			IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Check implements Sender. A name is not resolved: its addresses are checked at each delivery.
func (h *HTTP) Check(protocol, endpoint string) error {
	u, err := url.Parse(endpoint)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return errors.New("the endpoint is not a URL such as https://hooks.example/orders")
	case !strings.EqualFold(u.Scheme, protocol):
		return errors.New("Endpoint must match the specified protocol") //nolint:staticcheck // AWS's sentence
	case u.Fragment != "":
		return errors.New("the endpoint has a fragment, which is not sent to a server")
	}
	return h.rules.CheckHost(u.Hostname())
}

// Timeout implements Sender.
func (h *HTTP) Timeout() time.Duration { return h.timeout }

// Send implements Sender.
func (h *HTTP) Send(ctx context.Context, t *Target, m *Message) error {
	ctx, cancel := context.WithTimeoutCause(ctx, h.timeout, errNoAnswer)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Endpoint, strings.NewReader(m.Body))
	if err != nil {
		return Permanent(errors.New("the endpoint is not a URL")) // of which the error would show the password
	}
	setHeader(r.Header, t, m)
	answer, err := h.client.Do(r)
	if err != nil {
		if cause := context.Cause(ctx); errors.Is(cause, errNoAnswer) {
			return fmt.Errorf("%w: %s", cause, h.timeout)
		}
		return withoutURL(err)
	}
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // the status tells whether the endpoint has the message
	_ = answer.Body.Close()
	return judge(answer.StatusCode)
}

func setHeader(h http.Header, t *Target, m *Message) {
	h.Set("Content-Type", t.Policy.ContentType)
	h.Set("User-Agent", agent)
	h.Set("Accept-Encoding", "gzip,deflate") // as on AWS; the body of the answer is ignored
	h.Set("Connection", "Keep-Alive")
	h.Set("x-amz-sns-message-type", m.Type)
	h.Set("x-amz-sns-message-id", m.ID)
	h.Set("x-amz-sns-topic-arn", t.Topic)
	if m.Type != envelope.TypeSubscribe {
		h.Set("x-amz-sns-subscription-arn", t.Subscription)
	}
	if m.Raw {
		h.Set("x-amz-sns-rawdelivery", "true")
	}
	if m.Trace != "" {
		h.Set("X-Amzn-Trace-Id", m.Trace)
	}
}

// judge interprets a status. It does not follow a redirect: the new address was not subscribed.
func judge(status int) error {
	if status >= 200 && status <= 299 {
		return nil
	}
	err := fmt.Errorf(
		"the endpoint has answered %s", strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status))),
	)
	if status == http.StatusTooManyRequests || status >= 500 || status < 200 {
		return err
	}
	return Permanent(err)
}

// withoutURL removes the URL from an error of http.Client, because it may contain a password.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
