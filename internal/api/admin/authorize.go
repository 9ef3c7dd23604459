package admin

import (
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// unscoped are the actions about the server: the operations of this package; Backup, which is no operation but a
// download; and CreateSignInLink of package signin, which every caller may take unless a policy denies it. Policies
// name the resource * for them.
var unscoped = []string{
	"sluice:Backup", "sluice:CreateAccount", "sluice:CreateSignInLink", "sluice:DeleteAccount", "sluice:DeleteLimits",
	"sluice:DescribeCluster", "sluice:DescribeServer", "sluice:DrainNode", "sluice:GetLimits", "sluice:GetLogLevel",
	"sluice:ListAccounts",
	"sluice:ListLimits", "sluice:ListShardQueues", "sluice:ProfileServer", "sluice:RemoveNode", "sluice:RetireKey",
	"sluice:SetLimits", "sluice:SetLogLevel",
}

// ofAccounts are the actions about an account, which package inspect serves. Policies name the resource * for them.
var ofAccounts = []string{"sluice:ListQueueStates", "sluice:PutMark"}

// ofQueues are the actions about a queue, which package inspect serves. They are for the account that the queue belongs
// to. Every caller may take CheckAccess unless a policy denies it.
var ofQueues = []string{
	"sluice:CheckAccess", "sluice:DeleteMessages", "sluice:DescribeQueueState", "sluice:EditMessage",
	"sluice:ExplainAccess", "sluice:ListConsumers", "sluice:ListMessageGroups", "sluice:ListRedriveTasks",
	"sluice:PauseMessageGroups", "sluice:PeekMessageBody", "sluice:PeekMessages", "sluice:RedriveMessages",
	"sluice:ResumeMessageGroups", "sluice:UndoDelete", "sluice:UndoPurge",
}

// Rules are all actions of the service, for policies.
var Rules = &policy.Rules{
	Vendor:    ServiceName,
	Actions:   slices.Concat(unscoped, ofAccounts, ofQueues),
	Unscoped:  slices.Concat(unscoped, ofAccounts),
	OwnerOnly: slices.Concat(ofAccounts, ofQueues),
}

// Authorizer decides which callers may administer the server.
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
	return a.authorizer.Authorize(
		c, service.Subject{Resource: service.ARN("*"), Owner: a.operator}, ServiceName+":"+action,
	)
}
