package signature_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/aws/signature"
)

// Verify accepts the signatures that Sign makes.
func TestSignVerifies(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, token := range map[string]string{"long-term": "", "temporary": "a/token+of=sorts"} {
		t.Run(name, func(t *testing.T) {
			const body = `{"QueueUrl":"http://127.0.0.1:9324/000000000000/q"}`
			r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:9324/", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-amz-json-1.0")
			r.Header.Set("X-Amz-Target", "AmazonSQS.SendMessage")
			s := signature.Signer{AccessKeyID: "AKIAEXAMPLE", Secret: "secret", Token: token, Region: "us-east-1"}
			s.Sign(r, "sqs", []byte(body), now)
			secretOf := func(id string) (string, bool) { return "secret", id == "AKIAEXAMPLE" }
			v := new(signature.Verifier)
			who, err := v.Verify(signature.FromHTTP(r, []byte(body)), now, secretOf)
			if err != nil {
				t.Fatal(err)
			}
			if who.AccessKeyID != "AKIAEXAMPLE" || who.Service != "sqs" || who.Region != "us-east-1" ||
				who.Token != token {
				t.Errorf("signed by %+v", who)
			}
			if _, err := v.Verify(signature.FromHTTP(r, []byte(body+" ")), now, secretOf); err == nil {
				t.Error("another body has the same signature")
			}
		})
	}
}
