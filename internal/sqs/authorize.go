package sqs

import (
	"context"
	"strings"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/identity"
	"github.com/sluicemq/sluice/internal/protocol"
)

// Access is what somebody asks to be allowed to do.
type Access struct {
	Caller   identity.Identity // the zero Identity is anonymous
	Action   string            // SendMessage; batches ask for the action of their entries
	Resource catalog.Name      // Queue is empty for ListQueues
	Policy   string            // of the queue, empty if it has none
	Call     *protocol.Call    // the facts of the request
}

// An Authorizer decides about each request before anything else is done with
// it. It returns nil or why not.
type Authorizer func(ctx context.Context, a *Access) error

// OwnerOnly lets an account do everything with its own queues, and nobody else
// anything.
func OwnerOnly(_ context.Context, a *Access) error {
	if a.Caller.Root && a.Caller.Account == a.Resource.Account {
		return nil
	}
	if a.Caller.ARN == "" {
		return Denied(a.Call)
	}
	action := "sqs:" + strings.ToLower(a.Action)
	why := "identity"
	if a.Caller.Account != a.Resource.Account {
		why = "resource"
	}
	return protocol.AccessDenied("User: %s is not authorized to perform: %s on resource: %s because no %s-based policy allows the %s action",
		a.Caller.ARN, action, a.Resource.ARN(), why, action)
}

// Denied is what a caller is told who has not said who it is.
func Denied(c *protocol.Call) *protocol.Error {
	return protocol.AccessDenied("Access to the resource %s is denied.", shorten(c.Scheme+"://"+c.Host+c.Path))
}
