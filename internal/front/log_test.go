package front

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

func TestLoggable(t *testing.T) {
	t.Parallel()
	handle := strings.Repeat("AQEB", 40)
	for _, tc := range []struct{ message, want string }{
		{"The specified queue does not exist.", "The specified queue does not exist."},
		{"Value a secret for parameter DelaySeconds is invalid. Reason: Must be an integer.",
			"Value ... for parameter DelaySeconds is invalid. Reason: Must be an integer."},
		{"Value for parameter for parameter X is invalid.", "Value ... for parameter X is invalid."},
		{"The input receipt handle " + handle + " is not valid.", "The input receipt handle AQEBAQEB... is not valid."},
		{strings.Repeat("ä ", 1_000_000), strings.Repeat("ä ", 100) + "..."},
		{"a\xff", "a\uFFFD"},
	} {
		if got := loggable(tc.message); got != tc.want {
			t.Errorf("%.100q: %q, want %q", tc.message, got, tc.want)
		}
	}
}

// A line names the user or role of the caller.
func TestWho(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		caller policy.Caller
		want   string
	}{
		{policy.Caller{ARN: "arn:aws:iam::1:root"}, "[caller=arn:aws:iam::1:root access_key_id=K]"},
		{policy.Caller{ARN: "arn:aws:iam::1:user/a/bob", UserName: "bob"},
			"[caller=arn:aws:iam::1:user/a/bob access_key_id=K user=bob]"},
		{policy.Caller{ARN: "arn:aws:sts::1:assumed-role/ops/s", Issuer: "arn:aws:iam::1:role/team/ops"},
			"[caller=arn:aws:sts::1:assumed-role/ops/s access_key_id=K role=ops]"},
		{policy.Caller{ARN: "arn:aws:sts::1:federated-user/jean", Issuer: "arn:aws:iam::1:user/bob"},
			"[caller=arn:aws:sts::1:federated-user/jean access_key_id=K]"},
	} {
		who := identified{caller: identity.Identity{Caller: tc.caller, AccessKeyID: "K"}}
		if got := fmt.Sprint(who.attrs("")); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}
