package openid

import (
	"errors"
	"net/http"
	"time"
)

const (
	// requestTimeout is how long one request to the provider may take.
	requestTimeout = 10 * time.Second
	// maxAnswer is the longest answer of a provider that is read, in bytes.
	maxAnswer = 512 << 10
	// maxHeader is the longest header of one.
	maxHeader = 64 << 10
)

// newClient returns a client for requests to the provider.
func newClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxResponseHeaderBytes = maxHeader
	return boundClient(t, requestTimeout, checkURL)
}

// boundClient returns a client whose requests go only where check lets them, and end soon.
func boundClient(t http.RoundTripper, timeout time.Duration, check func(string) error) *http.Client {
	return &http.Client{
		Timeout: timeout, Transport: bounded{t, check},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("the provider answers with a redirect") },
	}
}

// bounded sends requests where they are safe, and reads so much of an answer.
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
