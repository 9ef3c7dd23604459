package service

import (
	"testing"

	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// A client reads AWS's sentence alone, which programs compare. The request log says where the mistake is.
func TestDocumentError(t *testing.T) {
	_, err := policy.Parse(policy.ForIdentity, "{")
	got := DocumentError(err, protocol.ValidationError("too large"))
	if got.Code != "MalformedPolicyDocument" || got.Message != "Syntax errors in policy." {
		t.Errorf("the client reads %s: %s", got.Code, got.Message)
	}
	if want := "line 1, column 2: a name in double quotes should begin here, not the end of the text"; got.Detail != want {
		t.Errorf("the log says %q, want %q", got.Detail, want)
	}
}
