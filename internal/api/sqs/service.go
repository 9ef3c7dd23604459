package sqs

import (
	"context"
	"log/slog"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/observe/consumers"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/tool/throttle"
)

// Shard is the service's view of the keyspace with its queues. The shard learns of queues from the catalog.
type Shard interface {
	Send(ctx context.Context, id queue.ID, messages []queue.Outgoing) ([]queue.Sent, error)
	Receive(ctx context.Context, id queue.ID, r queue.Receive, wait time.Duration) ([]shard.Message, error)
	EmptyReceive(id queue.ID) // counts a client's receive that returned no messages
	Used(id queue.ID)         // records that a client has used a queue without any other call
	Return(ctx context.Context, id queue.ID, deliveries []queue.Delivery, attempt string) error
	Delete(ctx context.Context, id queue.ID, receipts []queue.Receipt) ([]error, error)
	ChangeVisibility(ctx context.Context, id queue.ID, changes []queue.Visibility) ([]error, error)
	Purge(ctx context.Context, id queue.ID) error
	Counts(ctx context.Context, id queue.ID) (queue.Counts, error)
	StartMove(ctx context.Context, id queue.ID, t queue.MoveTask) error
	CancelMove(ctx context.Context, id queue.ID, task string) (queue.MoveTask, error)
	Moves(ctx context.Context, id queue.ID) ([]queue.MoveTask, error)
}

// Options configures a service.
type Options struct {
	Catalog *catalog.Catalog
	Shard   Shard
	Access  *access.Decider // nil: there are only root and anonymous callers
	// IDOf returns the unique id of a user or role by its ARN. A nil IDOf knows none.
	IDOf func(arn string) (id string, ok bool)
	Now  func() time.Time // nil means time.Now
	// PublicURL is the beginning of queue URLs. Empty means the address that the client has used.
	PublicURL string
	// Room is called before data is added. It returns nil, or an error with a sentence about why there is no room. A
	// nil Room means that there always is.
	Room func() error
	// MaxMessageSize is the MaximumMessageSize of a queue that does not set one, and the minimum capacity of a batch; 0
	// means DefaultMessageSize.
	MaxMessageSize int
	// MaxQueues is the maximum number of queues of an account, in all regions together; 0 means unlimited.
	MaxQueues int
	// EarlierHandles reports whether a node of the cluster may not know receipt handles in standard base64. A nil
	// EarlierHandles means that all know them.
	EarlierHandles func() bool
	// Tenants holds the limits of accounts and users. Nil means no limits.
	Tenants *tenant.Tenants
	// Consumers records the consumers of queues. Nil means that they are not recorded.
	Consumers *consumers.Log
	// Keys decides who may use the encryption keys of queues. Nil allows everything.
	Keys *service.KeyAccess
	Log  *slog.Logger // nil means that nothing is logged
}

// Service is the SQS service.
type Service struct {
	catalog        *catalog.Catalog
	shard          Shard
	authorizer     *service.Authorizer
	now            func() time.Time
	room           room
	publicURL      string
	maxMessageSize int
	records        *records
	handles        *sealer
	tenants        *tenant.Tenants
	consumption    consumption
	keys           *service.KeyAccess
	log            *slog.Logger
	hints          throttle.Minute // log lines; see noteOtherRegions
}

// New returns the service and its wire form.
func New(o Options) *protocol.Service {
	s := &Service{
		catalog: o.Catalog, shard: o.Shard, authorizer: service.NewAuthorizer(o.Access, Rules, o.Now), room: o.Room,
		publicURL: o.PublicURL, maxMessageSize: o.MaxMessageSize,
		handles: newSealer(o.Catalog.Secret(), o.EarlierHandles), tenants: o.Tenants, keys: o.Keys,
	}
	if s.log = o.Log; s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if o.IDOf == nil {
		o.IDOf = func(string) (string, bool) { return "", false }
	}
	s.now = s.authorizer.Now
	s.consumption = consumption{log: o.Consumers, now: s.now}
	if s.room == nil {
		s.room = func() error { return nil }
	}
	if s.maxMessageSize == 0 {
		s.maxMessageSize = DefaultMessageSize
	}
	s.records = &records{
		catalog: o.Catalog, tenants: o.Tenants, room: s.room, now: s.now, idOf: o.IDOf,
		maxMessageSize: s.maxMessageSize, maxQueues: o.MaxQueues, log: s.log,
	}
	wire := protocol.NewService(protocol.Service{
		Name:           "sqs",
		Target:         "AmazonSQS",
		Versions:       []string{"2008-01-01", "2009-02-01", "2011-10-01", "2012-11-05"},
		Namespace:      "http://queue.amazonaws.com/doc/%s/",
		ErrorNamespace: "com.amazonaws.sqs",
		ErrorDetail:    true,
		Throttled:      errThrottled,
		TooLong:        errTooLong,
	})
	protocol.Register(wire, "AddPermission", s.addPermission, protocol.Control)
	protocol.Register(wire, "CancelMessageMoveTask", s.cancelMessageMoveTask)
	protocol.Register(wire, "ChangeMessageVisibility", s.changeMessageVisibility, protocol.Data)
	protocol.Register(wire, "ChangeMessageVisibilityBatch", s.changeMessageVisibilityBatch, protocol.Data)
	protocol.Register(wire, "CreateQueue", s.createQueue, protocol.RootOnly, protocol.Control)
	protocol.Register(wire, "DeleteMessage", s.deleteMessage, protocol.Data)
	protocol.Register(wire, "DeleteMessageBatch", s.deleteMessageBatch, protocol.Data)
	protocol.Register(wire, "DeleteQueue", s.deleteQueue, protocol.Control)
	protocol.Register(wire, "GetQueueAttributes", s.getQueueAttributes, protocol.Data)
	protocol.Register(wire, "GetQueueUrl", s.getQueueURL, protocol.Data)
	protocol.Register(wire, "ListDeadLetterSourceQueues", s.listDeadLetterSourceQueues, protocol.Data)
	protocol.Register(wire, "ListMessageMoveTasks", s.listMessageMoveTasks)
	protocol.Register(wire, "ListQueues", s.listQueues, protocol.RootOnly, protocol.Data)
	protocol.Register(wire, "ListQueueTags", s.listQueueTags, protocol.Data)
	protocol.Register(wire, "PurgeQueue", s.purgeQueue)
	protocol.Register(wire, "ReceiveMessage", s.receiveMessage, protocol.Data)
	protocol.Register(wire, "RemovePermission", s.removePermission, protocol.Control)
	protocol.Register(wire, "SendMessage", s.sendMessage, protocol.Data)
	protocol.Register(wire, "SendMessageBatch", s.sendMessageBatch, protocol.Data)
	protocol.Register(wire, "SetQueueAttributes", s.setQueueAttributes, protocol.Control)
	protocol.Register(wire, "StartMessageMoveTask", s.startMessageMoveTask)
	protocol.Register(wire, "TagQueue", s.tagQueue, protocol.Control)
	protocol.Register(wire, "UntagQueue", s.untagQueue, protocol.Control)
	return wire
}
