package keyservice

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/tool/excerpt"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

const (
	attempts       = 3
	pause          = 100 * time.Millisecond
	attemptTimeout = 8 * time.Second
	maxAnswer      = 64 << 10 // bytes
)

// newClient returns a client of a service, which follows no redirects.
func newClient(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// call is a call of a service, which may be repeated.
type call struct {
	client *http.Client
	name   string // of the service
	method string // empty: POST
	url    string
	body   any
	// prepare adds what identifies the caller to a request with a body.
	prepare func(r *http.Request, body []byte) error
	// reason reads the answer of a service that refuses.
	reason func(a *answer) error
}

// answer is the answer to a call that was not successful.
type answer struct {
	status int
	body   []byte
}

// do makes the call, and decodes the answer into out. It repeats a call that has failed for reasons that may pass.
func (c *call) do(ctx context.Context, out any) error {
	for n := 1; ; n++ {
		err := c.once(ctx, out)
		if err == nil || keyring.IsRefusal(err) || n == attempts || wait.For(ctx, pause<<n) != nil {
			return err
		}
	}
}

func (c *call) once(ctx context.Context, out any) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	a, err := c.send(ctx)
	if err != nil {
		if keyring.IsRefusal(err) {
			return err
		}
		return fmt.Errorf("%w: %s: %w", keyring.ErrNoAnswer, c.name, err)
	}
	if a.status != http.StatusOK {
		return c.refusal(a)
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		// the answer may have a key
		return fmt.Errorf("%w: %s: its answer cannot be understood", keyring.ErrNoAnswer, c.name)
	}
	return nil
}

// refusal returns the error for an answer that is not a success.
func (c *call) refusal(a *answer) error {
	said := &statusError{c.name, a.status, excerpt.Line(string(a.body), maxReason)}
	if a.status >= http.StatusInternalServerError || a.status == http.StatusTooManyRequests {
		return fmt.Errorf("%w: %w", keyring.ErrNoAnswer, said)
	}
	if why := c.reason(a); why != nil {
		return fmt.Errorf("%w: %w", why, said)
	}
	return fmt.Errorf("%w: %w", keyring.ErrNoAnswer, said)
}

// statusError is the answer of a service that refuses.
type statusError struct {
	name   string
	status int
	text   string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s answers with status %d: %s", e.name, e.status, e.text)
}

// maxReason limits the characters of a refusal that errors repeat.
const maxReason = 200

func (c *call) send(ctx context.Context) (_ *answer, err error) {
	method, body := http.MethodPost, []byte(nil)
	if c.method != "" {
		method = c.method
	} else if body, err = json.Marshal(c.body); err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if err := c.prepare(r, body); err != nil {
		return nil, err
	}
	response, err := c.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = errors.New("its answer is too long")
	}
	return &answer{response.StatusCode, text}, err
}

func trimSlashes(s string) string { return strings.Trim(s, "/") }
