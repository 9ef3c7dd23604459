package apitest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Sluice calls an operation of the service "sluice", which AWS has not, and returns the answer or the refusal.
func (a *Actor) Sluice(t *testing.T, operation string, input Object) (status int, answer Object) {
	t.Helper()
	text, err := json.Marshal(input)
	Must(t, text, err)
	r, err := http.NewRequest(http.MethodPost, a.endpoint, strings.NewReader(string(text)))
	Must(t, r, err)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "Sluice."+operation)
	if a.Keys.AccessKeyID != "" {
		err = clocked{a.now, v4.NewSigner()}.SignHTTP(
			t.Context(), a.Keys, r, BodyHash(t, r), "sluice", "us-east-1", time.Time{},
		)
		Must(t, 0, err)
	}
	status, body := Exchange(t, r)
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%s: %d %s", operation, status, body)
	}
	return status, answer
}

// Stranger returns a caller without keys, which does not sign its requests.
func Stranger(endpoint string) *Actor { return NewActor(endpoint, "", "", "", nil) }
