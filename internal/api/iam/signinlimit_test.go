package iam_test

import (
	"strings"
	"testing"

	"github.com/sluicemq/sluice/internal/api/apitest"
)

// The session limit of the console is stored and shown for roles and login profiles, until it is removed.
func TestSignInLimits(t *testing.T) {
	t.Parallel()
	st := newStory(t)
	const limit, reset = "MaxSigninSessionDuration", "ResetMaxSigninSessionDuration"
	shown := func(seconds string) string { return "<" + limit + ">" + seconds + "</" + limit + ">" }
	st.Does("CreateUser", with{"UserName", "bob"})
	for _, kind := range []struct {
		create, update, get string
		name, others        with
	}{
		{"CreateRole", "UpdateRole", "GetRole", with{"RoleName", "r"},
			with{"AssumeRolePolicyDocument", apitest.Trusting(account)}},
		{"CreateLoginProfile", "UpdateLoginProfile", "GetLoginProfile", with{"UserName", "bob"},
			with{"Password", "Abcdefg1!"}},
	} {
		in := func(pairs ...string) with { return append(append(with{}, kind.name...), pairs...) }
		st.Refuses(kind.create, append(in(limit, "3599"), kind.others...), 400, "ValidationError",
			"1 validation error detected: "+
				"Value '3599' at 'maxSigninSessionDuration' failed to satisfy constraint: Member must have value greater than or equal to 3600")
		st.Does(kind.create, append(in(limit, "3600"), kind.others...), shown("3600"))
		st.Does(kind.get, in(), shown("3600"))
		st.Does(kind.update, in(reset, "false"))
		st.Does(kind.update, in(limit, "7776000"))
		st.Does(kind.get, in(), shown("7776000"))
		st.Fails(kind.update, in(limit, "7776001"), 400, "ValidationError", "less than or equal to 7776000")
		st.Fails(kind.update, in(limit, "3600", reset, "true"), 400, "InvalidInput", limit)
		st.Does(kind.update, in(reset, "true"))
		st.Does(kind.update, in(reset, "true"))
		if got := st.Does(kind.get, in()); strings.Contains(got, limit) {
			t.Errorf("%s: %s", kind.get, got)
		}
	}
}
