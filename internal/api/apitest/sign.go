package apitest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/sluicemq/sluice/internal/auth/identity"
)

// Sign signs r with Signature Version 4.
func (c *Client) Sign(r *http.Request) {
	c.T.Helper()
	SignAt(c.T, r, c.Cred, "sqs", c.Region, time.Now())
}

func SignAt(t *testing.T, r *http.Request, cred identity.Credential, service, region string, now time.Time) {
	t.Helper()
	credentials := aws.Credentials{AccessKeyID: cred.AccessKeyID, SecretAccessKey: cred.Secret}
	err := v4.NewSigner().SignHTTP(context.Background(), credentials, r, BodyHash(t, r), service, region, now)
	if err != nil {
		t.Fatal(err)
	}
}

func BodyHash(t *testing.T, r *http.Request) string {
	t.Helper()
	var body []byte
	if r.GetBody != nil {
		reader, err := r.GetBody()
		if err == nil {
			body, err = io.ReadAll(reader)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
