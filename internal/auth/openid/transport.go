package openid

import (
	"errors"
	"net/http"
	"time"
)

const (
	// requestTimeout limits one request to the provider.
	requestTimeout = 10 * time.Second
	// maxAnswer is the maximum size of a provider's answer, in bytes.
	maxAnswer = 512 << 10
	// maxHeader is the maximum size of its header.
	maxHeader = 64 << 10
)

// newClient returns a client for requests to the provider.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes = maxHeader
	return boundClient(t, requestTimeout, checkURL)
}

// boundClient returns a client whose requests go only to addresses that check accepts, within a short time.
func boundClient(t http.RoundTripper, timeout time.Duration, check func(string) error) *http.Client {
	return &http.Client{
		Timeout: timeout, Transport: bounded{t, check},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the provider answers with a redirect")
		},
	}
}

// bounded sends requests only to safe addresses, and reads only a limited answer.
type bounded struct {
	next  http.RoundTripper
	check func(url string) error
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := b.check(r.URL.String()); err != nil {
		return nil, err
	}
	res, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	res.Body = http.MaxBytesReader(nil, res.Body, maxAnswer)
	return res, nil
}
