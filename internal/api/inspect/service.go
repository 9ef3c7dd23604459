// Package inspect serves operations that AWS does not have, which show the contents and the state of queues without
// receiving messages. They belong to the service "sluice", as those of package admin do.
//
// Most are about one queue and are allowed by policies of its owner's account, with actions such as sluice:PeekMessages
// on the queue's ARN. Other accounts cannot get these permissions. Only CheckAccess needs no permission. Plain SQS
// clients never use any of these operations.
package inspect

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/observe/consumers"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/tool/fairshare"
)

// Shard is the part of a shard that the service uses.
type Shard interface {
	Counts(ctx context.Context, id queue.ID) (queue.Counts, error)
	Kept(ctx context.Context, id queue.ID) (queue.Kept, error)
	UndoPurge(ctx context.Context, id queue.ID) (queue.Kept, error)
	Peek(ctx context.Context, id queue.ID, p queue.Peek) (queue.PeekResult, error)
	States(ctx context.Context, id queue.ID) ([]shard.State, error)
	Groups(ctx context.Context, id queue.ID, g queue.Groups) (queue.GroupsResult, error)
	Glances(ctx context.Context, ids []queue.ID) ([]shard.Glance, error)
	Discard(ctx context.Context, id queue.ID, ask queue.Locate) (queue.Discarded, error)
	Census(ctx context.Context, id queue.ID, c queue.Census) (queue.CensusResult, error)
	StartMove(ctx context.Context, id queue.ID, t queue.MoveTask) error
	Moves(ctx context.Context, id queue.ID) ([]queue.MoveTask, error)
}

// Options are what Register needs.
type Options struct {
	Catalog    *catalog.Catalog
	Shard      Shard
	Authorizer *service.Authorizer // with the rules of the service that the operations are registered with
	// Access and Directory explain decisions about others, on actions of Services.
	Access    *access.Decider
	Directory *directory.Directory
	Services  service.Services
	// Messages authorises actions of SQS, and CheckAttributes refuses message attributes as SQS does.
	Messages        *service.Authorizer
	CheckAttributes func([]queue.Attribute) error
	Keys            *service.KeyAccess // decides about the use of the keys of queues
	Tenants         *tenant.Tenants    // limits of stored bytes
	// CheckQueues returns SQS's error if an account may not have another queue.
	CheckQueues func(account string) error
	// Room returns why nothing can be stored that makes the data more, and Ready why tasks that select messages cannot
	// be stored, because there are older programs in the cluster.
	Room, Ready func() error
	Now         func() time.Time
	PublicURL   string // that queue URLs begin with; empty: as the request was made
	// Consumers returns the consumers of a queue, and the nodes that have not answered.
	Consumers func(ctx context.Context, id queue.ID) (list []consumers.Consumer, silent []string, _ error)
}

type inspector struct {
	catalog         *catalog.Catalog
	shard           Shard
	authorizer      *service.Authorizer
	access          *access.Decider
	directory       *directory.Directory
	services        service.Services
	publicURL       string
	consumers       func(ctx context.Context, id queue.ID) (list []consumers.Consumer, silent []string, _ error)
	messages        *service.Authorizer
	checkAttributes func([]queue.Attribute) error
	keys            *service.KeyAccess
	tenants         *tenant.Tenants
	checkQueues     func(account string) error
	room, ready     func() error
	now             func() time.Time
	ordering        *fairshare.Places // held by requests that read all queues of an account
}

// Register adds the operations to a service.
func Register(wire *protocol.Service, o Options) {
	s := &inspector{
		catalog: o.Catalog, shard: o.Shard, authorizer: o.Authorizer, access: o.Access, directory: o.Directory,
		services:  o.Services,
		publicURL: o.PublicURL, consumers: o.Consumers,
		messages: o.Messages, checkAttributes: o.CheckAttributes, keys: o.Keys, tenants: o.Tenants,
		checkQueues: o.CheckQueues, room: o.Room, ready: o.Ready, now: o.Now,
		ordering: fairshare.New(fairshare.Options{Places: orderedAtOnce}),
	}
	protocol.Register(wire, "CheckAccess", s.checkAccess, protocol.Data)
	protocol.Register(wire, "CountMessages", s.countMessages, protocol.Data)
	protocol.Register(wire, "DeleteMessages", s.deleteMessages)
	protocol.Register(wire, "DescribeQueueState", s.describeQueueState, protocol.Data)
	protocol.Register(wire, "ExplainAccess", s.explainAccess, protocol.Data)
	protocol.Register(wire, "ListConsumers", s.listConsumers, protocol.Data)
	protocol.Register(wire, "ListMessageGroups", s.listMessageGroups, protocol.Data)
	protocol.Register(wire, "ListQueueStates", s.listQueueStates, protocol.Data)
	protocol.Register(wire, "ListRedriveTasks", s.listRedriveTasks, protocol.Data)
	protocol.Register(wire, "PauseMessageGroups", s.pauseMessageGroups, protocol.Control)
	protocol.Register(wire, "PeekMessages", s.peekMessages, protocol.Data)
	protocol.Register(wire, "PutMark", s.putMark)
	protocol.Register(wire, "RedriveMessages", s.redriveMessages)
	protocol.Register(wire, "ResumeMessageGroups", s.resumeMessageGroups, protocol.Control)
	protocol.Register(wire, "UndoDelete", s.undoDelete, protocol.Control)
	protocol.Register(wire, "UndoPurge", s.undoPurge)
}

// queue returns the queue that a request names, if it exists and the caller may take the actions on it, which are named
// without the prefix of the service. An unauthorized caller gets the same answer whether or not the queue exists.
func (s *inspector) queue(c *protocol.Call, url string, actions ...string) (*catalog.Queue, error) {
	n, ok := service.QueueName(c, url)
	switch {
	case service.Anonymous(c):
		return nil, service.Denied(c)
	case !ok:
		return nil, errNoQueue()
	}
	q := s.catalog.Find(n)
	n.Queue = service.Shorten(n.Queue)
	c.Notes.Set("queue", n.ARN())
	if err := s.allow(c, n, q, actions...); err != nil {
		return nil, err
	}
	if q == nil {
		return nil, errNoQueue()
	}
	return q, nil
}

// subject returns the facts about a queue for policies. The queue is nil if it does not exist.
func subject(n catalog.Name, q *catalog.Queue) service.Subject {
	about := service.Subject{Resource: service.ARN(n.ARN()), Owner: n.Account}
	if q != nil {
		about.Policy, about.PolicyIDs, about.Tags = q.Attributes.Policy, q.Attributes.PolicyIDs, q.Tags
	}
	return about
}

// allow returns nil if the caller may take the actions on a queue, which is nil if it does not exist.
func (s *inspector) allow(c *protocol.Call, n catalog.Name, q *catalog.Queue, actions ...string) error {
	about := subject(n, q)
	full := make([]string, len(actions))
	for i, action := range actions {
		full[i] = "sluice:" + action
	}
	return s.authorizer.Authorize(c, about, full...)
}
