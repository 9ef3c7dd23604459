package apitest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
)

// HTTPClient returns an HTTP client for clients of the SDK that do not retry.
//
// The SDK closes the body of a request when it has the head of the answer. From a fast server, that is before net/http
// has looked for the end of the body. The SDK's reader then returns an error, and net/http closes the connection while
// the SDK reads the rest of the answer. So the body is read before it is sent.
func HTTPClient() aws.HTTPClient {
	return readFirst{awshttp.NewBuildableClient()}
}

// readFirst sends bodies that were read.
type readFirst struct{ *awshttp.BuildableClient }

// Do sends a request.
func (c readFirst) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, fmt.Errorf("read the body of a request: %w", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return c.BuildableClient.Do(r)
}
