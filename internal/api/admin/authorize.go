package admin

import (
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// actions are what policies can allow: the operations of the service, and Backup, which is no operation but a download.
var actions = []string{
	"sluice:Backup", "sluice:CreateAccount", "sluice:DeleteAccount", "sluice:DescribeCluster", "sluice:DrainNode",
	"sluice:ListAccounts", "sluice:RemoveNode",
}

// Rules are the actions for policies. None of them is about a resource of its own: policies name the resource *.
var Rules = &policy.Rules{Vendor: ServiceName, Actions: actions, Unscoped: actions}

// Authorizer decides who may administer the server.
type Authorizer struct {
	authorizer *service.Authorizer
	operator   string // the account that everything here belongs to
}

// NewAuthorizer returns an Authorizer for a server whose first account is operator.
func NewAuthorizer(decider *access.Decider, operator string, now func() time.Time) *Authorizer {
	return &Authorizer{service.NewAuthorizer(decider, Rules, now), operator}
}

// Authorize returns nil if the caller may take an action, which is named without the prefix sluice:.
func (a *Authorizer) Authorize(c *protocol.Call, action string) error {
	return a.authorizer.Authorize(c, service.Subject{Resource: service.ARN("*"), Owner: a.operator}, ServiceName+":"+action)
}
