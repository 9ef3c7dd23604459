package apitest

import (
	"testing"

	"github.com/sluicemq/sluice/internal/auth/identity"
)

// Caller makes requests by the Query protocol, all of which are refused.
type Caller struct {
	Who  string
	Cred *identity.Credential // nil: it does not sign
	Code string               // of the refusal
}

// Powerless returns a caller that does not sign, one with a key that does not exist, and a user of root's account who
// has no policies.
func Powerless(t *testing.T, root *Actor) []Caller {
	t.Helper()
	eve, id := root.User(t, "eve", "")
	user := &identity.Credential{Identity: identity.Identity{AccessKeyID: id}, Secret: eve.Keys.SecretAccessKey}
	unknown := &identity.Credential{
		Identity: identity.Identity{AccessKeyID: "AKIAIOSFODNN7EXAMPLE"}, Secret: user.Secret,
	}
	return []Caller{
		{"an unsigned request", nil, "MissingAuthenticationToken"},
		{"an unknown key", unknown, "InvalidClientTokenId"},
		{"a user without policies", user, "AccessDenied"},
	}
}
