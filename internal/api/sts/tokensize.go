package sts

import "github.com/sluicemq/sluice/internal/auth/identity"

// tokenSize is the requested minimum size of a session token, in bytes.
type tokenSize struct {
	MinimumSessionTokenSize *int32
}

// least returns the size to which the token is padded, or 0.
func (t tokenSize) least() int {
	if t.MinimumSessionTokenSize == nil {
		return 0
	}
	return int(*t.MinimumSessionTokenSize)
}

// tokenUse is the size of a session token in an answer: in bytes, and in percent of the maximum.
type tokenUse struct {
	SessionTokenSize        int32
	SessionTokenUtilization int32
}

func useOf(keys Credentials) tokenUse {
	size := len(keys.SessionToken)
	return tokenUse{int32(size), int32((size*100 + identity.MaxToken - 1) / identity.MaxToken)}
}
