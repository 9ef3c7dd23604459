package service

import (
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/tenant"
)

// Caller returns the caller. It is the zero Identity if the request is not signed.
func Caller(c *protocol.Call) identity.Identity {
	if id, _ := c.Identity.(*identity.Identity); id != nil {
		return *id
	}
	return identity.Identity{}
}

// Anonymous reports whether the request is not signed.
func Anonymous(c *protocol.Call) bool { return Caller(c).ARN == "" }

// Tenant returns whose limits a caller has to keep: those of the account, and those of the user, also where temporary
// keys of the user's own are used. A session of a role has the limits of its account only.
func Tenant(id *identity.Identity) tenant.Subject {
	s := tenant.Subject{Account: id.Account}
	switch {
	case id.Kind == policy.User:
		s.User = id.UserID
	case id.Kind == policy.FederatedUser && id.IssuerID != id.Account:
		s.User = id.IssuerID
	}
	return s
}
