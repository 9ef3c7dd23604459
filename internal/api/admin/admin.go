// Package admin serves operations that AWS does not have: on the server's accounts and their limits, its log and
// profiles, and its cluster. It speaks JSON, as the service "sluice".
//
// All of it belongs to the first account. Its root may call every operation; users and sessions of the account may by
// policies that allow actions such as sluice:DrainNode on the resource *. Callers from other accounts never may.
package admin

import (
	"context"
	"log/slog"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/tenant"
)

// ServiceName is the name of the service in requests and signatures.
const ServiceName = "sluice"

// Options are what New needs.
type Options struct {
	Accounts   *identity.Credentials
	Authorizer *Authorizer
	Named      []string // accounts that the server makes at each start, if they do not exist
	Directory  *directory.Directory
	// Queues returns the queues of an account, and Topics its topics, each as a person would name it.
	Queues func(account string) []string
	Topics func(account string) []string
	// Belongings are further kinds of things that an account may own.
	Belongings []Belongings
	// Forget removes what a deleted account leaves behind: the undo of the deletion of its queues, events and metrics.
	Forget   func(ctx context.Context, account string) error
	Cluster  Cluster
	Status   func(context.Context) (*ServerStatus, error) // how the server stands
	LogLevel *slog.LevelVar                               // of the server's log; nil: it cannot be changed
	Tenants  *tenant.Tenants
	// RetireKey stops the encryption of messages with a key, and returns the state of the key. The errors are
	// encryption.ErrUnknownKey and *KeyInUse.
	RetireKey func(ctx context.Context, id string) (encryption.Retirement, error)
	// Subscriptions returns how many subscriptions an account has.
	Subscriptions func(account string) int
}

// Belongings is a kind of things that an account may own.
type Belongings struct {
	Kind  string // in the singular
	Names func(account string) []string
}

// Service administers accounts and the cluster.
type Service struct {
	accounts   *identity.Credentials
	authorizer *Authorizer
	named      []string
	directory  *directory.Directory
	queues     func(account string) []string
	topics     func(account string) []string
	belongs    []Belongings
	forget     func(ctx context.Context, account string) error
	cluster    Cluster
	status     func(context.Context) (*ServerStatus, error)
	logLevel   *slog.LevelVar
	tenants    *tenant.Tenants

	subscriptions func(account string) int
	retire        func(ctx context.Context, id string) (encryption.Retirement, error)
}

// New returns the service's wire form.
func New(o Options) *protocol.Service {
	s := &Service{
		accounts: o.Accounts, authorizer: o.Authorizer, named: o.Named, directory: o.Directory, queues: o.Queues,
		topics: o.Topics, forget: o.Forget, belongs: o.Belongings,
		cluster: o.Cluster, status: o.Status, logLevel: o.LogLevel, tenants: o.Tenants, subscriptions: o.Subscriptions,
		retire: o.RetireKey,
	}
	wire := protocol.NewService(protocol.Service{
		Name: ServiceName, Target: "Sluice", ErrorNamespace: "sluice",
		WhenIsolated: true, // a node reports its view of the cluster
	})
	protocol.Register(wire, "CreateAccount", s.createAccount, protocol.Control)
	protocol.Register(wire, "DeleteAccount", s.deleteAccount, protocol.Control)
	protocol.Register(wire, "DeleteLimits", s.deleteLimits, protocol.Control)
	protocol.Register(wire, "DescribeCluster", s.describeCluster)
	protocol.Register(wire, "DescribeServer", s.describeServer)
	protocol.Register(wire, "DrainNode", s.drainNode, protocol.Control)
	protocol.Register(wire, "GetLimits", s.getLimits)
	protocol.Register(wire, "GetLogLevel", s.getLogLevel)
	protocol.Register(wire, "ListAccounts", s.listAccounts)
	protocol.Register(wire, "ListLimits", s.listLimits)
	protocol.Register(wire, "ListShardQueues", s.listShardQueues)
	protocol.Register(wire, "ProfileServer", s.profileServer)
	protocol.Register(wire, "RemoveNode", s.removeNode, protocol.Control)
	protocol.Register(wire, "RetireKey", s.retireKey, protocol.Control)
	protocol.Register(wire, "SetLimits", s.setLimits, protocol.Control)
	protocol.Register(wire, "SetLogLevel", s.setLogLevel)
	return wire
}

// allow checks that the caller may call the operation.
func (s *Service) allow(c *protocol.Call) error { return s.authorizer.Authorize(c, c.Operation) }
