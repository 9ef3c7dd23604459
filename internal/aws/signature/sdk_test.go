package signature

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Requests signed by the SDK, sent through a real server.
func TestSDK(t *testing.T) {
	now := time.Now()
	var verifier Verifier
	results := make(chan error, 1)
	var who Verified
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			who, err = verifier.Verify(FromHTTP(r, body), now, testLookup)
		}
		results <- err
	}))
	defer server.Close()

	signer := v4.NewSigner()
	ctx := context.Background()
	for _, token := range []string{"", "AQoDYXdzEPT//////////wEXAMPLE=="} {
		credentials := aws.Credentials{AccessKeyID: testKey, SecretAccessKey: testSecret, SessionToken: token}
		for _, target := range []string{"/", "/123456789012/q%20x.fifo?Action=Send+Message&b=%2f*~&a=%C3%A9&a=2",
			"/prefix/?x"} {
			for _, body := range []string{"", `{"QueueUrl":"http://q","MessageBody":"hello"}`} {
				sum := sha256.Sum256([]byte(body))
				hash := hex.EncodeToString(sum[:])
				request := func() *http.Request {
					r, err := http.NewRequest("POST", server.URL+target, strings.NewReader(body))
					if err != nil {
						t.Fatal(err)
					}
					r.Header.Set("Content-Type", "application/x-amz-json-1.0")
					r.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
					r.Header.Set("Amz-Sdk-Invocation-Id", "c0ffee")
					r.Header.Set("X-Spaces", "a   b")
					return r
				}
				send := func(r *http.Request, presigned bool) {
					t.Helper()
					response, err := server.Client().Do(r)
					if err != nil {
						t.Fatal(err)
					}
					response.Body.Close()
					if err := <-results; err != nil {
						t.Errorf("%s %q: %v", target, body, err)
					} else if who.Presigned != presigned || who.Token != token || who.Region != "eu-west-1" ||
						who.Service != "sqs" {
						t.Errorf("%s %q: verified %+v", target, body, who)
					}
				}

				r := request()
				if err := signer.SignHTTP(ctx, credentials, r, hash, "sqs", "eu-west-1", now); err != nil {
					t.Fatal(err)
				}
				send(r, false)

				for _, payload := range []string{hash, "UNSIGNED-PAYLOAD"} {
					if payload != hash && body != "" {
						continue // refused: a client that was given the URL could choose the body
					}
					r = request()
					uri, headers, err := signer.PresignHTTP(ctx, credentials, r, payload, "sqs", "eu-west-1", now)
					if err != nil {
						t.Fatal(err)
					}
					r, err = http.NewRequest("POST", uri, strings.NewReader(body))
					if err != nil {
						t.Fatal(err)
					}
					r.Header = headers
					r.Host = headers.Get("Host")
					send(r, true)
				}
			}
		}
	}
}
