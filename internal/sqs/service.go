package sqs

import (
	"context"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/identity"
	"github.com/sluicemq/sluice/internal/protocol"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// Shard is what the service needs of the keyspace its queues live in.
type Shard interface {
	Configure(ctx context.Context, c queue.Config) error
	Drop(ctx context.Context, id queue.ID) error
	Send(ctx context.Context, id queue.ID, messages []queue.Outgoing) ([]queue.Sent, error)
	Receive(ctx context.Context, id queue.ID, r queue.Receive, wait time.Duration) ([]shard.Message, error)
	Return(ctx context.Context, id queue.ID, deliveries []queue.Delivery, attempt string) error
	Delete(ctx context.Context, id queue.ID, receipts []queue.Receipt) ([]error, error)
	ChangeVisibility(ctx context.Context, id queue.ID, changes []queue.Visibility) ([]error, error)
	Purge(ctx context.Context, id queue.ID) error
	Counts(ctx context.Context, id queue.ID) (queue.Counts, error)
	StartMove(ctx context.Context, id queue.ID, t queue.MoveTask) error
	CancelMove(ctx context.Context, id queue.ID, task string) (queue.MoveTask, error)
	Moves(ctx context.Context, id queue.ID) ([]queue.MoveTask, error)
	// Condition is that of the disk, which the catalog is on as well.
	Condition() *shard.Condition
}

// Options are what a service is made of.
type Options struct {
	Catalog   *catalog.Catalog
	Shard     Shard
	Authorize Authorizer       // nil means OwnerOnly
	Now       func() time.Time // nil means time.Now
	// PublicURL is what queue URLs begin with; empty means the address that
	// the client has used.
	PublicURL string
	// Room is asked before anything is taken in that makes the stored data
	// more. It returns nil or an error that says in a sentence why there is no
	// room for it. A nil Room means that there always is.
	Room func() error
	// MaxMessageSize is the MaximumMessageSize of a queue that does not set
	// one, and the least that a batch may hold; 0 means DefaultMessageSize.
	MaxMessageSize int
}

// Service is the SQS service.
type Service struct {
	catalog        *catalog.Catalog
	shard          Shard
	authorize      Authorizer
	now            func() time.Time
	room           func() error
	publicURL      string
	maxMessageSize int
	handles        *sealer

	// configuring makes the catalog and the shard see the changes of queues in
	// the same order.
	configuring sync.Mutex
}

// New returns the service and its wire form.
func New(o Options) *protocol.Service {
	s := &Service{
		catalog: o.Catalog, shard: o.Shard, authorize: o.Authorize, now: o.Now, room: o.Room,
		publicURL: o.PublicURL, maxMessageSize: o.MaxMessageSize,
		handles: newSealer(o.Catalog.Secret()),
	}
	if s.authorize == nil {
		s.authorize = OwnerOnly
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.room == nil {
		s.room = func() error { return nil }
	}
	if s.maxMessageSize == 0 {
		s.maxMessageSize = DefaultMessageSize
	}
	wire := protocol.NewService(protocol.Service{
		Name:           "sqs",
		Target:         "AmazonSQS",
		Versions:       []string{"2008-01-01", "2009-02-01", "2011-10-01", "2012-11-05"},
		Namespace:      "http://queue.amazonaws.com/doc/%s/",
		ErrorNamespace: "com.amazonaws.sqs",
		ErrorDetail:    true,
	})
	protocol.Register(wire, "AddPermission", s.addPermission)
	protocol.Register(wire, "CancelMessageMoveTask", s.cancelMessageMoveTask)
	protocol.Register(wire, "ChangeMessageVisibility", s.changeMessageVisibility)
	protocol.Register(wire, "ChangeMessageVisibilityBatch", s.changeMessageVisibilityBatch)
	protocol.Register(wire, "CreateQueue", s.createQueue, protocol.RootOnly)
	protocol.Register(wire, "DeleteMessage", s.deleteMessage)
	protocol.Register(wire, "DeleteMessageBatch", s.deleteMessageBatch)
	protocol.Register(wire, "DeleteQueue", s.deleteQueue)
	protocol.Register(wire, "GetQueueAttributes", s.getQueueAttributes)
	protocol.Register(wire, "GetQueueUrl", s.getQueueURL)
	protocol.Register(wire, "ListDeadLetterSourceQueues", s.listDeadLetterSourceQueues)
	protocol.Register(wire, "ListMessageMoveTasks", s.listMessageMoveTasks)
	protocol.Register(wire, "ListQueues", s.listQueues, protocol.RootOnly)
	protocol.Register(wire, "ListQueueTags", s.listQueueTags)
	protocol.Register(wire, "PurgeQueue", s.purgeQueue)
	protocol.Register(wire, "ReceiveMessage", s.receiveMessage)
	protocol.Register(wire, "RemovePermission", s.removePermission)
	protocol.Register(wire, "SendMessage", s.sendMessage)
	protocol.Register(wire, "SendMessageBatch", s.sendMessageBatch)
	protocol.Register(wire, "SetQueueAttributes", s.setQueueAttributes)
	protocol.Register(wire, "StartMessageMoveTask", s.startMessageMoveTask)
	protocol.Register(wire, "TagQueue", s.tagQueue)
	protocol.Register(wire, "UntagQueue", s.untagQueue)
	return wire
}

// empty is the input or output of an operation without any.
type empty struct{}

// caller returns who makes the call.
func caller(c *protocol.Call) identity.Identity {
	id, _ := c.Identity.(identity.Identity)
	return id
}

// allow asks the authorizer.
func (s *Service) allow(ctx context.Context, c *protocol.Call, action string, n catalog.Name, policy string) error {
	return s.authorize(ctx, &Access{Caller: caller(c), Action: action, Resource: n, Policy: policy, Call: c})
}

// anonymous reports whether nobody has signed the request.
func anonymous(c *protocol.Call) bool { return caller(c).ARN == "" }

// unlessAnonymous returns err to callers who have said who they are. Others are
// refused: nobody learns anything from a mistake before that.
func unlessAnonymous(c *protocol.Call, err *protocol.Error) *protocol.Error {
	if anonymous(c) {
		return Denied(c)
	}
	return err
}

// queue finds the queue that a request is about and makes sure that the caller
// may do action with it.
func (s *Service) queue(ctx context.Context, c *protocol.Call, url, action string) (*catalog.Queue, error) {
	n, perr := target(c, url)
	if perr != nil {
		return nil, unlessAnonymous(c, perr)
	}
	q, err := s.find(ctx, c, n, action)
	switch {
	case err != nil:
		return nil, err
	case q == nil && elsewhere(url, c.Region):
		return nil, errAddress(url)
	case q == nil:
		return nil, errNoQueue()
	}
	return q, nil
}

// find returns the queue of that name, or nil if there is none, if the caller
// may do action with it. That is decided first, so that those who may not get
// the same answer for a queue that exists and for one that does not.
func (s *Service) find(ctx context.Context, c *protocol.Call, n catalog.Name, action string) (*catalog.Queue, error) {
	q := s.catalog.Find(n)
	policy := ""
	if q != nil {
		policy = q.Attributes.Policy
	}
	return q, s.allow(ctx, c, action, n, policy)
}
