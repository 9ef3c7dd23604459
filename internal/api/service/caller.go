package service

import (
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Caller returns who makes the call. It is the zero Identity if the request is not signed.
func Caller(c *protocol.Call) identity.Identity {
	id, _ := c.Identity.(identity.Identity)
	return id
}

// Anonymous reports whether the request is not signed.
func Anonymous(c *protocol.Call) bool { return Caller(c).ARN == "" }
