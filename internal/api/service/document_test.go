package service

import (
	"testing"

	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// A client reads only AWS's sentence, which programs compare. The request log has the place of the mistake.
func TestDocumentError(t *testing.T) {
	_, err := policy.Parse(policy.ForIdentity, "{")
	got := DocumentError(err, protocol.ValidationError("too large"))
	if got.Code != "MalformedPolicyDocument" || got.Message != "Syntax errors in policy." {
		t.Errorf("the client's error is %s: %s", got.Code, got.Message)
	}
	if want := "line 1, column 2: a name in double quotes should begin here, not the end of the text"; got.Detail != want {
		t.Errorf("the log has %q, want %q", got.Detail, want)
	}
}
